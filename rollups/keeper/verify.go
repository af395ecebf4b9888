package keeper

import (
	"context"
	"database/sql"

	"pmx/rollups"
)

// verifyLive proves that what is served equals what the database would be
// loaded as now.
func (k *Keeper) verifyLive(ctx context.Context) []rollups.Check {
	check := rollups.Check{Name: "snapshot_current"}
	fresh := &rollups.Live{Venue: k.cfg.Venue}
	err := k.db.Write(ctx, func(conn *sql.Conn) error { return fresh.Load(ctx, conn) })
	if err != nil {
		check.Detail = err.Error()
		return []rollups.Check{check}
	}
	check.Rows, check.Bad = k.live.Snapshot().Compare(fresh.Snapshot())
	check.OK = check.Bad == 0
	if !check.OK {
		check.Detail = "what is served differs from the database: restart the service"
	}
	return []rollups.Check{check}
}
