package replay

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"pmx/data"
	"pmx/data/chain"
	"pmx/data/feeds"
	"pmx/data/sample"
)

// rows is a sink that records fills and payouts, and refuses nothing.
type rows struct {
	data.Sink // the rest is not called
	t         *testing.T
	fills     []data.Fill
	payouts   map[data.Hash]data.Resolution
	tokens    map[string]data.TokenRef
	notes     map[string]int
}

func (r *rows) Fill(_ int64, f data.Fill) error {
	r.fills = append(r.fills, f)
	return nil
}

func (r *rows) Resolution(_ int64, p data.Resolution) error {
	p.Payouts = slices.Clone(p.Payouts)
	r.payouts[p.Condition] = p
	return nil
}

func (r *rows) Token(_ int64, ref data.TokenRef) error {
	r.tokens[ref.TokenID] = ref
	return nil
}

func (r *rows) Note(reason string) { r.notes[reason]++ }

func (r *rows) Reject(line int64, reason, detail, raw string) error {
	r.t.Fatalf("line %d: reason = %s, detail = %s, raw = %s", line, reason, detail, raw)
	return nil
}

func (r *rows) Pass(int64, data.Passed) error { return nil }

func (r *rows) Lines(data.LineKind, int64) error { return nil }

// TestFileOfLogsHasTheVenue checks that the feed of logs reads the venue's fills from the file,
// with all matches complete and with the fees of their generation, and its payouts.
func TestFileOfLogsHasTheVenue(t *testing.T) {
	for _, end := range []string{"2026-05-10T00:00:00Z", sample.DefaultEnd} {
		at, err := time.Parse(time.RFC3339, end)
		if err != nil {
			t.Fatal(err)
		}
		v := venue(t, sample.Config{Fills: 6000, Seed: 5, End: at, Chain: true})
		got := readLogs(t, v)
		checkFills(t, v, got)
		for _, m := range v.Markets {
			p, ok := got.payouts[m.Condition]
			if ok != (m.Paid != 0) || ok && (p.ResolvedAt.Unix() != m.Paid || [2]data.Micro(p.Payouts) != m.Payouts) {
				t.Errorf("p = %+v, want %+v", p, m)
			}
		}
	}
}

func readLogs(t *testing.T, v *sample.Venue) *rows {
	t.Helper()
	var file bytes.Buffer
	if err := WriteLogs(&file, v); err != nil {
		t.Fatal(err)
	}
	all := feeds.All()
	feed := all[slices.IndexFunc(all, func(f data.Feed) bool { return f.Name == "polygon-logs" })]
	got := &rows{t: t, payouts: map[data.Hash]data.Resolution{}, tokens: map[string]data.TokenRef{}, notes: map[string]int{}}
	if err := feed.Read(t.Context(), data.Source{Format: data.NDJSON, Spill: t.TempDir()}, &file, got); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"taker_without_maker", "maker_without_taker", "match_differs", "fee_without_refund", "refund_without_fill"} {
		if got.notes[bad] > 0 {
			t.Errorf("%s: got.notes[bad] = %d", bad, got.notes[bad])
		}
	}
	return got
}

func checkFills(t *testing.T, v *sample.Venue, got *rows) {
	t.Helper()
	want, generations := map[fill]int{}, map[int]int{}
	for _, f := range fillsOf(v) {
		want[f]++
	}
	at := map[data.Hash]int{}
	for i := range v.Matches {
		at[v.Tx(i)] = i
	}
	fees := 0
	for _, f := range got.fills {
		match := &v.Matches[at[f.Tx]]
		generation, market := v.Generation(match), &v.Markets[match.Market]
		generations[generation]++
		outcome := slices.IndexFunc(market.Tokens[:], func(h data.Hash) bool { return string(chain.AppendDecimal(nil, h)) == f.TokenID })
		if outcome < 0 {
			t.Fatalf("no token of the market has id %s", f.TokenID)
		}
		want[fill{f.TS / 1_000_000, f.Tx, f.Wallet, market.Tokens[outcome], f.Side == data.Buy, f.Role == data.Taker, f.Shares, f.USD}]--
		if ref, ok := got.tokens[f.TokenID]; ok != market.Positions || ok && (ref.Condition != market.Condition || ref.Outcome != outcome) {
			t.Errorf("token %+v of %+v", ref, market)
		}
		if f.Fee != 0 {
			fees++
		}
		dollarsOfBuy := generation > 1 && f.Side == data.Buy // which are negative
		if f.Fee != 0 && (f.Role != data.Taker || (f.Fee < 0) != dollarsOfBuy) || generation > 1 && max(f.Fee, -f.Fee) > f.Shares/40 {
			t.Errorf("fee of %+v", f)
		}
	}
	for f, n := range want {
		if n != 0 {
			t.Fatalf("%d of %+v", -n, f)
		}
	}
	if len(generations) < 2 || fees < 20 {
		t.Errorf("generations %v, %d fees: the venue is too small to test anything", generations, fees)
	}
}
