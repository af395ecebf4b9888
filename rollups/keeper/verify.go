package keeper

import (
	"context"
	"database/sql"
	"errors"

	"pmx/rollups"
	"pmx/rollups/walletrun"
)

// verifyLive proves that what is served equals what the database would be
// loaded as now.
func (k *Keeper) verifyLive(ctx context.Context) []rollups.Check {
	check := rollups.Check{Name: "snapshot_current"}
	fresh := &rollups.Live{Venue: k.cfg.Venue, Cities: k.cfg.Feeds.Cities}
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

// verifyWallets proves the file in wallet order: the one that is served from, or
// the one that the next server would find.
func (k *Keeper) verifyWallets(ctx context.Context) (check rollups.Check, err error) {
	w := k.wallets
	if w == nil {
		w = &wallets{store: walletrun.New(k.db.Dir().Runs())}
		defer func() { err = errors.Join(err, w.store.Close()) }()
	}
	err = k.db.Write(ctx, func(conn *sql.Conn) error {
		if k.wallets == nil {
			if err := w.open(ctx, conn); err != nil {
				return err
			}
		}
		check, err = rollups.VerifyWallets(ctx, conn, w.store)
		return err
	})
	return check, err
}
