package walletrun

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"pmx/rollups/serving"
)

// Store answers reads of one wallet from the run and the tail. One goroutine calls
// Open, Restart, Skip and Add, another Build; any number read.
type Store struct {
	dir   string
	heavy int // from how many fills on sums are kept
	slice int // fills sorted at once while building
	sync  func(*os.File) error

	mu    sync.Mutex // held to change state, and what it points to
	state atomic.Pointer[state]
	spare sync.Pool // of *tokenIndex
}

// state is what reads are answered from; both parts change together.
type state struct {
	run   *run  // nil: none
	tail  *tail // nil: the store knows nothing
	ready bool  // run and tail hold every fill up to tail.through
}

// covered is the last batch in the run.
func (st *state) covered() int64 {
	if st.run == nil {
		return -1
	}
	return st.run.h.covers.Batch
}

// sliceFills is how many fills are sorted at once while building: about 40 bytes
// each.
const sliceFills = 2_000_000

// New gives a store with its file in dir, which must exist. It knows nothing
// until Open or Restart.
func New(dir string) *Store {
	s := &Store{dir: dir, heavy: heavyFills, slice: sliceFills, sync: (*os.File).Sync}
	s.state.Store(&state{})
	return s
}

func (s *Store) path() string { return filepath.Join(s.dir, "wallets.run") }

// Open maps the file where there is one that known accepts, and removes what a
// process that was killed left behind. What it covers is at hand from now on;
// what came later is for Add. It tells whether there is such a file.
func (s *Store) Open(known func(Covers) (bool, error)) (bool, error) {
	if err := s.sweep(); err != nil {
		return false, err
	}
	r, err := openRun(s.path())
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, ErrFormat) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	ok, err := known(r.h.covers)
	if err != nil || !ok {
		return false, errors.Join(err, r.drop())
	}
	return true, s.swap(&state{run: r.scattered(), tail: newTail(r.h.covers.Batch, r.h.covers.Batch), ready: true})
}

// Restart makes the store forget everything: what comes after batch is for Add,
// what came up to it for Build. Where there is nothing up to it, all is at hand.
func (s *Store) Restart(batch int64, empty bool) error {
	return s.swap(&state{tail: newTail(batch, batch), ready: empty})
}

// Skip makes the store leave imports up to batch to the next Build, which goes on
// from the file as it is. It must be called only where none of them replaced a
// fill that the store holds.
func (s *Store) Skip(batch int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.state.Load()
	if old.tail == nil || old.tail.dirty.Load() > 0 {
		s.state.Store(&state{tail: newTail(batch, batch)})
		if old.run != nil {
			return old.run.drop()
		}
		return nil
	}
	s.state.Store(&state{run: old.run, tail: newTail(batch, batch)})
	return nil
}

// sweep removes files that were being written.
func (s *Store) sweep() error {
	left, err := filepath.Glob(filepath.Join(s.dir, "*.part*"))
	if err != nil {
		return err
	}
	for _, path := range left {
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("wallet runs: %w", err)
		}
	}
	return nil
}

// swap puts a state in the place of the one before, whose run is unmapped once
// nobody reads it.
func (s *Store) swap(next *state) error {
	s.mu.Lock()
	old := s.state.Swap(next)
	s.mu.Unlock()
	if old.run != nil && old.run != next.run {
		return old.run.drop()
	}
	return nil
}

// Close unmaps the file. Reads that come later find nothing at hand.
func (s *Store) Close() error { return s.swap(&state{}) }

// Batch is what an import changed of the wallets' fills.
type Batch struct {
	Number   int64
	Fills    map[int32][]serving.Fill // by wallet; Add puts them in order
	Replaced []int32                  // wallets of which a fill was taken out
}

// Add takes an import in, which must be later than those before.
func (s *Store) Add(b Batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.state.Load().tail
	if t == nil {
		return
	}
	for wallet, fills := range b.Fills {
		if len(fills) > 0 {
			t.add(wallet, b.Number, fills)
		}
	}
	for _, wallet := range b.Replaced {
		t.mark(wallet, b.Number)
	}
	t.through.Store(max(t.through.Load(), b.Number))
}

// Through is the last batch that was added or is in the run; −1: none.
func (s *Store) Through() int64 {
	if t := s.state.Load().tail; t != nil {
		return t.through.Load()
	}
	return -1
}

// Stats is what a store holds.
type Stats struct {
	Idle  bool  // neither Open nor Restart was called, or it was closed
	Ready bool  // every fill up to Through is at hand, but for the changed wallets
	Run   int64 // fills in the file
	Bytes int64 // of the file
	Tail  int64 // fills beside it
	Dirty int64 // wallets of which a fill in the file was replaced
}

// Stats tells what the store holds.
func (s *Store) Stats() Stats {
	st := s.state.Load()
	var out Stats
	if st.run != nil {
		out.Run, out.Bytes = st.run.h.covers.Fills, int64(len(st.run.bytes))
	}
	out.Idle = st.tail == nil
	if st.tail != nil {
		out.Ready, out.Tail, out.Dirty = st.ready, st.tail.rows.Load(), st.tail.dirty.Load()
	}
	return out
}

// look begins a read; nil where the wallet is not at hand up to batch. The caller
// drops the run of the state.
func (s *Store) look(wallet int32, batch int64) (*state, view) {
	for {
		st := s.state.Load()
		if !st.ready || st.tail.through.Load() < batch {
			return nil, view{}
		}
		w := st.tail.of(wallet)
		if w.changed > 0 {
			return nil, view{}
		}
		v := view{run: st.run, wallet: wallet, tail: w.fills, after: st.covered(), upTo: batch}
		if st.run == nil {
			return st, v
		}
		if st.run.take() {
			v.lo, v.hi = st.run.span(wallet)
			return st, v
		}
	}
}

func (st *state) leave() {
	if st.run != nil {
		_ = st.run.drop() // unmapping fails only for what was never mapped
	}
}

// Has tells whether a wallet's fills of imports up to batch are at hand.
func (s *Store) Has(wallet int32, batch int64) bool {
	st := s.state.Load()
	return st.ready && st.tail.through.Load() >= batch && st.tail.of(wallet).changed == 0
}

// Fills adds the n newest fills of a wallet to dst, newest first, of imports up to
// batch; those before after where it is given. False where they are not at hand.
func (s *Store) Fills(dst []serving.Fill, wallet int32, batch int64, after *serving.Fill, n int) (out []serving.Fill, ok bool) {
	defer s.caught(debug.SetPanicOnFault(true), &ok)
	st, v := s.look(wallet, batch)
	if st == nil {
		return dst, false
	}
	defer st.leave()
	return v.fills(dst, after, n), true
}

// Tokens adds what a wallet did with each token to dst, in no order.
func (s *Store) Tokens(dst []serving.TokenSum, wallet int32, batch int64) (out []serving.TokenSum, ok bool) {
	defer s.caught(debug.SetPanicOnFault(true), &ok)
	st, v := s.look(wallet, batch)
	if st == nil {
		return dst, false
	}
	defer st.leave()
	ix, _ := s.spare.Get().(*tokenIndex)
	if ix == nil {
		ix = &tokenIndex{}
	}
	defer s.spare.Put(ix)
	return v.tokens(dst, ix), true
}

// Days gives what a wallet traded on each UTC day, oldest first, in the memory of
// dst.
func (s *Store) Days(dst []serving.DaySum, wallet int32, batch int64) (out []serving.DaySum, ok bool) {
	defer s.caught(debug.SetPanicOnFault(true), &ok)
	st, v := s.look(wallet, batch)
	if st == nil {
		return dst, false
	}
	defer st.leave()
	return v.days(dst[:0]), true
}

// caught is deferred around what reads the file: a page that cannot be read, of a
// damaged disk or a file cut short by someone else, is a panic there. The store
// forgets the file then, and ok becomes false.
func (s *Store) caught(before bool, ok *bool) {
	debug.SetPanicOnFault(before)
	r := recover()
	if r == nil {
		return
	}
	if _, fault := r.(interface{ Addr() uintptr }); !fault {
		panic(r)
	}
	*ok = false
	s.lose()
}

// lose makes the store forget a file that cannot be read.
func (s *Store) lose() {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.state.Load()
	if st.run == nil || st.tail == nil {
		return // another read was first
	}
	through := st.tail.through.Load()
	s.state.Store(&state{tail: newTail(through, through)})
	_ = st.run.drop() // what a read that panicked holds stays mapped
}
