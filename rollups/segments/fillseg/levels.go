package fillseg

import "pmx/rollups/segments"

// maxLevels is the maximum number of files that a Build leaves. More would be written less often
// and read more slowly: with 12, each fill is written 3.6 times while a venue grows to a thousand
// million fills.
const maxLevels = 12

// mergeFrom returns how many files, of these sizes and the first one first, a new one of this many
// bytes leaves as they are: it takes in the others. As long as there may be one more file, it takes
// in none. Then it takes in the files from the one on that is the smallest compared with all newer
// ones together: so the least is written again for each new fill.
func mergeFrom(sizes []uint64, added uint64, most int) (kept int) {
	if len(sizes) < most {
		return len(sizes)
	}
	newer, least := float64(max(added, 1)), 0.0
	kept = len(sizes) - 1
	for i := len(sizes) - 1; i >= 0; i-- {
		if share := float64(sizes[i]) / newer; i == len(sizes)-1 || share <= least {
			kept, least = i, share
		}
		newer += float64(sizes[i])
	}
	return min(kept, most-1)
}

func fileSizes(files []*segments.File) []uint64 {
	out := make([]uint64, len(files))
	for i, f := range files {
		out[i] = f.Size()
	}
	return out
}

// superseded returns how many fills of the files do not count any more if a later file has all of some keys.
func (k *kind) superseded(files []*segments.File, keys []int32) (n int64) {
	for _, key := range keys {
		v := lookup{kind: k, key: key}
		v.findIn(files)
		for i := range v.spans[:v.n] {
			p := &v.spans[i]
			of := p.keyRows(p.lo, p.hi, nil)
			n += int64(of.n)
		}
	}
	return n
}
