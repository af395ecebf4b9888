package serving

import (
	"testing"

	"pmx/data"
)

func newestTrade(n int, at int64) NewestTrade {
	return NewestTrade{Condition: data.Hash{byte(n % 3)}, Tx: data.Hash{byte(n), byte(n >> 8), byte(n >> 16)}, At: at, Source: NewestOfChannel}
}

func times(rows []NewestTrade) (out []int64) {
	for _, t := range rows {
		out = append(out, t.At)
	}
	return out
}

func TestNewestTradesAreBounded(t *testing.T) {
	var n NewestTrades
	const more = mostNewest + 5000
	for i := range more {
		n.Add(newestTrade(i, int64(1000+i/100)))
	}
	if n.Len() > mostNewest || n.Len() < mostNewest*8/10 || len(n.seen) != n.Len() {
		t.Errorf("%d kept, %d known", n.Len(), len(n.seen))
	}
	rows, _ := n.Newest(nil, 0, data.Hash{}, more)
	if len(rows) != n.Len() || rows[0].At != int64(1000+(more-1)/100) {
		t.Errorf("%d rows, from %d", len(rows), rows[0].At)
	}
	n.Add(newestTrade(1, rows[0].At+keepNewest)) // trades ten minutes older are removed
	n.Final(0)
	if n.Len() != 1 || len(n.seen) != 1 {
		t.Errorf("%d kept, %d known", n.Len(), len(n.seen))
	}
}

func TestNewestTradesAreInOrderOnceAndNotFinal(t *testing.T) {
	var n NewestTrades
	for i, at := range []int64{103, 101, 105, 102, 104} {
		if !n.Add(newestTrade(i, at)) {
			t.Errorf("the trade at %d is refused", at)
		}
		again := newestTrade(i, at)
		again.Source = NewestOfList
		if n.Add(again) {
			t.Errorf("the trade at %d is accepted twice", at)
		}
	}
	expect := func(what string, got []NewestTrade, want ...int64) {
		t.Helper()
		if g := times(got); len(g) != len(want) {
			t.Errorf("%s: g = %v, want %v", what, g, want)
		} else {
			for i := range g {
				if g[i] != want[i] {
					t.Errorf("%s: g = %v, want %v", what, g, want)
				}
			}
		}
	}
	rows, _ := n.Newest(nil, 0, data.Hash{}, 10)
	expect("all", rows, 105, 104, 103, 102, 101)
	rows, _ = n.Newest(nil, 0, data.Hash{}, 2)
	expect("two", rows, 105, 104)
	rows, _ = n.Newest(nil, 103, data.Hash{}, 10)
	expect("after 103", rows, 105, 104)
	rows, _ = n.Newest(nil, 0, data.Hash{1}, 10) // the second and the fifth
	expect("a market's", rows, 104, 101)
	n.Final(102)
	if n.Len() != 3 || n.Add(newestTrade(1, 101)) || n.Add(newestTrade(9, 102)) {
		t.Errorf("%d trades are kept", n.Len())
	}
	n.SetCoverage(NewestCoverage{State: NewestLive})
	if _, f := n.Newest(nil, 0, data.Hash{}, 1); f.State != NewestLive {
		t.Errorf("%+v", f)
	}
	var none *NewestTrades
	if rows, f := none.Newest(nil, 0, data.Hash{}, 1); len(rows) > 0 || f.State != NewestOff {
		t.Errorf("rows = %v, f = %+v", rows, f)
	}
}
