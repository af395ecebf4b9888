package api

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"pmx/rollups/serving"
)

// The weights of cache entries, computed by hand.
func TestCacheEntriesWeighWhatTheyReference(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for name, c := range map[string]struct {
		v    any
		want uint64
	}{
		"nothing":              {nil, 0},
		"a number":             {int64(7), 8},
		"a text":               {long, 16 + 1000},
		"bytes":                {make([]byte, 5, 4000), 24 + 4000},
		"a named list":         {make(summary, 9, 700), 24 + 700},
		"a list":               {make([]int64, 3, 500), 24 + 8*500},
		"texts":                {[]string{long, "ab"}, 24 + 2*16 + 1002},
		"lists of lists":       {[][]int32{make([]int32, 10), nil}, 24 + 2*24 + 40},
		"an array":             {[2]string{"abc", ""}, 32 + 3},
		"a struct":             {marketRead{texts: serving.MarketTexts{Description: long}}, 24 + 3*16 + 8 + 1000},
		"a pointer":            {&[1000]int64{}, 8},
		"a value of some type": {[]any{long}, 24 + 16 + 16 + 1000},
		"a map":                {map[int64]string{1: "abc"}, 8 + 2*25 + 3},
	} {
		if got := uint64(newCacheEntry(c.v).weight); got != entryOverhead+c.want {
			t.Errorf("%s: got %d, want %d", name, got, entryOverhead+c.want)
		}
	}
	fills := make([]serving.Fill, 1000)
	if got := newCacheEntry(fills).weight; got < 1000*80 {
		t.Errorf("1,000 fills weigh %d", got)
	}
	if got := newCacheEntry([]byte(nil)).weight; got != entryOverhead+24 {
		t.Errorf("no bytes: %d", got)
	}
}

// The cache does not exceed its limit, however large the results.
func TestReadCacheIsBounded(t *testing.T) {
	reads, err := newReadCache()
	if err != nil {
		t.Fatal(err)
	}
	a, v := &API{readCache: reads}, &encodedSnapshot{snap: &serving.Snapshot{}}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	const each = 20_000 // fills: 1.6 MB
	for i := range 200 {
		_, err := cachedRead(a, v, fmt.Sprint("fills ", i), func(context.Context) ([]serving.Fill, error) { return make([]serving.Fill, each), nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	reads.cache.CleanUp()
	if held := int64(heap()) - int64(before); held > maxReadCacheBytes*5/4 {
		t.Errorf("%d MB are held, %d MB may be", held>>20, maxReadCacheBytes>>20)
	}
	if w := reads.cache.WeightedSize(); w > maxReadCacheBytes || w < maxReadCacheBytes/2 {
		t.Errorf("it weighs %d", w)
	}
	runtime.KeepAlive(a)
}
