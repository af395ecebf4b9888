package keeper

import (
	"context"
	"time"

	"pmx/engine"
)

const (
	// restAfter is how long memory has not been used before it is returned.
	restAfter = time.Minute
	// spareHeap is how much Go may hold beyond its live heap while a server rests, or a quarter of the live heap
	// if that is more: less is not worth a collection.
	spareHeap = 64 << 20
	// firstBuildMemory is DuckDB's memory limit while files are written that have all facts: each fact is read once,
	// and keeping its block serves nobody.
	firstBuildMemory = 512 << 20
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
