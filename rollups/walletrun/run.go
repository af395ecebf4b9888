package walletrun

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sort"
	"sync/atomic"

	"pmx/data"
	"pmx/rollups/serving"
)

// run is an open file. It is read by slice, without a call of the system, and
// unmapped once nobody reads it any more.
type run struct {
	h     header
	bytes []byte
	part  [sections][]byte
	users atomic.Int64 // the owner and every reader at work; 0: unmapped
}

// openRun maps a finished file.
func openRun(path string) (*run, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() < headerSize {
		return nil, fmt.Errorf("%s: %d bytes: %w", path, st.Size(), ErrFormat)
	}
	b, err := mapFile(f, int(st.Size()))
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	r := &run{bytes: b}
	if r.h, err = decodeHeader(b); err == nil && r.h.size() != uint64(len(b)) {
		err = fmt.Errorf("%d bytes, want %d: %w", len(b), r.h.size(), ErrFormat)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), unmap(b))
	}
	for s := range r.part {
		from, to := r.h.span(s)
		r.part[s] = b[from:to:to]
	}
	r.users.Store(1)
	return r, nil
}

// scattered tells the system that the file will be read here and there: what lies
// beside is of other wallets, and where the file is larger than memory, reading
// ahead would only push out what is used. A file that is read from front to back
// is opened without.
func (r *run) scattered() *run {
	adviseRandom(r.bytes)
	return r
}

// longSpan is from how many bytes on rows are asked for at once; up to there, a
// call of the system costs more than it spares.
const longSpan = 64 << 10

// ahead asks for the rows from lo to hi, which are about to be read in order.
func (r *run) ahead(lo, hi int) {
	if (hi-lo)*rowSize >= longSpan {
		adviseNeeded(r.part[rows], lo*rowSize, hi*rowSize)
	}
}

// take keeps the run mapped until drop; false where it is unmapped already.
func (r *run) take() bool {
	for {
		n := r.users.Load()
		if n == 0 {
			return false
		}
		if r.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// drop ends a use; the last one unmaps.
func (r *run) drop() error {
	if r.users.Add(-1) > 0 {
		return nil
	}
	return unmap(r.bytes)
}

// wallets is one more than the largest wallet id with rows.
func (r *run) wallets() int { return int(r.h.counts[index]) - 1 }

// span gives the places of a wallet's rows; equal where it has none.
func (r *run) span(wallet int32) (lo, hi int) {
	if wallet < 0 || int(wallet) >= r.wallets() {
		return 0, 0
	}
	b := r.part[index][int(wallet)*indexSize:]
	return int(binary.LittleEndian.Uint64(b)), int(binary.LittleEndian.Uint64(b[indexSize:]))
}

func (r *run) row(i int) row { return getRow(r.part[rows][i*rowSize:]) }

// widePart is what of a row lies elsewhere; nil where nothing does.
func (r *run) widePart(w *row) []byte {
	if !w.wide() {
		return nil
	}
	return r.part[wide][w.shares()*wideSize:][:wideSize]
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
		copy(h[:], r.part[txs][uint64(ordinal)*hashSize:])
	}
	return h
}

// compare orders fill i of r and fill j of o.
func (r *run) compare(i int, o *run, j int) int {
	x, y := r.row(i), o.row(j)
	if c := cmp.Compare(x.seconds(), y.seconds()); c != 0 {
		return c
	}
	a, b := r.fill(i), o.fill(j)
	return a.Compare(&b)
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
	n := int(r.h.counts[heavy]) - 1
	at := func(i, field int) uint64 { return binary.LittleEndian.Uint64(r.part[heavy][i*heavySize+8*field:]) }
	i := sort.Search(n, func(i int) bool { return at(i, 0) >= uint64(wallet) })
	if i >= n || at(i, 0) != uint64(wallet) {
		return nil, nil, false
	}
	return r.part[tokens][at(i, 1)*tokenSize : at(i+1, 1)*tokenSize], r.part[days][at(i, 2)*daySize : at(i+1, 2)*daySize], true
}
