package textseg

import (
	"errors"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"pmx/rollups/segments"
	"pmx/rollups/serving"
)

// Store answers reads of one market from the file and the tail. One goroutine calls
// Open, Restart and Add, another Build; any number read.
type Store struct {
	path string
	sync func(*os.File) error

	// Damaged is told of a file that was forgotten because it is not what was written;
	// nil: nobody is. It is called by whoever found out.
	Damaged func(*segments.Damage)
	damage  atomic.Pointer[segments.Damage] // of the file that the next Build takes the place of

	mu    sync.Mutex // held to change state
	state atomic.Pointer[state]
}

// state is what reads are answered from; both parts change together.
type state struct {
	file  *segments.File // nil: none
	tail  *tail          // nil: the store knows nothing
	ready bool           // file and tail hold every market up to tail.through
}

// tail is what changed since the file was written. One goroutine adds, any number
// read.
type tail struct {
	base    int64 // nothing up to this batch is in it
	through atomic.Int64
	mu      sync.RWMutex
	markets map[int32]change
	bytes   int64 // of texts
}

// change is the texts of a market and the batch that they came with.
type change struct {
	texts serving.MarketTexts
	batch int64
}

func (c *change) bytes() int64 {
	return int64(len(c.texts.Description) + len(c.texts.ResolutionSource) + len(c.texts.GroupItemTitle))
}

func newTail(base, through int64) *tail {
	t := &tail{base: base, markets: map[int32]change{}}
	t.through.Store(through)
	return t
}

func (t *tail) set(market int32, c change) {
	if before, known := t.markets[market]; known {
		t.bytes -= before.bytes()
	}
	t.markets[market] = c
	t.bytes += c.bytes()
}

func (t *tail) of(market int32) (change, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	c, known := t.markets[market]
	return c, known
}

// since gives a tail of what changed after a batch.
func (t *tail) since(batch int64) *tail {
	out := newTail(batch, max(batch, t.through.Load()))
	for market, c := range t.markets {
		if c.batch > batch {
			out.set(market, c)
		}
	}
	return out
}

// New gives a store with its file at path, whose folder must exist. It knows nothing
// until Open or Restart.
func New(path string) *Store {
	s := &Store{path: path, sync: (*os.File).Sync}
	s.state.Store(&state{})
	return s
}

// Open maps the file where there is one that known accepts, and removes what a
// process that was killed left behind. It tells whether there is such a file; a damaged
// one is none.
func (s *Store) Open(known func(Covers) (bool, error)) (bool, error) {
	if err := segments.Sweep(s.path); err != nil {
		return false, err
	}
	f, err := open(s.path)
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
	ok, err := known(f.Covers)
	if err != nil || !ok {
		return false, errors.Join(err, f.Drop())
	}
	f.Scattered()
	return true, s.swap(&state{file: f, tail: newTail(f.Covers.Batch, f.Covers.Batch), ready: true})
}

// Restart makes the store forget everything: what comes after batch is for Add,
// what came up to it for Build. Where there is nothing up to it, all is at hand.
func (s *Store) Restart(batch int64, empty bool) error {
	return s.swap(&state{tail: newTail(batch, batch), ready: empty})
}

// swap puts a state in the place of the one before, whose file is unmapped once
// nobody reads it.
func (s *Store) swap(next *state) error {
	s.mu.Lock()
	old := s.state.Swap(next)
	s.mu.Unlock()
	return old.drop()
}

func (st *state) drop() error {
	if st.file == nil {
		return nil
	}
	return st.file.Drop()
}

// Close unmaps the file. Reads that come later find nothing at hand.
func (s *Store) Close() error { return s.swap(&state{}) }

// Add takes the texts of the markets in that an import changed, which must be later
// than those before.
func (s *Store) Add(batch int64, changed map[int32]serving.MarketTexts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.state.Load().tail
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for market, texts := range changed {
		t.set(market, change{texts, batch})
	}
	t.through.Store(max(t.through.Load(), batch))
}

// Through is the last batch that was added or is in the file; −1: none.
func (s *Store) Through() int64 {
	if t := s.state.Load().tail; t != nil {
		return t.through.Load()
	}
	return -1
}

// Stats is what a store holds.
type Stats struct {
	Idle  bool  // neither Open nor Restart was called, or it was closed
	Ready bool  // every market up to Through is at hand
	Run   int64 // markets in the file
	Bytes int64 // of the file
	Tail  int64 // markets beside it
	Text  int64 // bytes of their texts
	// Damage is what is wrong with the file that the next Build takes the place of; nil:
	// nothing is known of any.
	Damage error
}

// Stats tells what the store holds.
func (s *Store) Stats() Stats {
	st := s.state.Load()
	out := Stats{Idle: st.tail == nil, Ready: st.ready}
	if d := s.damage.Load(); d != nil {
		out.Damage = d
	}
	if st.file != nil {
		out.Run, out.Bytes = st.file.Covers.Facts, int64(st.file.Size())
	}
	if t := st.tail; t != nil {
		t.mu.RLock()
		defer t.mu.RUnlock()
		out.Tail, out.Text = int64(len(t.markets)), t.bytes
	}
	return out
}

// knows tells whether every market of imports up to batch is at hand.
func (st *state) knows(batch int64) bool { return st.ready && st.tail.through.Load() >= batch }

// Has tells whether the texts of a market are at hand, as of batch or later.
func (s *Store) Has(market int32, batch int64) (ok bool) {
	_, ok = s.read(market, batch, func(b []byte) (serving.MarketTexts, bool) { return serving.MarketTexts{}, len(b) > 0 })
	return ok
}

// Texts gives the texts of a market as they are now: as of batch or later. False
// where they are not at hand.
func (s *Store) Texts(market int32, batch int64) (t serving.MarketTexts, ok bool) {
	return s.read(market, batch, readRecord)
}

func (s *Store) read(market int32, batch int64, from func(record []byte) (serving.MarketTexts, bool)) (t serving.MarketTexts, ok bool) {
	defer segments.Caught(debug.SetPanicOnFault(true), &ok, s.lose)
	for {
		st := s.state.Load()
		if !st.knows(batch) {
			return t, false
		}
		if c, known := st.tail.of(market); known {
			return c.texts, true
		}
		if st.file == nil {
			return t, false
		}
		if st.file.Take() {
			defer func() { _ = st.file.Drop() }() // unmapping fails only for what was never mapped
			b := record(st.file, market)
			if t, ok = from(b); !ok && len(b) > 0 {
				panic(st.file.Damaged("texts: no record of market %d", market))
			}
			return t, ok
		}
	}
}

// Prove compares every checksum of the file; what is wrong is found in Stats then.
// The error is that of going, which is called now and then.
func (s *Store) Prove(going func() error) error {
	st := s.state.Load()
	if st.file == nil || !st.file.Take() {
		return nil
	}
	defer func() { _ = st.file.Drop() }() // unmapping fails only for what was never mapped
	err := st.file.Prove(going)
	var d *segments.Damage
	if errors.As(err, &d) {
		s.lose(d)
		return nil
	}
	return err
}

// lose makes the store forget a damaged file. Of one that is not served any more, or
// that another read has lost, nothing is lost.
func (s *Store) lose(d *segments.Damage) {
	s.mu.Lock()
	st := s.state.Load()
	mine := st.file != nil && st.tail != nil && d.Of(st.file)
	if mine {
		through := st.tail.through.Load()
		s.state.Store(&state{tail: newTail(through, through)})
		_ = st.file.Drop() // unmapping fails only for what was never mapped
	}
	s.mu.Unlock()
	if mine {
		s.report(d)
	}
}

// report says of a file that it is not read any more.
func (s *Store) report(d *segments.Damage) {
	s.damage.Store(d)
	if s.Damaged != nil {
		s.Damaged(d)
	}
}
