package keeper_test

import (
	"fmt"
	"testing"
	"time"

	"pmx/data"
	"pmx/rollups/keeper"
	"pmx/rollups/serving"
)

// quotedMarket is a file with a market as Gamma returns it at a time.
func quotedMarket(t *testing.T, at time.Time, rest string) string {
	t.Helper()
	return write(t, "gamma.json", fmt.Sprintf(`[{"id":"1","question":"Q?","conditionId":"%s","outcomes":"[\"Yes\",\"No\"]","clobTokenIds":"[\"7\",\"8\"]","liquidity":"50","lastTradePrice":"0.3","updatedAt":"%s"%s}]`,
		data.Hash{1: 1}, at.Format(time.RFC3339), rest))
}

// shownQuote is the quote of the only market as it is served.
func shownQuote(k *keeper.Keeper) string {
	m := k.Snapshot().Catalog.Market(0)
	text := func(p *data.Micro) string {
		if p == nil {
			return "-"
		}
		return p.String()
	}
	return fmt.Sprintf("%s %s last %s of %s at %s", text(m.BestBid), text(m.BestAsk), text(m.LastPrice), text(m.Liquidity), time.UnixMicro(m.QuotedTS).UTC().Format("15:04"))
}

// TestQuotesAreShownAndAreNoFacts: the newer of the order book's quote and the one in the market's
// record is served, also after a restart, until the market closes.
func TestQuotesAreShownAndAreNoFacts(t *testing.T) {
	dir := t.TempDir()
	day := time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)
	at := func(hour int) time.Time { return day.Add(time.Duration(hour) * time.Hour) }
	price := func(cents int64) *data.Micro { m := data.Micro(cents * 10_000); return &m }
	k := open(t, dir)
	want := func(when, quote string) {
		t.Helper()
		if got := shownQuote(k); got != quote {
			t.Errorf("%s: %s is served, want %s", when, got, quote)
		}
	}
	epoch := k.Snapshot().Epoch
	tell := func(q data.Quote, stored int64) {
		t.Helper()
		q.Condition = data.Hash{1: 1}
		n, err := k.Quote(t.Context(), []data.Quote{q, {Condition: data.Hash{9: 9}, Bid: price(1), At: q.At}})
		if err != nil || n != stored {
			t.Errorf("%d quotes of %d are stored, %v", n, stored, err)
		}
		if next := k.Snapshot().Epoch; (next > epoch) != (stored > 0) {
			t.Errorf("epoch %d is followed by %d", epoch, next)
		} else {
			epoch = next
		}
	}
	mustImport(t, k, quotedMarket(t, at(1), `,"bestBid":0.2,"bestAsk":0.4`))
	epoch = k.Snapshot().Epoch
	want("imported", "0.2 0.4 last 0.3 of 50 at 01:00")
	tell(data.Quote{Bid: price(21), Ask: price(39), At: at(2)}, 1)
	want("told", "0.21 0.39 last 0.3 of 50 at 02:00")
	tell(data.Quote{Bid: price(11), Ask: price(12), At: at(1)}, 0)
	want("told late", "0.21 0.39 last 0.3 of 50 at 02:00")
	tell(data.Quote{Bid: price(50), Ask: price(40), At: at(3)}, 0)
	want("told what cannot be", "0.21 0.39 last 0.3 of 50 at 02:00")
	tell(data.Quote{Ask: price(38), Last: price(35), At: at(4)}, 1)
	want("told an empty side", "- 0.38 last 0.35 of 50 at 04:00")
	if f := k.Freshness(); f.LastMarkets.IsZero() || count(t, k, "SELECT count(*) FROM batches") != 1 {
		t.Errorf("f = %+v", f)
	}
	alsoVerify(t, k)
	mustImport(t, k, quotedMarket(t, at(3), `,"bestBid":0.25,"bestAsk":0.45,"slug":"other"`))
	want("imported what is older", "- 0.38 last 0.35 of 50 at 04:00")
	alsoVerify(t, k)
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	k = open(t, dir)
	want("started again", "- 0.38 last 0.35 of 50 at 04:00")
	epoch = k.Snapshot().Epoch
	mustImport(t, k, quotedMarket(t, at(5), `,"bestBid":0.26,"bestAsk":0.46`))
	want("imported what is newer", "0.26 0.46 last 0.3 of 50 at 05:00")
	epoch = k.Snapshot().Epoch
	tell(data.Quote{Bid: price(27), Ask: price(47), At: at(6)}, 1)
	want("told again", "0.27 0.47 last 0.3 of 50 at 06:00")
	mustImport(t, k, quotedMarket(t, at(7), `,"closed":true,"closedTime":"2026-11-02 06:30:00+00"`))
	if m := k.Snapshot().Catalog.Market(0); m.BestBid != nil || m.BestAsk != nil || m.Status() != serving.Closed {
		t.Errorf("closed: m = %+v", m)
	}
	epoch = k.Snapshot().Epoch
	tell(data.Quote{Bid: price(27), Ask: price(47), At: at(8)}, 0)
	if n := count(t, k, "SELECT count(*) FROM live_quote"); n > 1 {
		t.Errorf("%d quotes are kept", n)
	}
	alsoVerify(t, k)
}
