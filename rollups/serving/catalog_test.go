package serving_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"pmx/data"
	"pmx/rollups/serving"
)

func conditionOf(i int) (h data.Hash) { binary.BigEndian.PutUint32(h[4:], uint32(i)); return h }

func marketOf(i int, slug, id string) *serving.Market {
	return &serving.Market{ID: int32(i), Condition: conditionOf(i), EventSlug: slug, EventID: id}
}

func countsOf(b *serving.CatalogBuilder) (c serving.Counts) { b.Count(&c); return c }

func TestASealedCatalogNeverChanges(t *testing.T) {
	b := serving.NewCatalogBuilder()
	for i := range 100 {
		b.Set(marketOf(i, "election", "7"))
		b.Map(data.TokenID(2*i), serving.TokenRef{Market: int32(i), Outcome: 1})
		b.Map(data.TokenID(2*i+1), serving.TokenRef{Market: int32(i)})
		b.SetFigures(int32(i), serving.Figures{Trades: int64(i)})
	}
	before := b.Seal()
	if got := len(before.Changed()); got != 100 {
		t.Errorf("%d markets changed in the first catalog, want all 100", got)
	}
	b.Set(&serving.Market{ID: 3, Condition: conditionOf(3), Question: "changed", EventSlug: "other", EventID: "7"})
	b.SetFigures(3, serving.Figures{Trades: 99})
	b.Map(6, serving.TokenRef{Market: 4, Outcome: 2}) // from market 3
	b.Set(marketOf(100, "election", "7"))
	after := b.Seal()
	if m := before.Market(3); m.Question != "" || before.Figures(3).Trades != 3 || !slices.Equal(before.Tokens(3), []data.TokenID{7, 6}) {
		t.Errorf("the earlier catalog shows %+v %+v %v", m, before.Figures(3), before.Tokens(3))
	}
	if before.Find(conditionOf(100)) != nil || before.Len() != 100 || len(before.Event("election").Markets) != 100 {
		t.Error("the earlier catalog knows what came later")
	}
	if m := after.Find(conditionOf(3)); m.Question != "changed" || after.Figures(3).Trades != 99 || !slices.Equal(after.Tokens(3), []data.TokenID{7}) {
		t.Errorf("the later catalog shows %+v %+v %v", m, after.Figures(3), after.Tokens(3))
	}
	// By outcome: token 9 pays for outcome 0, 8 for outcome 1, 6 for outcome 2.
	if !slices.Equal(after.Tokens(4), []data.TokenID{9, 8, 6}) || after.Token(6) != (serving.TokenRef{Market: 4, Outcome: 2}) {
		t.Errorf("market 4 has tokens %v, token 6 is of %+v", after.Tokens(4), after.Token(6))
	}
	changed := slices.Sorted(slices.Values(after.Changed()))
	if !slices.Equal(changed, []int32{3, 4, 100}) {
		t.Errorf("changed %v, want 3, 4 and 100", changed)
	}
	if len(after.Event("election").Markets) != 100 || len(after.Event("other").Markets) != 1 {
		t.Error("market 3 did not change its event")
	}
	if got := after.Token(999); got.Market != -1 {
		t.Errorf("a token nobody saw is of market %d", got.Market)
	}
}

func TestConditionsAreFoundWhileTheCatalogGrows(t *testing.T) {
	b := serving.NewCatalogBuilder()
	b.Set(marketOf(0, "", ""))
	old := b.Seal()
	const n = 20_000
	var readers sync.WaitGroup
	stop := make(chan struct{})
	readers.Go(func() {
		for i := 0; ; i = (i + 7) % n {
			select {
			case <-stop:
				return
			default:
			}
			if m := old.Find(conditionOf(i)); (m != nil) != (i == 0) {
				t.Errorf("market %d found in a catalog of one: %v", i, m)
				return
			}
		}
	})
	for i := 1; i < n; i++ {
		b.Set(marketOf(i, fmt.Sprint("event-", i/10), fmt.Sprint(i/10)))
	}
	close(stop)
	readers.Wait()
	c := b.Seal()
	for i := range n {
		if m := c.Find(conditionOf(i)); m == nil || m.ID != int32(i) {
			t.Fatalf("market %d is found as %v", i, m)
		}
	}
	if got := c.Event("event-77"); got == nil || len(got.Markets) != 10 || c.Event("77") == nil || c.Event("78").Slug != "event-78" {
		t.Errorf("event 77 is %+v", got)
	}
	if counts := countsOf(b); counts.Markets != n || counts.Events != n/10 {
		t.Errorf("%d markets in %d events, want %d in %d", counts.Markets, counts.Events, n, n/10)
	}
}

// Markets 0 and 1 have a slug and an id, 2 has only the id, 3 only another id, 4 neither.
func TestAnEventIsKnownBySlugAndID(t *testing.T) {
	closed, open := true, false
	b := serving.NewCatalogBuilder()
	// Of the 6 wallets of event 7 the venue's own are 1, 2 and 5.
	b.SetFirsts(0, 3, []data.WalletID{1, 2})
	b.SetFirsts(1, 2, []data.WalletID{2, 5})
	b.SetFirsts(2, 1, []data.WalletID{2, 5})
	b.SetFirsts(3, 9, nil)
	b.Set(&serving.Market{ID: 0, Condition: conditionOf(0), EventSlug: "rain", EventID: "7", EventTitle: "Rain", UpdatedTS: 1,
		Closed: &open, StartTS: 50, EndTS: 90, Category: "weather"})
	b.Set(&serving.Market{ID: 1, Condition: conditionOf(1), EventSlug: "rain", EventID: "7", EventTitle: "Rain!", UpdatedTS: 2,
		Closed: &closed, Payouts: []data.Micro{0, data.One}, StartTS: 40, EndTS: 80})
	b.Set(marketOf(2, "", "7"))
	b.Set(marketOf(3, "", "8"))
	b.Set(marketOf(4, "", ""))
	figures := serving.NewFigures(serving.TakerUSD)
	figures.VolumeUSD, figures.Volume24h, figures.Trades, figures.FirstTS, figures.LastTS, figures.Liquidity = 30, 3, 2, 60, 70, 5
	b.SetFigures(1, figures)
	makers := serving.NewFigures(serving.MakerUSD)
	makers.VolumeUSD, makers.Trades, makers.FirstTS, makers.LastTS = 100, 1, 55, 55
	b.SetFigures(2, makers)
	c := b.Seal()
	for _, key := range []string{"rain", "7"} {
		e := c.Event(key)
		if e == nil {
			t.Fatalf("no event %s", key)
		}
		// 2 with 100, 1 with 30, then 0.
		if !slices.Equal(e.Markets, []int32{2, 1, 0}) || e.ID != "7" || e.Slug != "rain" || e.Title != "Rain!" || e.Category != "weather" {
			t.Errorf("event %s: %+v", key, e)
		}
		if e.Open != 2 || e.Resolved != 1 || e.Closed != 0 || e.TakerMarkets != 1 || e.MakerMarkets != 1 {
			t.Errorf("states of event %s: %+v", key, e)
		}
		if e.VolumeUSD != 130 || e.Volume24h != 3 || e.Trades != 3 || e.FirstTS != 55 || e.LastTS != 70 || e.StartTS != 40 || e.EndTS != 90 ||
			e.Liquidity != 5 || e.Traders != 3 {
			t.Errorf("sums of event %s: %+v", key, e)
		}
	}
	if e := c.Event("8"); e == nil || e.ID != "8" || e.Slug != "" || e.Liquidity != serving.NoValue || e.Traders != 9 || !slices.Equal(e.Markets, []int32{3}) {
		t.Errorf("event 8: %+v", e)
	}
	if c.Event("9") != nil || c.Event("") != nil {
		t.Error("an event that nobody carries is there")
	}
	// 1 is resolved; for the others no source says that they are closed.
	if got, want := countsOf(b), (serving.Counts{Markets: 5, OpenMarkets: 4, ResolvedMarkets: 1, Events: 2}); got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
	b.Set(marketOf(0, "", "8")) // leaves the slug to market 1
	b.Set(marketOf(1, "", "7")) // nobody carries it now
	c = b.Seal()
	if e := c.Event("7"); c.Event("rain") != nil || len(e.Markets) != 2 || len(c.Event("8").Markets) != 2 {
		t.Errorf("after the slug is gone event 7 is %+v", e)
	}
	if got, want := countsOf(b), (serving.Counts{Markets: 5, OpenMarkets: 5, Events: 2}); got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
}

func TestWhenAMarketIsOpen(t *testing.T) {
	yes, paid := true, []data.Micro{data.One, 0}
	for name, test := range map[string]struct {
		m        serving.Market
		from, to int64
		known    bool
	}{
		"open":                      {serving.Market{StartTS: 5, CreatedTS: 3}, 5, math.MaxInt64, true},
		"open, of an unknown start": {serving.Market{CreatedTS: 3}, 3, math.MaxInt64, true},
		"open, of no time":          {serving.Market{EndTS: 9}, 0, math.MaxInt64, false},
		"closed":                    {serving.Market{StartTS: 5, Closed: &yes, ClosedTS: 8}, 5, 8, true},
		"closed, nobody knows when": {serving.Market{StartTS: 5, Closed: &yes, EndTS: 9}, 5, 0, false},
		"resolved after its close":  {serving.Market{StartTS: 5, Payouts: paid, ClosedTS: 8, ResolvedTS: 9, ResolvedBy: data.TimeOnChain}, 5, 8, true},
		"resolved before its close": {serving.Market{StartTS: 5, Payouts: paid, ClosedTS: 8, ResolvedTS: 7, ResolvedBy: data.TimeOnChain}, 5, 7, true},
		"resolved, close unknown":   {serving.Market{StartTS: 5, Payouts: paid, ResolvedTS: 7, ResolvedBy: data.TimeOfOracle}, 5, 7, true},
		"resolved by its end date":  {serving.Market{StartTS: 5, Payouts: paid, ResolvedTS: 9, ResolvedBy: data.TimeOfEnd}, 5, 0, false},
	} {
		if from, to, known := test.m.OpenBetween(); from != test.from || to != test.to || known != test.known {
			t.Errorf("%s: from %d to %d, known %v", name, from, to, known)
		}
	}
}
