package keeper

import (
	"errors"
	"time"

	"pmx/engine"
	"pmx/rollups/serving"
)

// Freshness has the values that status grades are computed from.
func (k *Keeper) Freshness() serving.Freshness {
	if f := k.freshness.Load(); f != nil {
		return *f
	}
	return serving.Freshness{}
}

func (k *Keeper) updateFreshness(f func(*serving.Freshness)) {
	k.noting.Lock()
	defer k.noting.Unlock()
	next := k.Freshness()
	f(&next)
	k.freshness.Store(&next)
}

func stamp(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

// noteDiskSpace records, from how work ended, whether the disk is full, and logs a change.
func (k *Keeper) noteDiskSpace(err error) {
	full := errors.Is(err, engine.ErrDiskFull)
	if err != nil && !full || k.Freshness().DiskFull == full {
		return
	}
	if !full && k.db.CheckSpace() != nil {
		return // the work had nothing to write
	}
	k.updateFreshness(func(f *serving.Freshness) { f.DiskFull = full })
	if k.live == nil {
		return // a command says it itself
	}
	if full {
		k.cfg.Log.Error().Err(err).Msg("the disk is full: imports are refused, and existing data is still served")
		return
	}
	k.cfg.Log.Info().Msg("the disk has room again")
}
