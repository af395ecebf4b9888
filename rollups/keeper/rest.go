package keeper

import (
	"context"
	"database/sql"
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
	// firstBuildMemory is how much DuckDB keeps while files are written that have all facts, each of which is read
	// once; firstBuildGarbage is how much garbage Go may hold then, and evictAgain how often DuckDB's blocks are evicted.
	firstBuildMemory  = 512 << 20
	firstBuildGarbage = 128 << 20
	evictAgain        = time.Second
	// idleCollections is how often Go collects garbage if nothing is allocated.
	idleCollections = 2 * time.Minute
)

// activity says how much a server has done.
type activity struct {
	at          time.Time // when this was counted; zero: never
	reads       int64     // queries of the database
	collections int64     // of Go's garbage that were due
}

// rest returns memory that was not used for a minute: the blocks that DuckDB has read, if there was no query since, and Go's garbage, if
// there were no more collections than an idle process has. A start reads all tables and leaves as much garbage as live data, and a
// server with few requests would keep both. A busy one would need both again at once. The caller does the keeper's work.
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
	idle := int64(now.at.Sub(was.at) / idleCollections)
	if now.collections <= was.collections+idle && engine.SpareHeap() > max(spareHeap, engine.LiveHeap()/4) {
		engine.ReturnMemory()
	}
	k.activity = now
}

// firstBuild keeps the memory small while files are written that have all facts, which needs buffers of its own. The function that
// it returns ends this, and returns the memory. At the end of a catch-up the memory has lower limits already.
func (k *Keeper) firstBuild() (end func()) {
	if k.writesBehind.Load() && k.db.Bounded() {
		return func() { k.releaseFacts(k.ctx) }
	}
	engine.BoundGarbage(firstBuildGarbage)
	engine.ReturnMemory() // a start leaves much garbage
	ctx, stop := context.WithCancel(k.ctx)
	evicting := guard.Start(func() error {
		again := time.NewTicker(evictAgain)
		defer again.Stop()
		for ctx.Err() == nil {
			engine.BoundGarbage(firstBuildGarbage) // its buffers are live
			k.evict(ctx)
			select {
			case <-again.C:
			case <-ctx.Done():
			}
		}
		return nil
	})
	return func() {
		stop()
		failed := <-evicting
		engine.BoundGarbage(0) // a following server bounds it again within a minute
		k.releaseFacts(k.ctx)
		_ = guard.Repanic(failed)
	}
}

// evict makes DuckDB release blocks that the build has read, unless somebody queries the database.
func (k *Keeper) evict(ctx context.Context) {
	k.blocksReleased(ctx, k.db.Write(ctx, func(conn *sql.Conn) error { return k.db.EvictBlocks(ctx, conn, firstBuildMemory) }))
}
