package serving

import (
	"cmp"
	"slices"

	"pmx/data"
)

// firstRows keeps the first n of the rows that are added. Sorting all of them for a few takes several times as long.
type firstRows struct {
	n    int
	tie  func(x, y int32) int // orders two rows of equal figures
	kept []rankedRow
	full bool // only rows before the n-th of kept matter
}

// rankedRow is a row and the figures that it is ranked by, the largest first.
type rankedRow struct {
	first, second data.Micro
	row           int32
}

func (f *firstRows) compare(x, y *rankedRow) int {
	if c := cmp.Or(cmp.Compare(y.first, x.first), cmp.Compare(y.second, x.second)); c != 0 {
		return c
	}
	return f.tie(x.row, y.row)
}

// add adds a row.
func (f *firstRows) add(p rankedRow) {
	if f.full && f.compare(&p, &f.kept[f.n-1]) >= 0 {
		return
	}
	if f.kept = append(f.kept, p); f.n > 0 && len(f.kept) == 2*f.n {
		f.sort()
		f.kept, f.full = f.kept[:f.n], true
	}
}

func (f *firstRows) sort() {
	slices.SortFunc(f.kept, func(x, y rankedRow) int { return f.compare(&x, &y) })
}

// below reports whether a row whose first figure is this one is not among the first n.
func (f *firstRows) below(first data.Micro) bool { return f.full && first < f.kept[f.n-1].first }

// sorted returns the first n in order.
func (f *firstRows) sorted() []rankedRow {
	f.sort()
	return f.kept[:min(f.n, len(f.kept))]
}
