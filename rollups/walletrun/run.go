package walletrun

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"sort"

	"pmx/data"
	"pmx/rollups/runfile"
	"pmx/rollups/serving"
)

// run is an open file.
type run struct{ *runfile.File }

// openRun maps a finished file.
func openRun(path string, format *runfile.Format) (*run, error) {
	f, err := runfile.Open(path, format)
	if err != nil {
		return nil, err
	}
	r := &run{f}
	if f.Counts[index] == 0 {
		return nil, errors.Join(fmt.Errorf("%s: no index: %w", path, runfile.ErrFormat), f.Drop())
	}
	return r, nil
}

// longSpan is from how many bytes on rows are asked for at once; up to there, a
// call of the system costs more than it spares.
const longSpan = 64 << 10

// ahead asks for the rows from lo to hi, which are about to be read in order.
func (r *run) ahead(lo, hi int) {
	if (hi-lo)*rowSize >= longSpan {
		r.Ahead(rows, lo*rowSize, hi*rowSize)
	}
}

// wallets is one more than the largest wallet id with rows.
func (r *run) wallets() int { return int(r.Counts[index]) - 1 }

// span gives the places of a wallet's rows; equal where it has none.
func (r *run) span(wallet int32) (lo, hi int) {
	if wallet < 0 || int(wallet) >= r.wallets() {
		return 0, 0
	}
	b := r.Parts[index][int(wallet)*indexSize:]
	return int(binary.LittleEndian.Uint64(b)), int(binary.LittleEndian.Uint64(b[indexSize:]))
}

func (r *run) row(i int) row { return getRow(r.Parts[rows][i*rowSize:]) }

// widePart is what of a row lies elsewhere; nil where nothing does.
func (r *run) widePart(w *row) []byte {
	if !w.wide() {
		return nil
	}
	return r.Parts[wide][w.shares()*wideSize:][:wideSize]
}

// amounts sets all of f to fill i but its transaction.
func (r *run) amounts(i int, f *serving.Fill) {
	w := r.row(i)
	w.unpackTo(f, r.widePart(&w))
}

// fill gives fill i.
func (r *run) fill(i int) serving.Fill {
	w := r.row(i)
	f := w.unpack(r.widePart(&w))
	f.Tx = r.hash(w.tx())
	return f
}

func (r *run) hash(ordinal uint32) (h data.Hash) {
	if ordinal != noTx {
		copy(h[:], r.Parts[txs][uint64(ordinal)*hashSize:])
	}
	return h
}

// compare orders fill i of r and fill j of o.
func (r *run) compare(i int, o *run, j int, k *kind) int {
	x, y := r.row(i), o.row(j)
	if c := cmp.Compare(x.seconds(), y.seconds()); c != 0 {
		return c
	}
	a, b := r.fill(i), o.fill(j)
	return k.order(&a, &b)
}

// below gives how many of the fills lo to hi come before f.
func (r *run) below(lo, hi int, f *serving.Fill) int {
	at := f.TS / second
	return lo + sort.Search(hi-lo, func(i int) bool {
		w := r.row(lo + i)
		if w.seconds() != at {
			return w.seconds() > at
		}
		g := r.fill(lo + i)
		return g.Compare(f) >= 0
	})
}

// sums gives the sums that are kept of a heavy wallet; false of any other.
func (r *run) sums(wallet int32) (tokenSums, daySums []byte, ok bool) {
	n := int(r.Counts[heavy]) - 1
	at := func(i, field int) uint64 { return binary.LittleEndian.Uint64(r.Parts[heavy][i*heavySize+8*field:]) }
	i := sort.Search(n, func(i int) bool { return at(i, 0) >= uint64(wallet) })
	if i >= n || at(i, 0) != uint64(wallet) {
		return nil, nil, false
	}
	return r.Parts[tokens][at(i, 1)*tokenSize : at(i+1, 1)*tokenSize], r.Parts[days][at(i, 2)*daySize : at(i+1, 2)*daySize], true
}
