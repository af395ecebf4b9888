package rollups

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/cespare/xxhash/v2"

	"pmx/data"
	"pmx/rollups/segments/fillseg"
	"pmx/rollups/serving"
)

// tokenVerifier takes from each token's facts those that are no older than the newest fills in the
// store: they must be the same. The sums of all facts of a token, by wallet and by hour, must equal
// the store's.
type tokenVerifier struct {
	check  Check
	store  fillseg.TokenStore
	batch  int64 // −1: there is nothing to prove
	tokens []tokenFacts
	fills  []serving.Fill
	sums   []serving.WalletSum
	hours  []serving.PartialCandle
	span   map[tokenHour]*serving.PartialCandle // of the facts being read
}

type tokenHour struct {
	token data.TokenID
	hour  int64
}

// tokenFacts is what is gathered of the newest facts of a token.
type tokenFacts struct {
	fillDigest
	known bool  // asked for
	none  bool  // left to the database
	from  int64 // the time of the oldest fill in the store, in µs; math.MinInt64: it has all
	sums  sumDigest
}

// sumDigest is a digest of the sums of one token, by wallet and by hour: equal for equal sums. Those of wallets can
// be added in parts.
type sumDigest struct{ wallets, hours uint64 }

// addWallet adds a partial sum of what a wallet did: the digest of two partial sums is that of their sum.
func (d *sumDigest) addWallet(wallet data.WalletID, s *serving.EventSum) {
	var id [4]byte
	binary.LittleEndian.PutUint32(id[:], uint32(wallet))
	factor := xxhash.Sum64(id[:]) | 1
	for i, n := range [...]int64{s.Fills, int64(s.Net), int64(s.BuyShares), int64(s.BuyUSD), int64(s.SellUSD), int64(s.FeeUSD)} {
		d.wallets += bits.RotateLeft64(factor, 9*i) * uint64(n)
	}
}

// addHour adds the sums of a whole hour.
func (d *sumDigest) addHour(p *serving.PartialCandle) {
	var text [88]byte
	b := text[:0]
	for _, n := range [...]int64{p.Hour, p.Fills, int64(p.USD), int64(p.Shares), p.First.TS, p.First.At, p.Last.TS, p.Last.At, int64(p.High), int64(p.Low)} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	d.hours += xxhash.Sum64(b)
}

func newTokenVerifier(store fillseg.TokenStore) *tokenVerifier {
	p := &tokenVerifier{store: store, check: Check{Name: "token_segment", OK: true}, batch: store.Through(), span: map[tokenHour]*serving.PartialCandle{}}
	if st := store.Stats(); p.check.setDamaged(st.Damage) {
		p.batch = -1
	} else if !st.Ready {
		p.check.Detail, p.batch = "no file of tokens' newest fills yet: they are read from the facts", -1
	}
	return p
}

func (p *tokenVerifier) held(token data.TokenID) (fills []serving.Fill, known bool) {
	p.fills, known = p.store.Newest(p.fills[:0], token, p.batch, NewestFills)
	return p.fills, known
}

func (p *tokenVerifier) add(batch int64, f *serving.Fill) {
	if batch > p.batch {
		return
	}
	for int(f.Token) >= len(p.tokens) {
		p.tokens = append(p.tokens, tokenFacts{})
	}
	t := &p.tokens[f.Token]
	if !t.known {
		fills, known := p.held(f.Token)
		*t = tokenFacts{known: true, none: !known, from: math.MinInt64}
		if len(fills) == NewestFills {
			t.from = fills[NewestFills-1].TS
		}
	}
	if t.none {
		return
	}
	sum := serving.EventSumOf(f)
	t.sums.addWallet(f.Wallet, &sum)
	if partial, ok := serving.PartialCandleOf(f); ok {
		key := tokenHour{f.Token, partial.Hour}
		if known := p.span[key]; known != nil {
			known.Merge(&partial)
		} else {
			p.span[key] = &partial
		}
	}
	if f.TS < t.from {
		return
	}
	if f.TS == t.from {
		if fills, known := p.held(f.Token); !known || p.store.Compare(f, &fills[len(fills)-1]) < 0 {
			return
		}
	}
	t.fillDigest.add(f)
}

// endSpan adds the hours of the facts that were read; no further fact is in these hours.
func (p *tokenVerifier) endSpan() {
	for key, partial := range p.span {
		p.tokens[key.token].sums.addHour(partial)
	}
	clear(p.span)
}

// stored is the digest of the store's sums of a token.
func (p *tokenVerifier) stored(token data.TokenID) (d sumDigest) {
	p.sums, _ = p.store.Wallets(p.sums[:0], token, p.batch)
	for i := range p.sums {
		d.addWallet(p.sums[i].Wallet, &p.sums[i].EventSum)
	}
	p.hours, _ = p.store.Hours(p.hours[:0], token, p.batch)
	p.hours = serving.SettleHours(p.hours)
	for i := range p.hours {
		d.addHour(&p.hours[i])
	}
	return d
}

func (p *tokenVerifier) finish() {
	c := &p.check
	for token := range p.tokens {
		t := &p.tokens[token]
		if !t.known || t.none {
			continue
		}
		var got fillDigest
		fills, _ := p.held(data.TokenID(token))
		for i := range fills {
			got.add(&fills[i])
		}
		c.Rows += got.fills
		if got != t.fillDigest || p.stored(data.TokenID(token)) != t.sums {
			c.Bad++
		}
	}
	if c.OK = c.Bad == 0; !c.OK && c.Detail == "" {
		c.Detail = fmt.Sprintf("the newest fills of %d tokens in segments/tokens*.seg, or the sums of all, differ from the facts: pmx rebuild writes these files again", c.Bad)
	}
}
