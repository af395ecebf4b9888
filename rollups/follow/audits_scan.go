package follow

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"pmx/data"
	"pmx/data/feeds/shape"
	"pmx/data/upstream/dataapi"
)

// dust is the minimum size of the data API's trades, in millionths of a token.
const dust data.Micro = 10_000

// txSum is the sum of a transaction's fills of a condition, without dust.
type txSum struct {
	fills  int64
	shares data.Micro
	at     int64 // unix seconds
}

// scanned is the result of a comparison of all trades of a condition.
type scanned struct {
	pages        int
	transactions int64
	cut          bool // there were more pages than allowed: the older ones were not compared
	differences  []AuditDifference
}

// errScanned stops a scan.
var errScanned = errors.New("scanned")

// scan compares all trades of a condition in a period with those of the venue, by transaction,
// reading at most so many pages. The venue's rows have no log index and no fee, and do not include
// dust.
func (a *Audits) scan(ctx context.Context, c *counted, most int) (w scanned, err error) {
	theirs, from, err := a.theirs(ctx, c, most, &w)
	if err != nil {
		return w, err
	}
	ours, err := a.ours(ctx, c.condition, from, c.to)
	if err != nil {
		return w, err
	}
	all, alone := map[data.Hash]bool{}, map[string]int64{}
	for tx, s := range theirs {
		if all[tx] = true; ours[tx].fills == 0 {
			alone[tx.String()] = s.at
		}
	}
	for tx := range ours {
		all[tx] = true
	}
	elsewhere, err := a.there(ctx, alone)
	if err != nil {
		return w, err
	}
	w.transactions = int64(len(all))
	for tx := range all {
		have, said := ours[tx], theirs[tx]
		if have.fills == said.fills && have.shares == said.shares {
			continue
		}
		d := AuditDifference{Kind: Others, Tx: tx.String(), Condition: c.condition.String(), At: unix(max(have.at, said.at)), VenueFills: said.fills,
			VenueShares: said.shares.String(), OurFills: have.fills, OurShares: have.shares.String()}
		switch {
		case said.fills == 0:
			d.Kind = OursOnly
		case have.fills == 0 && elsewhere[d.Tx] >= said.fills: // its token is not mapped, or is mapped to another condition
			a.unknown("of_another_condition")
			continue
		case have.fills == 0:
			d.Kind = VenueOnly
		}
		w.differences = append(w.differences, d)
	}
	slices.SortFunc(w.differences, func(x, y AuditDifference) int {
		return cmp.Or(x.At.Compare(y.At), strings.Compare(x.Tx, y.Tx))
	})
	return w, nil
}

// theirs returns the venue's transactions of a condition, and the time from which on they are
// complete, which is later than requested if there are more pages than allowed.
func (a *Audits) theirs(ctx context.Context, c *counted, most int, w *scanned) (map[data.Hash]txSum, int64, error) {
	out, from := map[data.Hash]txSum{}, c.from
	err := a.api.EachTrades(ctx, []data.Hash{c.condition}, false, "", func(p dataapi.TradesPage) error {
		w.pages++
		for _, t := range p.Trades {
			if t.At >= from && t.At < c.to {
				a.addTrade(out, &t)
			}
		}
		switch {
		case p.Next == "" || len(p.Trades) == 0:
			return nil
		case p.Trades[len(p.Trades)-1].At < from:
			return errScanned
		case w.pages >= most: // a second that may be incomplete is not compared
			w.cut, from = true, p.Trades[len(p.Trades)-1].At+1
			return errScanned
		}
		return nil
	})
	if err != nil && !errors.Is(err, errScanned) {
		return nil, 0, err
	}
	maps.DeleteFunc(out, func(_ data.Hash, s txSum) bool { return s.at < from })
	return out, from, nil
}

// addTrade adds a row of the venue's trades.
func (a *Audits) addTrade(to map[data.Hash]txSum, t *dataapi.Trade) {
	size, ok := sizeOf(t.Raw)
	switch {
	case !ok:
		a.unknown("odd_size")
	case t.Tx.IsZero():
		a.unknown("no_transaction")
	case size >= dust:
		s := to[t.Tx]
		to[t.Tx] = txSum{s.fills + 1, s.shares + size, t.At}
	}
}

// sizeOf returns the size of a row of the data API.
func sizeOf(raw []byte) (data.Micro, bool) {
	var row struct {
		Size shape.Text `json:"size"`
	}
	if json.Unmarshal(raw, &row) != nil {
		return 0, false
	}
	size, ok := row.Size.Micro()
	return size, ok && size >= 0
}

// ours returns the committed transactions of a condition in a period.
func (a *Audits) ours(ctx context.Context, condition data.Hash, from, to int64) (map[data.Hash]txSum, error) {
	out := map[data.Hash]txSum{}
	err := a.o.Venue.Read(ctx, func(conn *sql.Conn) error {
		return eachRow(ctx, conn, func(rows *sql.Rows) error {
			var s txSum
			tx, err := scanHash(rows, &s.fills, &s.shares, &s.at)
			out[tx] = s
			return err
		}, auditStatements.Get("TransactionsOf"), condition[:], from, to)
	})
	return out, err
}

// there returns the number of committed fills of transactions, without dust. at has their
// approximate times, unix seconds.
func (a *Audits) there(ctx context.Context, at map[string]int64) (map[string]int64, error) {
	out := map[string]int64{}
	if len(at) == 0 {
		return out, nil
	}
	times := slices.Collect(maps.Values(at))
	list := make([]string, 0, len(at))
	for tx := range at {
		list = append(list, strings.TrimPrefix(tx, "0x"))
	}
	err := a.o.Venue.Read(ctx, func(conn *sql.Conn) error {
		return eachRow(ctx, conn, func(rows *sql.Rows) error {
			var n int64
			tx, err := scanHash(rows, &n)
			out[tx.String()] = n
			return err
		}, auditStatements.Get("Transactions"), slices.Min(times)-3600, slices.Max(times)+3600, strings.Join(list, ","))
	})
	return out, err
}

// wantedTx is a transaction of the venue that is missing or incomplete here.
type wantedTx struct {
	Tx    string `json:"tx"`
	At    int64  `json:"at"` // of its block; unix seconds, like the others
	Fills int64  `json:"fills"`
	Found int64  `json:"found"`
	Tries int    `json:"tries"`
	Next  int64  `json:"next"`
}

// mostWantedTx is the maximum number of wanted transactions. Others are found again by the next
// day's comparison, or come with nearby blocks.
const mostWantedTx = 5_000

// A transaction is requested again after these intervals, the last of which repeats, until it is
// given up.
var afterWanted = []time.Duration{time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}

// nearWanted is the number of seconds before and after a time whose blocks are imported with it.
const nearWanted = aroundDifference

const givenUpAfter = 14 * 24 * time.Hour

// mend requests the blocks of wanted transactions again.
func (a *Audits) mend(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := a.mended(ctx); err != nil {
			return err
		}
		now := a.o.Now()
		due := func(w *wantedTx) bool { return reached(w.Next, now, afterWanted[len(afterWanted)-1]) }
		a.mu.Lock()
		i := slices.IndexFunc(a.memory.Wanted, func(w wantedTx) bool { return due(&w) })
		if i < 0 {
			a.mu.Unlock()
			return nil
		}
		at, try := a.memory.Wanted[i].At, a.memory.Wanted[i].Tries
		for j := range a.memory.Wanted { // nearby transactions are in the same blocks
			if w := &a.memory.Wanted[j]; w.At >= at-nearWanted && w.At <= at+nearWanted && due(w) {
				w.Next = now.Unix() + int64(afterWanted[min(w.Tries, len(afterWanted)-1)]/time.Second)
				w.Tries++
			}
		}
		a.mu.Unlock()
		fills, err := a.o.Chain.AskAgain(ctx, unix(at), try)
		if err != nil {
			return err
		}
		a.set(func(s *AuditStatus) { s.Fills += fills })
	}
	return ctx.Err()
}

// mended removes the transactions that are committed by now from the wanted ones.
func (a *Audits) mended(ctx context.Context) error {
	a.mu.Lock()
	now := a.o.Now()
	for i := range a.memory.Wanted { // found in the future, by a clock that was ahead
		a.memory.Wanted[i].Found = min(a.memory.Wanted[i].Found, now.Unix())
	}
	wanted := slices.Clone(a.memory.Wanted)
	a.mu.Unlock()
	if len(wanted) == 0 {
		return nil
	}
	at := map[string]int64{}
	for _, w := range wanted {
		at[w.Tx] = w.At
	}
	have, err := a.there(ctx, at)
	if err != nil {
		return err
	}
	gone := map[string]bool{}
	in, lost := int64(0), int64(0)
	for _, w := range wanted {
		switch {
		case have[w.Tx] >= w.Fills:
			gone[w.Tx] = true
			in++
		case now.Sub(unix(w.Found)) > givenUpAfter:
			gone[w.Tx] = true
			lost++
			a.o.Log.Error().Str("audit", "trades").Str("tx", w.Tx).Msg("no node has a transaction that the venue reports: it is no longer requested")
		}
	}
	if len(gone) == 0 {
		return nil
	}
	a.mu.Lock()
	a.memory.Wanted = slices.DeleteFunc(a.memory.Wanted, func(w wantedTx) bool { return gone[w.Tx] })
	a.status.Mended += in
	a.status.Lost += lost
	for i := range a.status.List {
		if gone[a.status.List[i].Tx] {
			a.status.List[i].Gone = true
		}
	}
	a.mu.Unlock()
	if in > 0 {
		a.o.Log.Warn().Str("audit", "trades").Int64("transactions", in).Msg("missing transactions were imported")
	}
	return a.save(ctx)
}
