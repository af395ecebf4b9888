package rollups

import (
	"context"
	"database/sql"
	"fmt"

	"pmx/engine"
	"pmx/engine/guard"
)

// ofFacts are rollups that follow from the facts and from each other, in the order of tables. Summing up positions and candles keeps little more
// than one processor busy, so these are made meanwhile.
var ofFacts = map[string]bool{"wallet_day": true, "token_day": true, "token_total": true, "platform_hour": true, "platform_day": true}

// beside runs f while a second connection makes ofFacts. It sets s.factsMade if these were made; otherwise, without an error, memory was too
// short for both, or somebody waits to close the database, and they are made later.
func (s *stretchSorter) beside(f func() error) (err error) {
	ctx, stop := context.WithCancel(s.ctx)
	defer stop()
	ran, whole := false, false
	done := guard.Start(func() (err error) {
		ran, err = s.db.WriteBeside(ctx, func(conn *sql.Conn) error { return s.makeOfFacts(ctx, conn) })
		return err
	})
	defer func() { // also after a panic: nobody works for this rebuild any more
		if !whole {
			stop()
		}
		other := guard.Repanic(<-done)
		s.factsMade = ran && whole && other == nil
		if whole && !engine.ShortOfMemory(other) {
			err = other
		}
	}()
	err = f()
	whole = err == nil
	return err
}

// makeOfFacts makes ofFacts on conn, in half of the memory that DuckDB has meanwhile.
func (s *stretchSorter) makeOfFacts(ctx context.Context, conn *sql.Conn) error {
	p, err := newChunker(ctx, conn, s.most)
	if err != nil {
		return err
	}
	p.rows = max(1, p.rows/2)
	b := &rebuilder{ctx: ctx, conn: conn, asOf: s.asOf, suffix: s.suffix, chunker: p}
	for _, t := range tables {
		if ofFacts[t.name] {
			if err := b.build(t, b.storeNew); err != nil {
				return fmt.Errorf("rebuild %s: %w", t.name, err)
			}
		}
	}
	return nil
}
