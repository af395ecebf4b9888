// Package follow keeps a venue current from its sources. Its lanes send requests, check the
// responses, and commit what is proved complete.
package follow

import (
	"context"
	"database/sql"

	"pmx/engine/ingest"
)

// Venue is what lanes commit to; rollups/keeper implements it.
type Venue interface {
	// Commit imports rows in one transaction with what their Within does. coming is what the lane
	// expects to import until it has caught up.
	Commit(ctx context.Context, rows ingest.Rows, coming ingest.Remaining) (ingest.Receipt, error)
	Read(ctx context.Context, f func(conn *sql.Conn) error) error
}
