package serving

import (
	"slices"

	"pmx/rollups/index"
)

// IndexChunk is how many hours of the index history lie in one block, which
// snapshots share until one of them changes.
const IndexChunk = 168

// Index is the PMX index and its history.
type Index struct {
	Bucket    int32        // of the latest instant up to AsOf; 0: there is none yet
	Now       index.Inputs // at that instant
	DayBefore index.Inputs // 24 hours earlier
	// FirstHour is the first hour of Hours, since 1970; the last one is the hour of Bucket, and may
	// be unfinished.
	FirstHour int64
	Hours     [][]index.Bars // blocks of IndexChunk, the last one shorter
}

// Len is how many hours the history has.
func (x *Index) Len() int {
	if x == nil || len(x.Hours) == 0 {
		return 0
	}
	n := len(x.Hours) - 1
	return n*IndexChunk + len(x.Hours[n])
}

// Hour is the i-th hour of the history, 0 ≤ i < Len.
func (x *Index) Hour(i int) *index.Bars { return &x.Hours[i/IndexChunk][i%IndexChunk] }

// Equal reports whether x and o are the same.
func (x *Index) Equal(o *Index) bool {
	if x == nil || o == nil {
		return x == o
	}
	return x.Bucket == o.Bucket && x.Now == o.Now && x.DayBefore == o.DayBefore && x.FirstHour == o.FirstHour &&
		slices.EqualFunc(x.Hours, o.Hours, slices.Equal[[]index.Bars])
}
