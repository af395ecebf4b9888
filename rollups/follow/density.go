package follow

import "slices"

// Densities are stored by part of a minute and day of blocks; a block takes 1.5 s.
const (
	dayBlocks    = 57_600
	bucketBlocks = 40
	mostBuckets  = 4 * dayBlocks / bucketBlocks
	leastBuckets = 10 // over which a median is taken
)

// densities stores the numbers of logs per block in parts of the chain.
type densities struct {
	buckets map[int64]bucket
}

// bucket is a number of blocks and of their logs.
type bucket struct{ blocks, logs int64 }

// add adds blocks; old ones count less and less.
func (b *bucket) add(blocks, logs int64) {
	if b.blocks+blocks > 2*dayBlocks {
		b.blocks, b.logs = b.blocks/2, b.logs/2
	}
	b.blocks, b.logs = b.blocks+blocks, b.logs+logs
}

// mean is the number of logs per block.
func (b bucket) mean() float64 { return float64(b.logs) / float64(max(b.blocks, 1)) }

// add adds a committed range.
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

// median returns the median number of logs per block within a day of a block; false if too little
// is known.
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

// When the number of logs of a range is unusual: none in so many blocks, or, if at least so many
// are expected, so many times fewer or more.
const (
	emptyBlocks = 20
	leastLogs   = 20
	oddTimes    = 5
)

// The reasons why a range is requested again.
const (
	tooEmpty = "no_logs_in_many_blocks"
	tooFew   = "far_fewer_logs_than_usual"
	tooMany  = "far_more_logs_than_usual"
)

// odd returns why the number of logs of a range is unusual; "" if it is not.
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
