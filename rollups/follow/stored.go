package follow

import (
	"context"
	"database/sql"
	"time"

	"pmx/data/chain"
	"pmx/engine/ledger"
)

// Stopped is the phase of a source that is not being followed.
const Stopped Phase = "STOPPED"

// StoredChain returns the stored status of the chain lane of a venue that is not being followed:
// what is committed. It does not know the current block of nodes.
func StoredChain(ctx context.Context, v Venue, contracts []chain.Contract, now time.Time) (ChainStatus, error) {
	c := &Chain{o: ChainOptions{Venue: v, Now: func() time.Time { return now }}, progress: now, wake: make(chan struct{})}
	c.stats = ChainStatus{Source: chainSource, Phase: Stopped}
	err := v.Read(ctx, func(conn *sql.Conn) error {
		text, err := ledger.Cursor(ctx, conn, chainSource)
		if err != nil {
			return err
		}
		c.memory, err = readMemory(text)
		return err
	})
	if err != nil {
		return ChainStatus{}, err
	}
	c.asking = c.memory.asked(contracts)
	if err := c.reload(ctx); err != nil {
		return ChainStatus{}, err
	}
	newest := int64(0)
	for _, rs := range c.ranges {
		for _, r := range rs {
			newest = max(newest, r.To)
			c.stats.Logs += r.Logs
			c.stats.Fills += r.Fills
			if r.FetchedAt.After(c.stats.LastCommit) {
				c.stats.LastCommit = r.FetchedAt
			}
		}
	}
	if newest > 0 {
		c.head.Number = newest
		c.replan()
	}
	s := c.status()
	s.Phase, s.CatchingUp = Stopped, false
	return s, nil
}

// StoredMarkets returns the stored status of the markets lane of a venue that is not being
// followed: when it last committed something; nil if it never did.
func StoredMarkets(ctx context.Context, v Venue) (*MarketsStatus, error) {
	at, err := storedAt(ctx, v, "LastOfMarkets")
	if err != nil || at.IsZero() {
		return nil, err
	}
	return &MarketsStatus{Tasks: []MarketTask{{Name: "all", Phase: Stopped, LastGood: at}}}, nil
}

// StoredQuotes returns the stored status of the quotes lane of a venue that is not being followed:
// the time of the newest quote; nil if there is none.
func StoredQuotes(ctx context.Context, v Venue) (*QuotesStatus, error) {
	at, err := storedAt(ctx, v, "LastQuote")
	if err != nil || at.IsZero() {
		return nil, err
	}
	return &QuotesStatus{Phase: Stopped, AsOf: at}, nil
}

// storedAt reads a time; zero if there is none.
func storedAt(ctx context.Context, v Venue, query string) (at time.Time, err error) {
	err = v.Read(ctx, func(conn *sql.Conn) error {
		var us sql.NullInt64
		if err := conn.QueryRowContext(ctx, tellStatements.Get(query)).Scan(&us); err != nil || !us.Valid {
			return err
		}
		at = time.UnixMicro(us.Int64).UTC()
		return nil
	})
	return at, err
}
