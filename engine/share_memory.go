package engine

import (
	"context"
	"database/sql"
	"errors"
	"os"
)

const (
	// heapMargin is the memory Go gets in excess of the live heap and a quarter of it. With less, the collector would
	// take much of the processor time.
	heapMargin int64 = 64_000_000
	// shareSteps is in how many steps Go's part grows: DuckDB's limit need not follow every change of the heap.
	shareSteps int64 = 32
	// leastShare is the part of its half that DuckDB keeps, whatever Go needs: a third.
	leastShare int64 = 3
)

// forHeap returns the parts for a live heap of so many bytes: Go's half, or more of DuckDB's if the heap needs it.
func (m Memory) forHeap(live int64) Memory {
	need := live + live/4 + heapMargin
	if need <= m.Go || m.Total < LeastMemory {
		return m
	}
	step := m.Total / shareSteps
	more := min((need-m.Go+step-1)/step*step, m.DuckDB-m.DuckDB/leastShare)
	m.Go, m.DuckDB = m.Go+more, m.DuckDB-more
	return m
}

// ShareMemory divides the memory of Options.Memory by what Go's live heap needs: a venue of many wallets and markets takes
// more than half of a small limit, and with too little Go would do little else than collect garbage. conn must be that of a Write. It does nothing
// without Options.Memory, and if GOMEMLIMIT is set in the environment. If DuckDB has more in use than its new limit, it fails and changes nothing.
func (db *DB) ShareMemory(ctx context.Context, conn *sql.Conn) error {
	if _, told := os.LookupEnv("GOMEMLIMIT"); told || db.opts.Memory == nil {
		return nil
	}
	return db.shareMemory(ctx, conn, db.opts.Memory.forHeap(liveHeap()))
}

func (db *DB) shareMemory(ctx context.Context, conn *sql.Conn, m Memory) error {
	db.bound.mu.Lock()
	defer db.bound.mu.Unlock()
	to := m.DuckDBLimit(1)
	if to == db.bound.usual {
		return nil
	}
	if db.bound.limit == "" {
		if err := setLimit(ctx, conn, to); err != nil {
			return errors.Join(err, setLimit(ctx, conn, db.bound.usual)) // DuckDB says that it has the new one
		}
	}
	db.bound.usual = to
	m.LimitGo()
	return nil
}
