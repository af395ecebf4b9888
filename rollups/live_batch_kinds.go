package rollups

import (
	"context"
	"database/sql"

	"pmx/engine"
)

// batchKinds are the kinds of facts besides fills in the batch merged last, as BatchKinds names
// them. Kinds that it does not have are not queried. It is empty for a batch of fills alone.
type batchKinds map[string]bool

// readKinds reads them of the batch merged last on conn.
func readKinds(ctx context.Context, conn *sql.Conn) (batchKinds, error) {
	kinds := batchKinds{}
	err := engine.EachValue(ctx, conn, statements.Get("BatchKinds"), func(kind string) error {
		kinds[kind] = true
		return nil
	})
	return kinds, err
}

// has reports whether the batch has any of the named kinds.
func (p batchKinds) has(any ...string) bool {
	for _, name := range any {
		if p[name] {
			return true
		}
	}
	return false
}
