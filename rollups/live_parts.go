package rollups

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"pmx/engine"
)

// batchParts are the parts, besides fills, that the batch merged last has any of, as BatchParts
// names them. What it has nothing of is not asked for. Nothing of a batch of fills alone.
type batchParts map[string]bool

// readParts reads them of the batch merged last on conn.
func readParts(ctx context.Context, conn *sql.Conn) (batchParts, error) {
	parts := batchParts{}
	err := engine.Each(ctx, conn, statements.Get("BatchParts"), func(row []driver.Value) error {
		parts[engine.Text(row[0])] = true
		return nil
	})
	return parts, err
}

// has tells whether the batch has any of the named parts.
func (p batchParts) has(any ...string) bool {
	for _, name := range any {
		if p[name] {
			return true
		}
	}
	return false
}
