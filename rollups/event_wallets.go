package rollups

import (
	"database/sql/driver"
	"fmt"

	"pmx/engine"
)

// eventVertical counts the distinct wallets of events. A wallet counts at the first market of the
// event, by id, that it traded. So the counts are additive, keyed by market alone, and right for
// whatever event a market belongs to.
func eventVertical() vertical {
	return vertical{
		tables: []table{{name: "event_wallets", delta: "DeltaEventWallets", rebuild: "RebuildEventWallets",
			by: eachMarket, with: withFills | withHolders | withMarkets, keys: []string{"market"}, sums: []string{"wallets"}}},
		before:    eventBefore,
		after:     eventAfter,
		holdings:  eventHoldings,
		temporary: []string{"event_market", "event_first"},
	}
}

// eventBefore notes which markets belonged together, if the batch may change that.
func eventBefore(m *merge) error {
	if !m.has(withMarkets) {
		return nil
	}
	if err := m.exec("EventSeeds"); err != nil {
		return err
	}
	var seeds int64
	if err := m.conn.QueryRowContext(m.ctx, statements.Get("EventSeedCount")).Scan(&seeds); err != nil {
		return fmt.Errorf("EventSeedCount: %w", err)
	}
	if m.regroups = seeds > 0; !m.regroups {
		return nil
	}
	if err := m.exec("EventScope"); err != nil {
		return err
	}
	return m.exec("EventsBefore", "@events", marketEvents(statements.Get("InEventScope")))
}

// eventHoldings counts the firsts of all events, some events at a time.
func eventHoldings(b *rebuilder) error {
	for _, query := range []string{statements.Get("EventMarkets", "@events", marketEvents("true")), statements.Get("EventFirstsEmpty")} {
		if err := b.exec(query); err != nil {
			return err
		}
	}
	ranges, err := b.chunker.ranges(statements.Get("EventsOfHoldings"), 1)
	if err != nil {
		return err
	}
	for _, r := range ranges {
		if err := b.exec(statements.Get("EventFirsts", "@which", r.of("event"))); err != nil {
			return err
		}
	}
	return nil
}

// marketEvents is the definition of which event a market belongs to, for the markets that meet the
// condition which.
func marketEvents(which string) string { return statements.Get("MarketEvents", "@which", which) }

// eventAfter leaves in n_event_wallets what the batch changes: events whose markets or tokens moved
// are recounted; in all others new pairs of wallet and market are added.
func eventAfter(m *merge) error {
	if !m.has(withFills | withHolders | withMarkets) {
		return nil
	}
	if m.sums != nil { // no event changes
		m.countEvents()
		return nil
	}
	if err := m.exec("EventWalletsEmpty"); err != nil {
		return err
	}
	which := "true" // without memory, for all events
	if m.pairs.loaded {
		which = statements.Get("InEventScope")
	}
	if m.regroups || !m.pairs.loaded {
		if err := m.exec("EventsAfter", "@events", marketEvents(which)); err != nil {
			return err
		}
	}
	regrouped, err := m.regroup()
	if err != nil {
		return err
	}
	if !m.pairs.loaded {
		return m.exec("CountFirsts")
	}
	if m.regroups {
		if err := m.pairs.events.follow(m.ctx, m.conn); err != nil {
			return err
		}
	}
	counts := m.pairs.countFirsts(regrouped)
	rows := make([][]driver.Value, 0, len(counts))
	for market, n := range counts {
		rows = append(rows, []driver.Value{market, n})
	}
	return engine.AppendTemp(m.conn, "n_event_wallets", len(rows), func(i int) []driver.Value { return rows[i] })
}

// regroup recounts events whose grouping changed, and returns their markets.
func (m *merge) regroup() (map[int32]bool, error) {
	if !m.regroups && m.pairs.loaded {
		return nil, nil
	}
	if !m.regroups {
		return nil, m.exec("NoneRegrouped")
	}
	if err := m.exec("EventsRegrouped"); err != nil {
		return nil, err
	}
	markets := map[int32]bool{}
	err := engine.EachValue(m.ctx, m.conn, statements.Get("RegroupedMarkets"), func(market int32) error {
		markets[market] = true
		return nil
	})
	if err != nil || len(markets) == 0 {
		return nil, err
	}
	which, _, err := m.few(statements.Get("RegroupedTokens"))
	if err != nil {
		return nil, err
	}
	return markets, m.exec("CountRegrouped", "@positions", statements.Get("HoldingsOfTouched", "@among", oneOf("token", which)))
}
