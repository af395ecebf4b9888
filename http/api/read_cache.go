package api

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
)

// Reader answers what the snapshot in memory does not hold. Every method is
// called with a deadline and gives rows in a total order.
type Reader interface {
	traderReader
	marketReader
	eventReader
	whaleReader
	weatherReader
	leaderboardReader
}

const (
	// readTimeout bounds a read of the database: Fiber does not tell when a
	// client goes away.
	readTimeout = 5 * time.Second
	// maxReadCacheBytes bounds the results of reads that are kept for equal requests.
	maxReadCacheBytes = 64 << 20
)

// readCache keeps the results of reads. The epoch is part of every key, so nothing has to
// be invalidated; concurrent equal requests share one read.
type readCache struct {
	cache *otter.Cache[string, cacheEntry]
	asked atomic.Uint64
	reads atomic.Uint64
}

func newReadCache() (*readCache, error) {
	cache, err := otter.New(&otter.Options[string, cacheEntry]{
		MaximumWeight: maxReadCacheBytes,
		Weigher: func(key string, k cacheEntry) uint32 {
			return k.weight + min(uint32(len(key)), math.MaxUint32-k.weight)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("read cache: %w", err)
	}
	return &readCache{cache: cache}, nil
}

// cachedRead returns what load gave for key in the epoch of v; concurrent callers share one call of
// load. The result is shared and must not be changed.
func cachedRead[T any](a *API, v *encodedSnapshot, key string, load func(ctx context.Context) (T, error)) (T, error) {
	return cachedReadOf(a, v.snap.Epoch, key, load)
}

// cachedReadOf is cachedRead of the snapshot with a given epoch.
func cachedReadOf[T any](a *API, epoch uint64, key string, load func(ctx context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	full := fmt.Sprintf("%d %s", epoch, key)
	a.readCache.asked.Add(1)
	got, err := a.readCache.cache.Get(ctx, full, otter.LoaderFunc[string, cacheEntry](func(ctx context.Context, _ string) (cacheEntry, error) {
		a.readCache.reads.Add(1)
		v, err := load(ctx)
		if err != nil {
			return cacheEntry{}, err
		}
		return newCacheEntry(v), nil
	}))
	if err != nil {
		var zero T
		return zero, fmt.Errorf("read %s: %w", key, err)
	}
	return got.value.(T), nil
}

// CachedReads counts, since the start, the reads of the database that were asked for, and
// those of them that were done: the others had a result that was kept, or shared one.
func (a *API) CachedReads() (asked, done uint64) {
	done = a.readCache.reads.Load() // first: one that is asked for meanwhile must not be done before
	return a.readCache.asked.Load(), done
}
