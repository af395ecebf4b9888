package fillseg

import (
	"runtime/debug"
	"sync"

	"pmx/rollups/segments"
	"pmx/rollups/serving"
)

// Store answers reads of one wallet from the file and the memtable. One goroutine calls
// Open, Restart, Skip and Add, another Build; any number read.
type Store struct {
	kind
	segments.Store[*memtable]
	heavyFrom   int       // from how many fills on sums are kept
	bufferFills int       // fills sorted at once while building
	scratch     sync.Pool // of *tokenIndex
}

// kind says what of each key a store keeps.
type kind struct {
	most   int // so many newest fills; 0: all
	names  serving.NameOrder
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

// maxBufferFills is how many fills are sorted at once while building: about 40 bytes
// each. Of the newest ones fewer do: most of what there is never gets there.
const (
	maxBufferFills  = 2_000_000
	maxBufferNewest = 500_000
)

// New gives a store of every wallet's fills with its file at path, whose folder must
// exist. It knows nothing until Open or Restart. names must know every wallet and token
// of a fill before the store is given the fill, or opens a file that has it.
func New(path string, names serving.NameOrder) *Store {
	return newStore(path, kind{names: names, format: wholeFormat}, maxBufferFills)
}

// NewNewest gives a store of the newest fills of every key, most of each, as they lie
// in their block.
func NewNewest(path string, names serving.NameOrder, most int) *Store {
	return newStore(path, kind{most: most, names: names, format: newestFormat(most)}, maxBufferNewest)
}

func newStore(path string, k kind, slice int) *Store {
	s := &Store{kind: k, heavyFrom: heavyFills, bufferFills: slice}
	s.Init(path, func(path string) (*segments.File, error) {
		r, err := openSegment(path, k.format)
		if err != nil {
			return nil, err
		}
		return r.File, nil
	}, func(batch int64) *memtable { return newMemtable(k, batch, batch) })
	return s
}

// Skip leaves imports up to batch to the next Build, which goes on from the file as it
// is. It must be called only where none of them replaced a fill that the store holds.
func (s *Store) Skip(batch int64) error {
	return s.Store.Skip(batch, func(m *memtable) bool { return m.dirty.Load() == 0 })
}

// Batch is what an import changed of the wallets' fills.
type Batch struct {
	Number   int64
	Fills    map[int32][]serving.Fill // by wallet; Add puts them in order
	Replaced []int32                  // wallets of which a fill was taken out, once for each fill
}

// Add takes an import in, which must be later than those before.
func (s *Store) Add(b Batch) {
	s.Change(func(st *segments.State[*memtable]) { st.Mem.take(b) })
}

// Facts is how many facts there are up to Through, by what the file covers and what
// was added: more than are kept where a store keeps the newest only.
func (s *Store) Facts() (n int64) {
	s.Change(func(st *segments.State[*memtable]) {
		if st.File != nil {
			n = st.File.Coverage.Facts
		}
		for _, f := range st.Mem.facts {
			n += f.facts
		}
	})
	return n
}

// Stats is what a store holds.
type Stats struct {
	Idle   bool  // neither Open nor Restart was called, or it was closed
	Ready  bool  // the store has every fill up to Through, but for the dirty wallets
	Stored int64 // fills in the file
	Bytes  int64 // of the file
	Recent int64 // fills in the memtable
	Dirty  int64 // wallets of which a fill in the file was replaced
	// Damage is what is wrong with the file that the next Build takes the place of; nil:
	// nothing is known of any.
	Damage error
}

// Stats tells what the store holds.
func (s *Store) Stats() Stats {
	st := s.State()
	out := Stats{Idle: !st.Known(), Damage: s.Damage()}
	if st.File != nil {
		out.Stored, out.Bytes = int64(st.File.Counts[rows]), int64(st.File.Size())
	}
	if st.Known() {
		out.Ready, out.Recent, out.Dirty = st.Ready, st.Mem.rows.Load(), st.Mem.dirty.Load()
	}
	return out
}

// recentOf gives what came in of a wallet; false where the store does not have the wallet
// up to batch, as it does not of a batch from before the file.
func recentOf(st *segments.State[*memtable], wallet int32, batch int64) (w recentFills, ok bool) {
	if !st.Ready || st.Mem.through.Load() < batch || st.Covered() > batch {
		return w, false
	}
	w = st.Mem.of(wallet)
	return w, w.changed == 0 && batch >= w.from
}

// lookup begins a read; nil where the store does not have the wallet up to batch. The
// caller releases the state.
func (s *Store) lookup(wallet int32, batch int64) (*segments.State[*memtable], lookup) {
	for {
		st := s.State()
		w, ok := recentOf(st, wallet, batch)
		if !ok {
			return nil, lookup{}
		}
		v := lookup{kind: &s.kind, wallet: wallet, recent: w.fills, after: st.Covered(), upTo: batch}
		if st.File == nil {
			return st, v
		}
		if st.File.Acquire() {
			v.segment = segment{st.File}
			return st, v
		}
	}
}

// Compare is the order of a key's fills, oldest first.
func (s *Store) Compare(x, y *serving.Fill) int { return s.order(x, y) }

// Has tells whether a wallet's fills of imports up to batch are in the store.
func (s *Store) Has(wallet int32, batch int64) bool {
	_, ok := recentOf(s.State(), wallet, batch)
	return ok
}

// Fills adds the n newest fills of a wallet to dst, newest first, of imports up to
// batch; those before after where it is given. False where they are not in the store, as
// those are not that a store of the newest left out.
func (s *Store) Fills(dst []serving.Fill, wallet int32, batch int64, after *serving.Fill, n int) (out []serving.Fill, ok bool) {
	if s.most > 0 && (n > s.most || after != nil) {
		return dst, false
	}
	defer segments.RecoverDamage(debug.SetPanicOnFault(true), &ok, s.Abandon)
	st, v := s.lookup(wallet, batch)
	if st == nil {
		return dst, false
	}
	defer st.Release()
	v.find()
	return v.fills(dst, after, n), true
}

// Tokens adds what a wallet did with each token to dst, in no order. A store of the
// newest fills has no sums.
func (s *Store) Tokens(dst []serving.TokenSum, wallet int32, batch int64) (out []serving.TokenSum, ok bool) {
	if s.most > 0 {
		return dst, false
	}
	defer segments.RecoverDamage(debug.SetPanicOnFault(true), &ok, s.Abandon)
	st, v := s.lookup(wallet, batch)
	if st == nil {
		return dst, false
	}
	defer st.Release()
	v.find()
	ix, _ := s.scratch.Get().(*tokenIndex)
	if ix == nil {
		ix = &tokenIndex{}
	}
	defer s.scratch.Put(ix)
	return v.tokens(dst, ix), true
}

// Days gives what a wallet traded on each UTC day, oldest first, in the memory of
// dst. A store of the newest fills has no sums.
func (s *Store) Days(dst []serving.DaySum, wallet int32, batch int64) (out []serving.DaySum, ok bool) {
	if s.most > 0 {
		return dst, false
	}
	defer segments.RecoverDamage(debug.SetPanicOnFault(true), &ok, s.Abandon)
	st, v := s.lookup(wallet, batch)
	if st == nil {
		return dst, false
	}
	defer st.Release()
	v.find()
	return v.days(dst[:0]), true
}
