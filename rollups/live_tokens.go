package rollups

import (
	"context"
	"database/sql"
	"strconv"

	"pmx/data"
	"pmx/rollups/serving"
)

// legs is volume by leg: makers apart from all others.
type legs struct {
	TakerFills  int64 `sql:"taker_fills"`
	TakerUSD    int64 `sql:"taker_usd"`
	TakerShares int64 `sql:"taker_shares"`
	MakerFills  int64 `sql:"maker_fills"`
	MakerUSD    int64 `sql:"maker_usd"`
	MakerShares int64 `sql:"maker_shares"`
}

func (l *legs) plus(o *legs) {
	l.TakerFills += o.TakerFills
	l.TakerUSD += o.TakerUSD
	l.TakerShares += o.TakerShares
	l.MakerFills += o.MakerFills
	l.MakerUSD += o.MakerUSD
	l.MakerShares += o.MakerShares
}

func (l *legs) minus(o *legs) {
	negative := legs{-o.TakerFills, -o.TakerUSD, -o.TakerShares, -o.MakerFills, -o.MakerUSD, -o.MakerShares}
	l.plus(&negative)
}

// basis says which legs a volume with the lifetime legs l is measured by: takers', unless there are
// only makers'.
func (l *legs) basis() serving.VolumeBasis {
	if l.TakerFills == 0 && l.MakerFills > 0 {
		return serving.MakerUSD
	}
	return serving.TakerUSD
}

// by returns the volume in a basis.
func (l *legs) by(basis serving.VolumeBasis) (trades int64, usd, shares data.Micro) {
	if basis == serving.MakerUSD {
		return l.MakerFills, data.Micro(l.MakerUSD), data.Micro(l.MakerShares)
	}
	return l.TakerFills, data.Micro(l.TakerUSD), data.Micro(l.TakerShares)
}

// tokenLifetime is what the venue traded of one token, ever.
type tokenLifetime struct {
	id      string // its public name
	market  int32  // -1: not mapped
	outcome int8
	legs
	firstTS, lastTS int64       // unix µs; 0: no fill
	last, dayAgo    pricedTrade // the last trade, and the last one 24 hours or more before as_of
}

func (t *tokenLifetime) fills() int64 { return t.TakerFills + t.MakerFills }

// tokenRow is a row of LoadTokens.
type tokenRow struct {
	Token   data.TokenID `sql:"token"`
	Market  int32        `sql:"market"` // -1: not mapped
	Outcome int8         `sql:"outcome,null"`
	ID      string       `sql:"token_id"`
	Label   string       `sql:"label,null"`
}

func (l *Live) mapToken(row *tokenRow) {
	id := row.Token
	for int(id) >= len(l.tokens) {
		l.tokens = append(l.tokens, tokenLifetime{market: -1})
		l.counts.UnmappedTokens++
	}
	t := &l.tokens[id]
	ref := serving.TokenRef{Market: row.Market, Outcome: row.Outcome, ID: row.ID, Label: row.Label}
	if t.id == ref.ID && t.market == ref.Market && t.outcome == ref.Outcome && l.catalog.Label(id) == ref.Label {
		return
	}
	if t.id != ref.ID {
		t.id = ref.ID
		l.tokenIDs.add(l.tokens, id)
	}
	l.catalog.Map(id, ref)
	if t.market != ref.Market && t.fills() > 0 {
		l.day.remapped(t.market, ref.Market)
	}
	if t.market < 0 && ref.Market >= 0 {
		l.counts.UnmappedTokens--
		l.counts.UnmappedFills -= t.fills()
	}
	if t.market >= 0 && ref.Market < 0 { // its label is no longer among the outcomes
		l.counts.UnmappedTokens++
		l.counts.UnmappedFills += t.fills()
		l.freed = append(l.freed, id)
	}
	t.market, t.outcome = ref.Market, ref.Outcome
}

// tokensAtOnce is how many tokens are read at once: DuckDB holds the rows of a query in memory, and meanwhile those of markets.
const tokensAtOnce = 1 << 15

// readTokens reads all tokens, when there are none yet, and returns their labels. mapTokens adds them to the catalog. Together they
// do what mapToken does.
func (l *Live) readTokens(ctx context.Context, conn *sql.Conn) (labels []string, err error) {
	var end int
	if err := conn.QueryRowContext(ctx, statements.Get("TokensEnd")).Scan(&end); err != nil {
		return nil, err
	}
	l.tokens, labels = make([]tokenLifetime, 0, end+end/16+1024), make([]string, 0, end) // more tokens come soon
	words := map[string]string{}
	add := func(row *tokenRow) {
		for int(row.Token) >= len(l.tokens) {
			l.tokens, labels = append(l.tokens, tokenLifetime{market: -1}), append(labels, "")
		}
		label, known := words[row.Label]
		if !known {
			label = row.Label
			if len(words) < maxInterned {
				words[label] = label
			}
		}
		t := &l.tokens[row.Token]
		t.id, t.market, t.outcome, labels[row.Token] = row.ID, row.Market, row.Outcome, label
	}
	for from := 0; from < end; from += tokensAtOnce {
		query := statements.Get("ReadTokens", "@from", strconv.Itoa(from), "@to", strconv.Itoa(from+tokensAtOnce))
		if err := eachRow(query, add)(ctx, conn); err != nil {
			return nil, err
		}
	}
	l.tokenIDs = tokenIDsOf(l.tokens)
	return labels, nil
}

// mapTokens adds the tokens that were read to the catalog.
func (l *Live) mapTokens(labels []string) {
	for id := range l.tokens {
		t := &l.tokens[id]
		if t.market < 0 {
			l.counts.UnmappedTokens++
		}
		if ref := (serving.TokenRef{Market: t.market, Outcome: t.outcome, ID: t.id, Label: labels[id]}); ref != (serving.TokenRef{Market: -1}) {
			l.catalog.Map(data.TokenID(id), ref)
		}
	}
}

// touchToken returns a token and notes that the figures of its market change.
func (l *Live) touchToken(id data.TokenID) *tokenLifetime {
	t := &l.tokens[id]
	if t.market >= 0 {
		l.catalog.Touch(t.market)
	}
	return t
}

// tokenTotalRow is a row of token_total.
type tokenTotalRow struct {
	Token data.TokenID `sql:"token"`
	legs
	FirstTS int64 `sql:"first_ts,null"`
	LastTS  int64 `sql:"last_ts,null"`
}

func (l *Live) addTokenTotal(row *tokenTotalRow) {
	t := l.touchToken(row.Token)
	before := t.fills()
	t.plus(&row.legs)
	l.lifetimeVolume.plus(&row.legs)
	if t.market < 0 {
		l.counts.UnmappedFills += t.fills() - before
	}
	t.firstTS, t.lastTS = earlier(t.firstTS, row.FirstTS), max(t.lastTS, row.LastTS)
}
