package replay

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pmx/data"
	"pmx/data/chain"
	"pmx/data/chain/encode"
	"pmx/data/sample"
)

// TestLogsDescribeWhatTheVenueDid checks that the logs of three generations of exchanges decode to the
// fills and payouts of the venue.
func TestLogsDescribeWhatTheVenueDid(t *testing.T) {
	for _, end := range []string{"2025-10-20T00:00:00Z", "2026-05-10T00:00:00Z", sample.DefaultEnd} {
		at, err := time.Parse(time.RFC3339, end)
		if err != nil {
			t.Fatal(err)
		}
		v := venue(t, sample.Config{Fills: 6000, Seed: 3, End: at, Chain: true})
		h, err := newHistory(v)
		if err != nil {
			t.Fatal(err)
		}
		checkVenue(t, v, h)
	}
}

// venues are the venues that tests have used so far. They are not modified.
var venues = map[string]*sample.Venue{}

func venue(t testing.TB, c sample.Config) *sample.Venue {
	t.Helper()
	key := fmt.Sprintf("%+v", c)
	if venues[key] == nil {
		v, err := sample.New(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		venues[key] = v
	}
	return venues[key]
}

func checkVenue(t *testing.T, v *sample.Venue, h *history) {
	t.Helper()
	want := fillsOf(v)
	d := chain.NewDecoder(chain.Contracts())
	paid, seen := map[data.Hash][]data.Micro{}, map[[2]int64]bool{}
	var text []byte
	s := scan{history: h, emit: func(l *encode.Log) error {
		text = l.AppendJSON(text[:0])
		e, err := d.Decode(text)
		if err != nil {
			t.Fatalf("err = %v, text = %s", err, text)
		}
		place := [2]int64{e.Log.Block, int64(e.Log.Index)}
		if seen[place] {
			t.Fatalf("two logs are at %v", place)
		}
		seen[place] = true
		switch e.Kind {
		case chain.Filled:
			if len(want) == 0 {
				t.Fatal("more fills than the venue has")
			}
			got := fill{e.Log.Time, e.Log.Tx, e.Fill.Maker, e.Fill.Token, e.Fill.Side == data.Buy, e.Fill.Role == data.Taker, e.Fill.Shares, e.Fill.USD}
			if got != want[0] {
				t.Fatalf("got %+v, want %+v", got, want[0])
			}
			want = want[1:]
		case chain.Resolved:
			paid[e.Resolution.Condition] = slices.Clone(e.Resolution.Payouts)
			if m := v.Markets[slices.IndexFunc(v.Markets, func(m sample.Market) bool { return m.Condition == e.Resolution.Condition })]; m.Paid != e.Log.Time {
				t.Errorf("paid at %d, want %d", e.Log.Time, m.Paid)
			}
		}
		return nil
	}}
	if err := s.run(0, sample.BlockAt(v.Manifest.End)); err != nil {
		t.Fatal(err)
	}
	if len(want) > 0 {
		t.Errorf("%d fills have no log", len(want))
	}
	for _, m := range v.Markets {
		if got := paid[m.Condition]; (m.Paid != 0) != (got != nil) || got != nil && [2]data.Micro(got) != m.Payouts {
			t.Errorf("payouts %v, want %v", got, m.Payouts)
		}
	}
}

type fill struct {
	at          int64
	tx          data.Hash
	wallet      data.Address
	token       data.Hash
	buy, taker  bool
	shares, usd data.Micro
}

func fillsOf(v *sample.Venue) (list []fill) {
	for i := range v.Matches {
		m := &v.Matches[i]
		for _, r := range v.AppendRows(nil, m) {
			list = append(list, fill{m.At, v.Tx(i), v.Wallet(r.Wallet), v.Markets[m.Market].Tokens[r.Outcome], r.Buy, r.Taker,
				data.Micro(r.Shares), data.Micro(r.USD)})
		}
	}
	return list
}
