// Package follow keeps a venue current from its sources: lanes that send requests, check
// the answers, and commit what is proved to be complete.
package follow

import (
	"context"
	"database/sql"

	"pmx/engine/ingest"
)

// Venue is what lanes commit to; rollups/keeper has it.
type Venue interface {
	// Commit brings rows in, in one transaction with what their Within does. coming is
	// what the lane is still to give before it has caught up.
	Commit(ctx context.Context, rows ingest.Rows, coming ingest.Remaining) (ingest.Receipt, error)
	Read(ctx context.Context, f func(conn *sql.Conn) error) error
}
