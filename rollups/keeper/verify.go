package keeper

import (
	"context"
	"database/sql"
	"errors"

	"pmx/rollups"
)

// verifyLive checks that what is served equals a fresh load of the database.
func (k *Keeper) verifyLive(ctx context.Context) []rollups.Check {
	check := rollups.Check{Name: "snapshot_current"}
	fresh := &rollups.Live{Venue: k.cfg.Venue, Cities: k.cfg.Feeds.Gazetteer()}
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

// verifySegments verifies the files below segments/: those being served from, or those that the
// next server would find.
func (k *Keeper) verifySegments(ctx context.Context) (checks []rollups.Check, err error) {
	r := k.segments
	if k.pulled != nil {
		return nil, nil // there are none
	}
	if r == nil {
		r = newSegmentSet(k.db.Dir().Segments(), k.Snapshot)
		defer func() { err = errors.Join(err, r.close()) }()
	}
	err = k.db.Write(ctx, func(conn *sql.Conn) error {
		if k.segments == nil {
			if err := r.open(ctx, conn); err != nil {
				return err
			}
		}
		if checks, err = rollups.VerifyFillSegments(ctx, conn, r.wallets, r.tokens); err != nil {
			return err
		}
		texts, err := rollups.VerifyTextSegment(ctx, conn, r.texts)
		checks = append(checks, texts)
		return err
	})
	return checks, err
}
