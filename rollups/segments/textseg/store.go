package textseg

import (
	"runtime/debug"
	"sync"
	"sync/atomic"

	"pmx/rollups/segments"
	"pmx/rollups/serving"
)

// Store serves reads of one market from the file and the memtable. One goroutine calls Open,
// Restart and Add, another Build; any number read.
type Store struct {
	segments.Store[*memtable]
}

// memtable is what changed since the file was written. One goroutine adds, any number
// read.
type memtable struct {
	after   int64 // nothing up to this batch is in it
	through atomic.Int64
	mu      sync.RWMutex
	markets map[int32]change
	bytes   int64 // of texts
}

// change has the texts of a market and the batch that they came with.
type change struct {
	texts serving.MarketTexts
	batch int64
}

func (c *change) bytes() int64 {
	return int64(len(c.texts.Description) + len(c.texts.ResolutionSource) + len(c.texts.GroupItemTitle))
}

func newMemtable(base, through int64) *memtable {
	t := &memtable{after: base, markets: map[int32]change{}}
	t.through.Store(through)
	return t
}

// After is the batch up to which nothing is in it.
func (t *memtable) After() int64 { return t.after }

// Through is the last batch in it.
func (t *memtable) Through() int64 { return t.through.Load() }

func (t *memtable) set(market int32, c change) {
	if before, known := t.markets[market]; known {
		t.bytes -= before.bytes()
	}
	t.markets[market] = c
	t.bytes += c.bytes()
}

func (t *memtable) of(market int32) (change, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	c, known := t.markets[market]
	return c, known
}

// Since returns a memtable of what changed after a batch.
func (t *memtable) Since(batch int64) *memtable {
	out := newMemtable(batch, max(batch, t.through.Load()))
	for market, c := range t.markets {
		if c.batch > batch {
			out.set(market, c)
		}
	}
	return out
}

// New gives a store with its file at path, whose folder must exist. It follows nothing until Open
// or Restart.
func New(path string) *Store {
	s := &Store{}
	s.Init(path, open, func(batch int64) *memtable { return newMemtable(batch, batch) })
	return s
}

// Add adds the texts of the markets that an import changed; the import must be later than those
// before.
func (s *Store) Add(batch int64, changed map[int32]serving.MarketTexts) {
	s.Change(func(st *segments.Contents[*memtable]) { st.Mem.take(batch, changed) })
}

func (t *memtable) take(batch int64, changed map[int32]serving.MarketTexts) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for market, texts := range changed {
		t.set(market, change{texts, batch})
	}
	t.through.Store(max(t.through.Load(), batch))
}

// Stats is what a store holds.
type Stats struct {
	Idle   bool  // neither Open nor Restart was called, or it was closed
	Ready  bool  // the store has every market up to Through
	Stored int64 // markets in the file
	Bytes  int64 // of the file
	Recent int64 // markets in the memtable
	Text   int64 // bytes of their texts
	// Damage is what is wrong with the file that the next Build will replace; nil: no known damage.
	Damage error
}

// Stats reports what the store holds.
func (s *Store) Stats() Stats {
	st := s.Contents()
	out := Stats{Idle: !st.Known(), Ready: st.Ready, Damage: s.Damage()}
	if f := st.Files.Last(); f != nil {
		out.Stored, out.Bytes = f.Coverage.Facts, int64(f.Size())
	}
	if t := st.Mem; t != nil {
		t.mu.RLock()
		defer t.mu.RUnlock()
		out.Recent, out.Text = int64(len(t.markets)), t.bytes
	}
	return out
}

// Has reports whether the texts of a market are in the store, as of batch or later.
func (s *Store) Has(market int32, batch int64) (ok bool) {
	_, ok = s.read(market, batch, func(b []byte) (serving.MarketTexts, bool) { return serving.MarketTexts{}, len(b) > 0 })
	return ok
}

// Texts returns the texts of a market as they are now: as of batch or later. False if they are not
// in the store.
func (s *Store) Texts(market int32, batch int64) (t serving.MarketTexts, ok bool) {
	return s.read(market, batch, readRecord)
}

func (s *Store) read(market int32, batch int64, from func(record []byte) (serving.MarketTexts, bool)) (t serving.MarketTexts, ok bool) {
	defer segments.RecoverDamage(debug.SetPanicOnFault(true), &ok, s.Abandon)
	for {
		st := s.Contents()
		if !st.Ready || st.Mem.Through() < batch {
			return t, false
		}
		if c, known := st.Mem.of(market); known {
			return c.texts, true
		}
		if st.Files == nil {
			return t, false
		}
		if st.Files.Acquire() {
			defer st.Release()
			f := st.Files.Last()
			b := record(f, market)
			if t, ok = from(b); !ok && len(b) > 0 {
				panic(f.Damaged("texts: no record of market %d", market))
			}
			return t, ok
		}
	}
}
