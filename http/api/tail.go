package api

import (
	"context"
	"fmt"
	"math"
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
	indexReader
	weatherReader
}

const (
	// readTimeout bounds a read of the database: Fiber does not tell when a
	// client goes away.
	readTimeout = 5 * time.Second
	// keepReads bounds the results of reads that are kept for equal requests.
	keepReads = 64 << 20
)

// reads keeps the results of reads. The epoch is part of every key, so nothing
// is ever invalidated; equal requests at once read once.
type reads struct{ cache *otter.Cache[string, kept] }

func newReads() (*reads, error) {
	cache, err := otter.New(&otter.Options[string, kept]{
		MaximumWeight: keepReads,
		Weigher:       func(key string, k kept) uint32 { return k.weight + min(uint32(len(key)), math.MaxUint32-k.weight) },
	})
	if err != nil {
		return nil, fmt.Errorf("read cache: %w", err)
	}
	return &reads{cache: cache}, nil
}

// remember gives what load gave for key in the view's epoch, calling it once for
// any number of callers. The result is shared and must not be changed.
func remember[T any](a *API, v *view, key string, load func(ctx context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	full := fmt.Sprintf("%d %s", v.snap.Epoch, key)
	got, err := a.reads.cache.Get(ctx, full, otter.LoaderFunc[string, kept](func(ctx context.Context, _ string) (kept, error) {
		v, err := load(ctx)
		if err != nil {
			return kept{}, err
		}
		return keep(v), nil
	}))
	if err != nil {
		var zero T
		return zero, fmt.Errorf("read %s: %w", key, err)
	}
	return got.value.(T), nil
}
