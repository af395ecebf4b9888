package fillseg

import (
	"runtime/debug"
	"sync"
	"sync/atomic"

	"pmx/data"
	"pmx/rollups/segments"
	"pmx/rollups/serving"
)

// Store is files of fills in the order of some key, and their memtable. One goroutine calls Open,
// Restart, Skip and Add, another Build; any number read.
type Store struct {
	kind
	segments.Store[*memtable]
	heavyFrom   int    // number of fills from which sums are kept in the first file
	laterHeavy  int    // and in others
	bufferFills int    // fills sorted at once while building
	rangeSize   uint64 // bytes of inputs merged at once
	mostFiles   int    // a Build does not leave more files
	// Start begins work beside a Build and returns how it ended, a panic as a *guard.Panic. nil: guard.Start does.
	Start   func(f func() error) <-chan error
	written atomic.Int64 // bytes of all files that were finished, also of temporary ones
	scratch sync.Pool    // of *tokenIndex
	rooms   sync.Pool    // of *room
}

// WalletStore answers reads of one wallet.
type WalletStore struct{ *Store }

// TokenStore answers reads of the newest fills of one token.
type TokenStore struct{ *Store }

// kind says what a store is sorted by, and how much of each key it keeps. No other type knows which
// id of a fill is the key and which one the rows hold.
type kind struct {
	byToken bool // the key is the token, and the order that of a block; else the wallet, and the order its own
	most    int  // so many newest fills of each key; 0: all
	names   serving.NameOrder
	formats
}

// key is the id that the file is sorted by.
func (k *kind) key(f *serving.Fill) int32 {
	if k.byToken {
		return int32(f.Token)
	}
	return int32(f.Wallet)
}

// other is the id that a row holds.
func (k *kind) other(f *serving.Fill) int32 {
	if k.byToken {
		return int32(f.Wallet)
	}
	return int32(f.Token)
}

// setIDs sets the ids of a fill from its key and its other id.
func (k *kind) setIDs(f *serving.Fill, key, other int32) {
	if k.byToken {
		f.Token, f.Wallet = data.TokenID(key), data.WalletID(other)
		return
	}
	f.Wallet, f.Token = data.WalletID(key), data.TokenID(other)
}

// order is a total order of the fills of one key, oldest first, which begins with their time. It is
// not a function value: the arguments of one would escape to the heap.
func (k *kind) order(x, y *serving.Fill) int {
	if k.byToken {
		return x.CompareInBlock(y, k.names)
	}
	return x.Compare(y, k.names)
}

// maxBufferFills is how many fills are sorted at once while building: about 40 bytes each. For
// stores of the newest fills fewer suffice: most fills are never added to the buffer.
const (
	maxBufferFills  = 2_000_000
	maxBufferNewest = 500_000
)

// NewWalletStore returns a store of every wallet's fills with its first file at path, whose folder must
// exist; the others are next to it (segments.LevelPath). It follows nothing until Open or Restart. names must know the wallet and token of every
// fill before it is added to the store, or a file with it is opened.
func NewWalletStore(path string, names serving.NameOrder) WalletStore {
	return WalletStore{newStore(path, kind{names: names, formats: wholeFormats}, maxBufferFills)}
}

// NewTokenStore returns a store of the newest fills of every token, at most most of each, in the
// order of their blocks.
func NewTokenStore(path string, names serving.NameOrder, most int) TokenStore {
	return TokenStore{newStore(path, kind{byToken: true, most: most, names: names, formats: newestFormats(most)}, maxBufferNewest)}
}

func newStore(path string, k kind, slice int) *Store {
	s := &Store{kind: k, heavyFrom: heavyFills, laterHeavy: laterHeavyFills, bufferFills: slice, rangeSize: rangeSize, mostFiles: maxLevels}
	s.Init(path, func(at string) (*segments.File, error) {
		r, err := openSegment(at, k.formatOf(at == path))
		return r.File, err
	}, func(batch int64) *memtable { return newMemtable(k, batch, batch) })
	return s
}

// Skip leaves imports up to batch to the next Build, which continues from the present file. It must
// only be called if none of them replaced a fill that the store holds.
func (s *Store) Skip(batch int64) error {
	return s.Store.Skip(batch, func(m *memtable) bool { return m.dirty.Load() == 0 })
}

// Batch is what an import changed of the fills.
type Batch struct {
	Number   int64
	Fills    []serving.Fill // in any order; Add changes it
	Replaced []serving.Fill // fills that were removed
}

// Add adds an import, which must be later than those before.
func (s *Store) Add(b Batch) {
	s.Change(func(st *segments.Contents[*memtable]) { st.Mem.take(b) })
}

// Facts is how many facts there are up to Through, by the last file's header and the added batches. A
// store of the newest fills keeps fewer.
func (s *Store) Facts() (n int64) {
	s.Change(func(st *segments.Contents[*memtable]) {
		if f := st.Files.Last(); f != nil {
			n = f.Coverage.Facts
		}
		for _, f := range st.Mem.facts {
			n += f.facts
		}
	})
	return n
}

// Stats says what a store holds.
type Stats struct {
	Idle   bool  // neither Open nor Restart was called, or it was closed
	Ready  bool  // the store has every fill up to Through, except those of dirty keys
	Stored int64 // fills in the files
	Files  int
	Bytes  int64 // of the files
	// Written is how many bytes all files took that were written since the store was made, temporary ones too.
	Written int64
	Recent  int64 // fills in the memtable
	Dirty   int64 // keys of which a fill in the files was replaced
	// Damage is what is wrong with a file that the next Build will replace; nil: no known damage.
	Damage error
}

// Stats reports what the store holds.
func (s *Store) Stats() Stats {
	st := s.Contents()
	out := Stats{Idle: !st.Known(), Damage: s.Damage(), Written: s.written.Load()}
	for _, f := range st.Files.List() {
		out.Files++
		out.Stored, out.Bytes = out.Stored+int64(f.Rows), out.Bytes+int64(f.Size())
	}
	if f := st.Files.Last(); f != nil && !s.byToken {
		out.Stored = f.Coverage.Facts // without those that a later file has again
	}
	if st.Known() {
		out.Ready, out.Recent, out.Dirty = st.Ready, st.Mem.rows.Load(), st.Mem.dirty.Load()
	}
	return out
}

// recentOf returns the recent fills of a key; false if the store does not have the key up to batch,
// for example because batch is older than the files.
func recentOf(st *segments.Contents[*memtable], key int32, batch int64) (w recentFills, ok bool) {
	if !st.Ready || st.Mem.through.Load() < batch || st.Covered() > batch {
		return w, false
	}
	w = st.Mem.of(key)
	return w, w.changed == 0 && batch >= w.from
}

// lookup begins a read; nil if the store does not have the key up to batch. The caller releases the
// contents.
func (s *Store) lookup(key int32, batch int64) (*segments.Contents[*memtable], lookup) {
	for {
		st := s.Contents()
		w, ok := recentOf(st, key, batch)
		if !ok {
			return nil, lookup{}
		}
		if st.Files == nil || st.Files.Acquire() {
			return st, lookup{kind: &s.kind, files: st.Files, key: key, recent: w.fills, older: w.older, after: st.Covered(), upTo: batch, room: s.takeRoom()}
		}
	}
}

func (s *Store) takeRoom() *room {
	if r, ok := s.rooms.Get().(*room); ok {
		return r
	}
	return &room{}
}

// endRead ends what lookup began.
func (s *Store) endRead(st *segments.Contents[*memtable], v *lookup) {
	s.rooms.Put(v.room)
	st.Release()
}

// fills adds the n newest fills of a key to dst, newest first, of imports up to batch; those before
// after if it is given. False if they are not in the store.
func (s *Store) fills(dst []serving.Fill, key int32, batch int64, after *serving.Fill, n int) (out []serving.Fill, ok bool) {
	defer segments.RecoverDamage(debug.SetPanicOnFault(true), &ok, s.Abandon)
	st, v := s.lookup(key, batch)
	if st == nil {
		return dst, false
	}
	defer s.endRead(st, &v)
	v.find()
	return v.fills(dst, after, n), true
}

// Compare is the order of a token's fills, oldest first.
func (s TokenStore) Compare(x, y *serving.Fill) int { return s.order(x, y) }

// Has reports whether a token's newest fills of imports up to batch are in the store.
func (s TokenStore) Has(token data.TokenID, batch int64) bool {
	_, ok := recentOf(s.Contents(), int32(token), batch)
	return ok
}

// Newest adds the n newest fills of a token to dst, newest first, of imports up to batch. False if
// they are not in the store, for example because n is more than it keeps.
func (s TokenStore) Newest(dst []serving.Fill, token data.TokenID, batch int64, n int) (out []serving.Fill, ok bool) {
	if n > s.most {
		return dst, false
	}
	return s.fills(dst, int32(token), batch, nil, n)
}

// Has reports whether a wallet's fills of imports up to batch are in the store.
func (s WalletStore) Has(wallet data.WalletID, batch int64) bool {
	_, ok := recentOf(s.Contents(), int32(wallet), batch)
	return ok
}

// Fills adds the n newest fills of a wallet to dst, newest first, of imports up to batch; those
// before after if it is given. False if they are not in the store.
func (s WalletStore) Fills(dst []serving.Fill, wallet data.WalletID, batch int64, after *serving.Fill, n int) (out []serving.Fill, ok bool) {
	return s.fills(dst, int32(wallet), batch, after, n)
}

// Tokens adds what a wallet did with each token to dst, in no order.
func (s WalletStore) Tokens(dst []serving.TokenSum, wallet data.WalletID, batch int64) (out []serving.TokenSum, ok bool) {
	defer segments.RecoverDamage(debug.SetPanicOnFault(true), &ok, s.Abandon)
	st, v := s.lookup(int32(wallet), batch)
	if st == nil {
		return dst, false
	}
	defer s.endRead(st, &v)
	v.find()
	ix, _ := s.scratch.Get().(*tokenIndex)
	if ix == nil {
		ix = &tokenIndex{}
	}
	defer s.scratch.Put(ix)
	return v.tokens(dst, ix), true
}

// Days returns what a wallet traded on each UTC day, oldest first, in the memory of dst.
func (s WalletStore) Days(dst []serving.DaySum, wallet data.WalletID, batch int64) (out []serving.DaySum, ok bool) {
	defer segments.RecoverDamage(debug.SetPanicOnFault(true), &ok, s.Abandon)
	st, v := s.lookup(int32(wallet), batch)
	if st == nil {
		return dst, false
	}
	defer s.endRead(st, &v)
	v.find()
	return v.days(dst[:0]), true
}
