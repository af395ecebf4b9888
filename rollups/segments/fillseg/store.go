package fillseg

import (
	"errors"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"pmx/rollups/segments"
	"pmx/rollups/serving"
)

// Store answers reads of one wallet from the run and the tail. One goroutine calls
// Open, Restart, Skip and Add, another Build; any number read.
type Store struct {
	kind
	path  string // of the file
	heavy int    // from how many fills on sums are kept
	slice int    // fills sorted at once while building
	sync  func(*os.File) error

	// Damaged is told of a file that was forgotten because it is not what was written;
	// nil: nobody is. It is called by whoever found out.
	Damaged func(*segments.Damage)
	damage  atomic.Pointer[segments.Damage] // of the file that the next Build takes the place of

	mu    sync.Mutex // held to change state, and what it points to
	state atomic.Pointer[state]
	spare sync.Pool // of *tokenIndex
}

// kind says what of each key a store keeps.
type kind struct {
	most   int // so many newest fills; 0: all
	names  serving.Names
	format *segments.Format
}

// order is a total order of the fills of one key, oldest first, which begins with
// their time. No function value: what that is given would be on the heap.
func (k *kind) order(x, y *serving.Fill) int {
	if k.most > 0 {
		return x.CompareInBlock(y, k.names)
	}
	return x.Compare(y, k.names)
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
	return st.run.Covers.Batch
}

// sliceFills is how many fills are sorted at once while building: about 40 bytes
// each. Of the newest ones fewer do: most of what there is never gets there.
const (
	sliceFills  = 2_000_000
	sliceNewest = 500_000
)

// New gives a store of every wallet's fills with its file at path, whose folder must
// exist. It knows nothing until Open or Restart. names must know every wallet and token
// of a fill before the store is given the fill, or opens a file that has it.
func New(path string, names serving.Names) *Store {
	return newStore(path, kind{names: names, format: wholeFormat}, sliceFills)
}

// NewNewest gives a store of the newest fills of every key, most of each, as they lie
// in their block.
func NewNewest(path string, names serving.Names, most int) *Store {
	return newStore(path, kind{most: most, names: names, format: newestFormat(most)}, sliceNewest)
}

func newStore(path string, k kind, slice int) *Store {
	s := &Store{kind: k, path: path, heavy: heavyFills, slice: slice, sync: (*os.File).Sync}
	s.state.Store(&state{})
	return s
}

func (s *Store) newTail(batch int64) *tail { return newTail(s.kind, batch, batch) }

// Open maps the file where there is one that known accepts, and removes what a
// process that was killed left behind. What it covers is at hand from now on;
// what came later is for Add. It tells whether there is such a file; a damaged one is
// none.
func (s *Store) Open(known func(Covers) (bool, error)) (bool, error) {
	if err := segments.Sweep(s.path); err != nil {
		return false, err
	}
	r, err := openRun(s.path, s.format)
	var d *segments.Damage
	if errors.As(err, &d) {
		s.report(d)
		return false, nil
	}
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, segments.ErrFormat) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	ok, err := known(r.Covers)
	if err != nil || !ok {
		return false, errors.Join(err, r.Drop())
	}
	r.Scattered()
	return true, s.swap(&state{run: r, tail: s.newTail(r.Covers.Batch), ready: true})
}

// Restart makes the store forget everything: what comes after batch is for Add,
// what came up to it for Build. Where there is nothing up to it, all is at hand.
func (s *Store) Restart(batch int64, empty bool) error {
	return s.swap(&state{tail: s.newTail(batch), ready: empty})
}

// Skip makes the store leave imports up to batch to the next Build, which goes on
// from the file as it is. It must be called only where none of them replaced a
// fill that the store holds.
func (s *Store) Skip(batch int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.state.Load()
	if old.tail == nil || old.tail.dirty.Load() > 0 {
		s.state.Store(&state{tail: s.newTail(batch)})
		if old.run != nil {
			return old.run.Drop()
		}
		return nil
	}
	s.state.Store(&state{run: old.run, tail: s.newTail(batch)})
	return nil
}

// swap puts a state in the place of the one before, whose run is unmapped once
// nobody reads it.
func (s *Store) swap(next *state) error {
	s.mu.Lock()
	old := s.state.Swap(next)
	s.mu.Unlock()
	if old.run != nil && old.run != next.run {
		return old.run.Drop()
	}
	return nil
}

// Close unmaps the file. Reads that come later find nothing at hand.
func (s *Store) Close() error { return s.swap(&state{}) }

// Batch is what an import changed of the wallets' fills.
type Batch struct {
	Number   int64
	Fills    map[int32][]serving.Fill // by wallet; Add puts them in order
	Replaced []int32                  // wallets of which a fill was taken out, once for each fill
}

// Add takes an import in, which must be later than those before.
func (s *Store) Add(b Batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.state.Load().tail
	if t == nil {
		return
	}
	facts := -len(b.Replaced)
	for wallet, fills := range b.Fills {
		if len(fills) > 0 {
			t.add(wallet, b.Number, fills)
			facts += len(fills)
		}
	}
	t.facts = append(t.facts, batchFacts{b.Number, int64(facts)})
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

// Facts is how many facts there are up to Through, by what the file covers and what
// was added: more than are kept where a store keeps the newest only.
func (s *Store) Facts() (n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.state.Load()
	if st.run != nil {
		n = st.run.Covers.Facts
	}
	if st.tail != nil {
		for _, f := range st.tail.facts {
			n += f.facts
		}
	}
	return n
}

// Stats is what a store holds.
type Stats struct {
	Idle  bool  // neither Open nor Restart was called, or it was closed
	Ready bool  // every fill up to Through is at hand, but for the changed wallets
	Run   int64 // fills in the file
	Bytes int64 // of the file
	Tail  int64 // fills beside it
	Dirty int64 // wallets of which a fill in the file was replaced
	// Damage is what is wrong with the file that the next Build takes the place of; nil:
	// nothing is known of any.
	Damage error
}

// Stats tells what the store holds.
func (s *Store) Stats() Stats {
	st := s.state.Load()
	var out Stats
	if d := s.damage.Load(); d != nil {
		out.Damage = d
	}
	if st.run != nil {
		out.Run, out.Bytes = int64(st.run.Counts[rows]), int64(st.run.Size())
	}
	out.Idle = st.tail == nil
	if st.tail != nil {
		out.Ready, out.Tail, out.Dirty = st.ready, st.tail.rows.Load(), st.tail.dirty.Load()
	}
	return out
}

// of gives what came in of a wallet; false where the wallet is not at hand up to
// batch, as it is not of a batch from before the file.
func (st *state) of(wallet int32, batch int64) (w walletTail, ok bool) {
	if !st.ready || st.tail.through.Load() < batch || st.covered() > batch {
		return w, false
	}
	w = st.tail.of(wallet)
	return w, w.changed == 0 && batch >= w.from
}

// look begins a read; nil where the wallet is not at hand up to batch. The caller
// drops the run of the state.
func (s *Store) look(wallet int32, batch int64) (*state, view) {
	for {
		st := s.state.Load()
		w, ok := st.of(wallet, batch)
		if !ok {
			return nil, view{}
		}
		v := view{kind: &s.kind, run: st.run, wallet: wallet, tail: w.fills, after: st.covered(), upTo: batch}
		if st.run == nil {
			return st, v
		}
		if st.run.Take() {
			return st, v
		}
	}
}

func (st *state) leave() {
	if st.run != nil {
		_ = st.run.Drop() // unmapping fails only for what was never mapped
	}
}

// Compare is the order of a key's fills, oldest first.
func (s *Store) Compare(x, y *serving.Fill) int { return s.order(x, y) }

// Has tells whether a wallet's fills of imports up to batch are at hand.
func (s *Store) Has(wallet int32, batch int64) bool {
	_, ok := s.state.Load().of(wallet, batch)
	return ok
}

// Fills adds the n newest fills of a wallet to dst, newest first, of imports up to
// batch; those before after where it is given. False where they are not at hand, as
// those are not that a store of the newest left out.
func (s *Store) Fills(dst []serving.Fill, wallet int32, batch int64, after *serving.Fill, n int) (out []serving.Fill, ok bool) {
	if s.most > 0 && (n > s.most || after != nil) {
		return dst, false
	}
	defer segments.Caught(debug.SetPanicOnFault(true), &ok, s.lost)
	st, v := s.look(wallet, batch)
	if st == nil {
		return dst, false
	}
	defer st.leave()
	v.find()
	return v.fills(dst, after, n), true
}

// Tokens adds what a wallet did with each token to dst, in no order. A store of the
// newest fills has no sums.
func (s *Store) Tokens(dst []serving.TokenSum, wallet int32, batch int64) (out []serving.TokenSum, ok bool) {
	if s.most > 0 {
		return dst, false
	}
	defer segments.Caught(debug.SetPanicOnFault(true), &ok, s.lost)
	st, v := s.look(wallet, batch)
	if st == nil {
		return dst, false
	}
	defer st.leave()
	v.find()
	ix, _ := s.spare.Get().(*tokenIndex)
	if ix == nil {
		ix = &tokenIndex{}
	}
	defer s.spare.Put(ix)
	return v.tokens(dst, ix), true
}

// Days gives what a wallet traded on each UTC day, oldest first, in the memory of
// dst. A store of the newest fills has no sums.
func (s *Store) Days(dst []serving.DaySum, wallet int32, batch int64) (out []serving.DaySum, ok bool) {
	if s.most > 0 {
		return dst, false
	}
	defer segments.Caught(debug.SetPanicOnFault(true), &ok, s.lost)
	st, v := s.look(wallet, batch)
	if st == nil {
		return dst, false
	}
	defer st.leave()
	v.find()
	return v.days(dst[:0]), true
}

// Prove compares every checksum of the file; what is wrong is found in Stats then.
// The error is that of going, which is called now and then.
func (s *Store) Prove(going func() error) error {
	st := s.state.Load()
	if st.run == nil || !st.run.Take() {
		return nil
	}
	defer st.leave()
	err := st.run.Prove(going)
	var d *segments.Damage
	if errors.As(err, &d) {
		s.lose(d)
		return nil
	}
	return err
}

// lost is lose for readers.
func (s *Store) lost(d *segments.Damage) { s.lose(d) }

// lose makes the store forget a damaged file; false where it is not the one served,
// or another read was first.
func (s *Store) lose(d *segments.Damage) bool {
	s.mu.Lock()
	st := s.state.Load()
	mine := st.run != nil && st.tail != nil && d.Of(st.run.File)
	if mine {
		through := st.tail.through.Load()
		s.state.Store(&state{tail: s.newTail(through)})
		_ = st.run.Drop() // unmapping fails only for what was never mapped
	}
	s.mu.Unlock()
	if mine {
		s.report(d)
	}
	return mine
}

// report says of a file that it is not read any more.
func (s *Store) report(d *segments.Damage) {
	s.damage.Store(d)
	if s.Damaged != nil {
		s.Damaged(d)
	}
}
