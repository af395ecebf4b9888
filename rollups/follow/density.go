package follow

import "slices"

// How densities are kept: by part of a minute and a day of blocks, which come every 1.5 s.
const (
	dayBlocks    = 57_600
	bucketBlocks = 40
	mostBuckets  = 4 * dayBlocks / bucketBlocks
	leastBuckets = 10 // of which a median is one
)

// densities remember how many logs a block has had where.
type densities struct {
	buckets map[int64]bucket
}

// bucket is how many logs some blocks have.
type bucket struct{ blocks, logs int64 }

// add takes in more blocks; what came long before counts less and less.
func (b *bucket) add(blocks, logs int64) {
	if b.blocks+blocks > 2*dayBlocks {
		b.blocks, b.logs = b.blocks/2, b.logs/2
	}
	b.blocks, b.logs = b.blocks+blocks, b.logs+logs
}

// mean is how many logs a block has.
func (b bucket) mean() float64 { return float64(b.logs) / float64(max(b.blocks, 1)) }

// add takes in a range that is committed.
func (d *densities) add(from, to, logs int64) {
	if d.buckets == nil {
		d.buckets = map[int64]bucket{}
	}
	n := to - from + 1
	for at := from / bucketBlocks; at <= to/bucketBlocks; at++ {
		part := min(to+1, (at+1)*bucketBlocks) - max(from, at*bucketBlocks)
		b := d.buckets[at]
		d.buckets[at] = bucket{b.blocks + part, b.logs + logs*part/n}
	}
	for at := range d.buckets {
		if len(d.buckets) <= mostBuckets {
			break
		}
		if at != from/bucketBlocks {
			delete(d.buckets, at)
		}
	}
}

// median is that of the logs a block has within a day of a block; false where too little is
// known.
func (d *densities) median(block int64) (float64, bool) {
	var list []float64
	for at, b := range d.buckets {
		if off := at*bucketBlocks - block; off <= dayBlocks && off >= -dayBlocks {
			list = append(list, b.mean())
		}
	}
	if len(list) < leastBuckets {
		return 0, false
	}
	slices.Sort(list)
	return list[len(list)/2], true
}

// When the number of logs of a range is odd: none in so many blocks, or, where at least so
// many are expected, that many times fewer or more.
const (
	emptyBlocks = 20
	leastLogs   = 20
	oddTimes    = 5
)

// The reasons why a range is asked for again.
const (
	tooEmpty = "no_logs_in_many_blocks"
	tooFew   = "far_fewer_logs_than_usual"
	tooMany  = "far_more_logs_than_usual"
)

// odd reports why the number of logs of a range is odd, "" if it is not.
func (d *densities) odd(from, to, logs int64) string {
	if logs == 0 && to-from+1 >= emptyBlocks {
		return tooEmpty
	}
	usual, known := d.median(from + (to-from)/2)
	expected := usual * float64(to-from+1)
	switch {
	case !known || expected < leastLogs:
		return ""
	case float64(logs) < expected/oddTimes:
		return tooFew
	case float64(logs) > expected*oddTimes:
		return tooMany
	}
	return ""
}
