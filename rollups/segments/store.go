package segments

import (
	"errors"
	"os"
	"slices"
	"sync"
	"sync/atomic"
)

// Memtable is what came in since a file was written. One goroutine adds, any number read. Its zero
// value belongs to a store that follows nothing; no method of it is called.
type Memtable[M any] interface {
	comparable
	After() int64        // nothing up to this batch is in it
	Through() int64      // the last batch in it
	Since(batch int64) M // what came in after a batch
}

// Contents is what reads use: files and a memtable that change together.
type Contents[M Memtable[M]] struct {
	Files *Files // nil: none
	Mem   M
	Ready bool // Files and Mem hold everything up to Mem.Through
}

// Known reports whether the store follows imports: it was opened or restarted, and not closed.
func (st *Contents[M]) Known() bool {
	var none M
	return st.Mem != none
}

// Covered is the last batch in the files; −1: none is.
func (st *Contents[M]) Covered() int64 {
	if f := st.Files.Last(); f != nil {
		return f.Coverage.Batch
	}
	return -1
}

// Release ends a read that Files.Acquire began.
func (st *Contents[M]) Release() {
	_ = st.Files.Release() // unmapping fails only for what was never mapped
}

// Store is files that continue each other and a memtable of what came in since: the part of a store
// that is independent of the files' contents. One goroutine calls Open, Restart and Change, another
// Adopt; any number read.
type Store[M Memtable[M]] struct {
	Path string                           // of the first file, whose folder must exist
	Sync func(*os.File) error             // makes a file durable
	open func(path string) (*File, error) // maps a finished file and checks its bounds
	mem  func(batch int64) M              // an empty memtable of what comes after a batch

	// OnDamage is called when a file was dropped as corrupted, by whichever goroutine found out;
	// may be nil.
	OnDamage func(*Damage)
	damage   atomic.Pointer[Damage] // of a file that the next one replaces

	// OnLeftover is called when a merged file could not be removed, by the goroutine that builds: it takes space until the next build
	// removes it. May be nil.
	OnLeftover func(error)

	mu       sync.Mutex // held to change contents, and what it points to
	contents atomic.Pointer[Contents[M]]
}

// Init sets up a store that follows nothing until Open or Restart. open maps a finished file; mem
// makes an empty memtable.
func (s *Store[M]) Init(path string, open func(path string) (*File, error), mem func(batch int64) M) {
	s.Path, s.Sync, s.open, s.mem = path, (*os.File).Sync, open, mem
	s.contents.Store(&Contents[M]{})
}

// Contents returns the current contents.
func (s *Store[M]) Contents() *Contents[M] { return s.contents.Load() }

// Open maps the files that continue each other from the first one on and fit: those that cover most.
// It removes what a killed process left half-written. From then on the store has what the files
// cover; later batches have to be added. It reports whether there are such files. A damaged one, or
// one of another version, counts as none, and so do those that continue it.
func (s *Store[M]) Open(fits func(Coverage) (bool, error)) (bool, error) {
	if err := RemoveTemp(s.Path); err != nil {
		return false, err
	}
	list, err := s.openChain(fits)
	if err != nil || list == nil {
		return false, err
	}
	for _, f := range list {
		f.AdviseRandom()
	}
	return true, s.swap(&Contents[M]{Files: newFiles(list), Mem: s.mem(list[len(list)-1].Coverage.Batch), Ready: true})
}

// Restart empties the store: batches after batch have to be added, earlier ones are left to the
// next file. If there is nothing up to batch (empty), the store is complete at once.
func (s *Store[M]) Restart(batch int64, empty bool) error {
	return s.swap(&Contents[M]{Mem: s.mem(batch), Ready: empty})
}

// Close unmaps the files. Later reads find nothing.
func (s *Store[M]) Close() error { return s.swap(&Contents[M]{}) }

// Through is the last batch that was added or is in the files; −1: none.
func (s *Store[M]) Through() int64 {
	if st := s.contents.Load(); st.Known() {
		return st.Mem.Through()
	}
	return -1
}

// Change calls change with the contents, which nobody else changes meanwhile, if the
// store follows imports.
func (s *Store[M]) Change(change func(*Contents[M])) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := s.contents.Load(); st.Known() {
		change(st)
	}
}

// swap replaces the contents. Files that only the ones before have are unmapped once nobody reads
// them.
func (s *Store[M]) swap(next *Contents[M]) error {
	s.mu.Lock()
	old := s.contents.Swap(next)
	s.mu.Unlock()
	return old.leave(next)
}

// leave lets go of the files of contents that were replaced.
func (st *Contents[M]) leave(next *Contents[M]) error {
	if st.Files == next.Files {
		return nil
	}
	return st.Files.Release()
}

// Skip leaves imports up to batch to the next file, which continues the present ones if keep agrees,
// and is made from scratch otherwise.
func (s *Store[M]) Skip(batch int64, keep func(M) bool) error {
	s.mu.Lock()
	next, old := &Contents[M]{Mem: s.mem(batch)}, s.contents.Load()
	if old.Known() && keep(old.Mem) {
		next.Files = old.Files
	}
	s.contents.Store(next)
	s.mu.Unlock()
	return old.leave(next)
}

// ErrStoreRestarted is returned for a file whose store was restarted while it was written.
var ErrStoreRestarted = errors.New("the store was restarted while its file was written")

// Adopt opens the file that was written to path with everything between the last of before and
// batch, and switches to before and it: files of the store's that it continues, from the first one
// on; none if it has everything up to batch.
func (s *Store[M]) Adopt(batch int64, before []*File, path string) error {
	f, err := s.open(path)
	if err != nil {
		return err
	}
	f.AdviseRandom()
	s.mu.Lock()
	old := s.contents.Load()
	if !old.Known() || old.Mem.After() > batch || !old.Files.begin(before) {
		s.mu.Unlock()
		return errors.Join(ErrStoreRestarted, f.Release())
	}
	for _, b := range before {
		b.Acquire() // it is mapped: the present contents have it
	}
	next := &Contents[M]{Files: newFiles(append(slices.Clone(before), f)), Mem: old.Mem.Since(batch), Ready: true}
	s.contents.Store(next)
	s.damage.Store(nil)
	s.mu.Unlock()
	return old.leave(next)
}

// VerifyPages compares every checksum of the files; Damage then returns what is wrong. The error is
// that of going, which is called from time to time.
func (s *Store[M]) VerifyPages(going func() error) error {
	st := s.contents.Load()
	if !st.Files.Acquire() {
		return nil
	}
	defer st.Release()
	for _, f := range st.Files.List() {
		err := f.VerifyPages(going)
		var d *Damage
		if errors.As(err, &d) {
			s.Abandon(d)
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Damage is what is wrong with a file that the next one will replace; nil: no known damage.
func (s *Store[M]) Damage() error {
	if d := s.damage.Load(); d != nil {
		return d
	}
	return nil
}

// Repaired notes that what a damaged file had is in the store again.
func (s *Store[M]) Repaired() { s.damage.Store(nil) }

// Abandon makes the store drop its files because one is damaged. It does nothing if that one is not
// served any more, or was dropped already.
func (s *Store[M]) Abandon(d *Damage) { s.abandon(d) }

// abandon reports whether the file was served until now.
func (s *Store[M]) abandon(d *Damage) bool {
	s.mu.Lock()
	st := s.contents.Load()
	mine := st.Known() && slices.ContainsFunc(st.Files.List(), d.Of)
	if mine {
		s.contents.Store(&Contents[M]{Mem: s.mem(st.Mem.Through())})
		st.Release()
	}
	s.mu.Unlock()
	if mine {
		s.report(d)
	}
	return mine
}

// AbandonInput is Abandon for a file that another one was being made from. It may be at the store's
// path without being served.
func (s *Store[M]) AbandonInput(d *Damage) {
	if !s.abandon(d) && (d.Path == s.Path || isLevel(s.Path, d.Path)) {
		s.report(d)
	}
}

// report notes damage of a file that was dropped.
func (s *Store[M]) report(d *Damage) {
	s.damage.Store(d)
	if s.OnDamage != nil {
		s.OnDamage(d)
	}
}
