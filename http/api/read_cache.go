package api

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
)

// Reader reads what the snapshot in memory does not hold. Every method is called with a deadline
// and returns rows in a total order.
type Reader interface {
	traderReader
	marketReader
	eventReader
	whaleReader
	weatherReader
	leaderboardReader
}

const (
	// readTimeout bounds a read of the database: Fiber does not report when a client disconnects.
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

// cachedRead returns the result of load for key in the epoch of v; concurrent callers share one
// call of load. The result is shared and must not be changed.
func cachedRead[T any](a *API, v *encodedSnapshot, key string, load func(ctx context.Context) (T, error)) (T, error) {
	return cachedReadOf(a, v.snap.Epoch, key, load)
}

// cachedReadOf is cachedRead for a given epoch.
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

// CachedReads counts, since the start, the requested reads of the database, and those that were
// done: the others used a cached result, or shared one.
func (a *API) CachedReads() (asked, done uint64) {
	done = a.readCache.reads.Load() // first: otherwise a read in between could count as done and not as asked
	return a.readCache.asked.Load(), done
}
