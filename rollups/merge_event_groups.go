package rollups

import (
	"context"
	"database/sql"
	"slices"

	"pmx/data"
	"pmx/engine"
)

// eventGroups knows which markets belong to one event: the first of them stands for
// it.
type eventGroups struct {
	event   []int32           // by market; none: −1
	rest    map[int32][]int32 // by event: its other markets, ascending
	pending map[int32]int32   // market to event, of a merge that is not committed yet
}

const noEvent = -1

// marketEvent is a row of MarketEvents and EventChanges.
type marketEvent struct {
	Market int32 `sql:"market"`
	Event  int32 `sql:"event"`
}

// load reads all of them.
func (g *eventGroups) load(ctx context.Context, conn *sql.Conn) error {
	*g = eventGroups{rest: map[int32][]int32{}}
	err := engine.EachRow(ctx, conn, marketEvents("true"), func(row *marketEvent) error {
		g.set(row.Market, row.Event)
		if row.Market != row.Event {
			g.rest[row.Event] = append(g.rest[row.Event], row.Market)
		}
		return nil
	})
	for _, list := range g.rest {
		slices.Sort(list)
	}
	return err
}

// of returns the event of a market, none: noEvent.
func (g *eventGroups) of(market int32) int32 {
	if int(market) >= len(g.event) {
		return noEvent
	}
	return g.event[market]
}

// next returns the event that a market belongs to after the current merge.
func (g *eventGroups) next(market int32) int32 {
	if event, changed := g.pending[market]; changed {
		return event
	}
	return g.of(market)
}

func (g *eventGroups) set(market, event int32) {
	for int(market) >= len(g.event) {
		g.event = append(g.event, noEvent)
	}
	g.event[market] = event
}

// follow notes what a merge changes.
func (g *eventGroups) follow(ctx context.Context, conn *sql.Conn) error {
	g.pending = map[int32]int32{}
	return engine.EachRow(ctx, conn, statements.Get("EventChanges"), func(row *marketEvent) error {
		g.pending[row.Market] = row.Event
		return nil
	})
}

// commit applies what follow noted.
func (g *eventGroups) commit() {
	for market := range g.pending {
		old := g.of(market)
		if list := g.rest[old]; old != noEvent && old != market {
			if i, found := slices.BinarySearch(list, market); found {
				g.rest[old] = slices.Delete(list, i, i+1)
			}
		}
	}
	for market, event := range g.pending {
		g.set(market, event)
		if event == noEvent || event == market {
			continue
		}
		if i, found := slices.BinarySearch(g.rest[event], market); !found {
			g.rest[event] = slices.Insert(g.rest[event], i, market)
		}
	}
	g.pending = nil
}

// firstOf returns the first market of an event that a wallet traded, none: noEvent.
func (p *tradedPairs) firstOf(wallet data.WalletID, event int32) int32 {
	if p.has(wallet, event) {
		return event
	}
	rest := p.events.rest[event]
	if int(wallet) < len(p.markets) && len(p.markets[wallet]) < len(rest) {
		rest = p.markets[wallet] // both are ascending: the shorter one finds it sooner
	}
	for _, market := range rest {
		if p.events.of(market) == event && p.has(wallet, market) {
			return market
		}
	}
	return noEvent
}

// countFirsts returns by how much the counts of markets change: of wallets that are new to the
// event, or whose first market of the event is now another. Markets in but are left out.
func (p *tradedPairs) countFirsts(but map[int32]bool) map[int32]int64 {
	type walletEvent struct {
		wallet data.WalletID
		event  int32
	}
	firsts := map[walletEvent]int32{} // of the new pairs alone
	for _, pair := range p.pending {
		wallet, market := pair.wallet, pair.market
		event := p.events.next(market)
		if event == noEvent || but[market] || p.has(wallet, market) {
			continue
		}
		key := walletEvent{wallet, event}
		if first, known := firsts[key]; !known || market < first {
			firsts[key] = market
		}
	}
	counts := map[int32]int64{}
	for key, now := range firsts {
		was := p.firstOf(key.wallet, key.event)
		if was == noEvent || now < was {
			counts[now]++
		}
		if was != noEvent && now < was {
			counts[was]--
		}
	}
	return counts
}
