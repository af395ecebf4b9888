package keeper

import (
	"context"
	"time"

	"pmx/engine"
	"pmx/engine/guard"
)

const (
	// restAfter is how long memory has not been used before it is returned.
	restAfter = time.Minute
	// spareHeap is how much Go may hold beyond its live heap while a server rests, or a quarter of the live heap
	// if that is more: less is not worth a collection.
	spareHeap = 64 << 20
	// firstBuildMemory is DuckDB's memory limit while files are written that have all facts: each fact is read once,
	// and keeping its block serves nobody. firstBuildGarbage is how much garbage Go may
	// hold then, and boundAgain how often the limit is set again.
	firstBuildMemory  = 512 << 20
	firstBuildGarbage = 128 << 20
	boundAgain        = time.Second
)

// activity says how much a server has done.
type activity struct {
	at          time.Time // when this was counted; zero: never
	reads       int64     // queries of the database
	collections int64     // of Go's garbage that were due
}

// rest returns memory that nobody has used for a minute: the blocks that DuckDB has read if there was no query since, and Go's garbage if
// no collection was due. The start reads all tables and leaves as much garbage as live data, which a server would otherwise
// keep, however little it is asked. A busy one keeps both, because it would need them again at once. The caller does the keeper's work.
func (k *Keeper) rest(ctx context.Context) {
	now := activity{k.cfg.Now(), k.db.Reads(), engine.Collections()}
	was := k.activity
	if was.at.IsZero() {
		k.activity = now
	}
	if was.at.IsZero() || now.at.Sub(was.at) < restAfter {
		return
	}
	if now.reads == was.reads {
		k.releaseAll(ctx, 0)
		now.reads = k.db.Reads()
	}
	if now.collections == was.collections && engine.SpareHeap() > max(spareHeap, engine.LiveHeap()/4) {
		engine.ReturnMemory()
	}
	k.activity = now
}

// firstBuild keeps the memory small while files are written that have all facts, which needs buffers of its own. The function that
// it returns ends this, and returns the memory. At the end of a catch-up the memory has lower limits already, which stay.
func (k *Keeper) firstBuild() (end func()) {
	if k.db.Bounded() {
		return func() { k.releaseFacts(k.ctx) }
	}
	k.firstBuilding.Store(true)
	engine.BoundGarbage(firstBuildGarbage)
	engine.ReturnMemory() // a start leaves much garbage
	ctx, stop := context.WithCancel(k.ctx)
	bounding := guard.Start(func() error {
		k.boundFirstBuild(ctx)
		return nil
	})
	return func() {
		stop()
		failed := <-bounding
		k.firstBuilding.Store(false)
		k.unbound(k.ctx)
		engine.BoundGarbage(0) // a following server bounds it again within a minute
		k.releaseFacts(k.ctx)
		_ = guard.Repanic(failed)
	}
}

// boundFirstBuild sets DuckDB's limit until ctx ends, again and again: a query of the database restores the usual one, and so does
// an import, before which the limit is not set again until it is done.
func (k *Keeper) boundFirstBuild(ctx context.Context) {
	again := time.NewTicker(boundAgain)
	defer again.Stop()
	for ctx.Err() == nil {
		if k.work.TryLock() {
			k.bound(ctx, firstBuildMemory)
			k.work.Unlock()
		}
		select {
		case <-again.C:
		case <-ctx.Done():
		}
	}
}
