package keeper

import (
	"context"
	"database/sql"
	"errors"

	"pmx/engine"
	"pmx/rollups"
)

// verifyLive checks that what is served equals a fresh load of the database, for which DuckDB gets most bytes.
func (k *Keeper) verifyLive(ctx context.Context, most int64) rollups.Check {
	check := rollups.Check{Name: "snapshot_current"}
	var fresh *rollups.Live
	defer engine.ReturnMemory()
	engine.ReturnMemory()
	err := k.inLittle(ctx, most, func(conn *sql.Conn, bound func()) error {
		bound()
		fresh = &rollups.Live{Venue: k.cfg.Venue, Cities: k.cfg.Feeds.Gazetteer()}
		return fresh.Load(ctx, conn)
	})
	if err != nil {
		check.Detail = err.Error()
		return check
	}
	engine.BoundGarbage(verifyGarbage) // more is live now
	check.Rows, check.Bad = k.live.Snapshot().Compare(fresh.Snapshot())
	fresh = nil
	check.OK = check.Bad == 0
	if !check.OK {
		check.Detail = "what is served differs from the database: restart the service"
	}
	return check
}

// verifySegments verifies the files below segments/: those being served from, or those that the
// next server would find. DuckDB gets most bytes for it.
func (k *Keeper) verifySegments(ctx context.Context, most int64) (checks []rollups.Check, err error) {
	r := k.segments
	if k.pulled != nil {
		return nil, nil // there are none
	}
	if r == nil {
		r = newSegmentSet(k.db.Dir().Segments(), k.Snapshot)
		defer func() { err = errors.Join(err, r.close()) }()
		if err := k.db.Write(ctx, func(conn *sql.Conn) error { return r.open(ctx, conn) }); err != nil {
			return nil, err
		}
	}
	err = k.inLittle(ctx, most, func(conn *sql.Conn, bound func()) error {
		bound()
		if checks, err = rollups.VerifyFillSegments(ctx, conn, r.wallets, r.tokens); err != nil {
			return err
		}
		texts, err := rollups.VerifyTextSegment(ctx, conn, r.texts)
		checks = append(checks, texts)
		return err
	})
	return checks, err
}
