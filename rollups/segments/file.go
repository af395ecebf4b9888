package segments

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/cespare/xxhash/v2"
)

// File is an open file. It is read by slicing, without system calls, and unmapped once nobody reads
// it any more. The checksum of every page is compared before its first use.
type File struct {
	Header
	path     string
	info     os.FileInfo
	bytes    []byte
	extents  [][]byte        // the extents
	first    []int           // the page that each extent begins at, not counting the header
	sums     []byte          // the checksums of the pages
	verified []atomic.Uint64 // a bit per page whose checksum was compared
	users    atomic.Int64    // the owner and every active reader; 0: unmapped
}

// Open maps a finished file. The error is ErrFormat if another version wrote it, also a *Damage if
// it is damaged, and os.ErrNotExist if there is none.
func Open(path string, format *Format) (*File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() < PageSize {
		return nil, &Damage{Path: path, What: fmt.Sprintf("%d bytes, mode %s", st.Size(), st.Mode()), info: st}
	}
	b, err := mapFile(f, int(st.Size()))
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	r := &File{path: path, info: st, bytes: b}
	if err := Try(func() error { return r.begin(format) }); err != nil {
		return nil, errors.Join(r.named(err), unmap(b))
	}
	r.users.Store(1)
	return r, nil
}

// begin reads the header.
func (f *File) begin(format *Format) (err error) {
	if f.Header, err = format.decode(f.bytes); err != nil {
		return err
	}
	for s := range f.Counts {
		from, to := f.Span(s)
		f.extents = append(f.extents, f.bytes[from:to:to])
		f.first = append(f.first, int(from/PageSize)-1)
	}
	f.sums = f.bytes[PageSize*(1+f.pages()):]
	if xxhash.Sum64(f.sums) != f.Header.sums {
		return &Damage{What: "checksums of pages: checksum differs"}
	}
	f.verified = make([]atomic.Uint64, (f.pages()+63)/64)
	return nil
}

// named adds the file's path to damage.
func (f *File) named(err error) error {
	var d *Damage
	if !errors.As(err, &d) {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	d.Path, d.info = f.path, f.info
	return err
}

// Damaged is the value that a reader panics with when it finds invalid data, for RecoverDamage and
// Try.
func (f *File) Damaged(what string, args ...any) *Damage {
	return &Damage{Path: f.path, What: fmt.Sprintf(what, args...), info: f.info}
}

// Path is where the file was opened.
func (f *File) Path() string { return f.path }

// Len is how many bytes an extent has.
func (f *File) Len(extent int) int { return len(f.extents[extent]) }

// Bytes returns the bytes of an extent from lo to hi, after verifying their pages. It panics on
// bounds outside the extent and on a corrupted page; RecoverDamage and Try catch this.
func (f *File) Bytes(extent, lo, hi int) []byte {
	b := f.extents[extent]
	if uint(lo) > uint(hi) || uint(hi) > uint(len(b)) {
		panic(f.Damaged("%s: bytes %d to %d of %d are asked for", f.format.Names[extent], lo, hi, len(b)))
	}
	first := f.first[extent]
	expected := hi-lo <= PageSize // for hardly more than a page it gains nothing
	for page := first + lo/PageSize; page*PageSize < first*PageSize+hi; page++ {
		if f.isVerified(page) {
			continue
		}
		if !expected {
			f.Expect(extent, lo, hi)
			expected = true
		}
		f.verify(page)
	}
	return b[lo:hi:hi]
}

// Checked returns a whole extent whose bytes were all returned before, so that its pages are verified.
func (f *File) Checked(extent int) []byte { return f.extents[extent] }

// Expect makes the system read those pages of the bytes from lo to hi of an extent that nobody has
// read since the file was opened: together, and not one for each page fault. If all were read, the
// system is not called.
func (f *File) Expect(extent, lo, hi int) {
	if uint(lo) > uint(hi) || uint(hi) > uint(len(f.extents[extent])) {
		return // reading it will panic
	}
	for from, to := range f.unread(extent, lo, hi) {
		adviseNeeded(f.bytes, PageSize*(from+1), PageSize*(to+1))
	}
}

// unread returns the ranges of pages, their ends excluded, of bytes from lo to hi of an extent that are not
// verified.
func (f *File) unread(extent, lo, hi int) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		first := f.first[extent]
		page, end := first+lo/PageSize, first+(hi+PageSize-1)/PageSize
		for page < end {
			from := page
			for page < end && !f.isVerified(page) {
				page++
			}
			if page > from && !yield(from, page) {
				return
			}
			page++ // it is verified, or the end
		}
	}
}

func (f *File) isVerified(page int) bool { return f.verified[page>>6].Load()>>(page&63)&1 != 0 }

// verify compares the checksum of a page.
func (f *File) verify(page int) {
	b := f.bytes[PageSize*(page+1):][:PageSize]
	if crc32.Checksum(b, castagnoli) != binary.LittleEndian.Uint32(f.sums[sumSize*page:]) {
		panic(f.Damaged("%s: checksum of the page at byte %d differs", f.extentAt(page), PageSize*(page+1)))
	}
	f.verified[page>>6].Or(1 << (page & 63))
}

func (f *File) extentAt(page int) string {
	s := len(f.first) - 1
	for s > 0 && f.first[s] > page {
		s--
	}
	return f.format.Names[s]
}

// VerifyPages compares the checksum of every page, whether or not that was done before. It calls
// going between pages, and ends if that returns an error.
func (f *File) VerifyPages(going func() error) error {
	return Try(func() error {
		const step = 256
		pages := int(f.pages())
		for page := range pages {
			if page%step == 0 {
				adviseNeeded(f.bytes, PageSize*(page+1), PageSize*(min(page+step, pages)+1))
				if err := going(); err != nil {
					return err
				}
			}
			f.verify(page)
		}
		return nil
	})
}

// AdviseRandom tells the system that the file will be read at random places: neighbouring data
// belongs to other requests, and if the file is larger than memory, reading ahead would only evict
// what is used. It is not called for a file that is read from front to back.
func (f *File) AdviseRandom() { adviseRandom(f.bytes) }

// Prefetch makes the system read the bytes from lo to hi of an extent before they are used in
// order.
func (f *File) Prefetch(extent, lo, hi int) { adviseNeeded(f.extents[extent], lo, hi) }

// Acquire keeps the file mapped until Release; false if it is unmapped already.
func (f *File) Acquire() bool { return acquire(&f.users) }

// acquire adds a user, unless there is none left.
func acquire(users *atomic.Int64) bool {
	for {
		n := users.Load()
		if n == 0 {
			return false
		}
		if users.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Release ends a use; the last one unmaps.
func (f *File) Release() error {
	if f.users.Add(-1) > 0 {
		return nil
	}
	return unmap(f.bytes)
}

// Users is how many hold the file: its owner and every active reader.
func (f *File) Users() int64 { return f.users.Load() }

// holds reports whether an address is in the mapping, which may be gone by now.
func (f *File) holds(addr uintptr) bool {
	from := uintptr(unsafe.Pointer(unsafe.SliceData(f.bytes)))
	return addr >= from && addr-from < uintptr(len(f.bytes))
}

// Publish renames a finished file to its final name, and syncs the folder.
func Publish(temporary, path string, sync func(*os.File) error) error {
	if err := os.Rename(temporary, path); err != nil {
		return err
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(sync(d), d.Close())
}

// TempPath is the name of a temporary file for the one at path.
func TempPath(path string, n int) string { return fmt.Sprintf("%s.part-%d", stem(path), n) }

func stem(path string) string { return path[:len(path)-len(filepath.Ext(path))] }

// RemoveTemp removes the temporary files for the one at path.
func RemoveTemp(path string) error {
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	for _, f := range files {
		if !strings.HasPrefix(f.Name(), filepath.Base(stem(path))+".part-") {
			continue
		}
		if err := os.Remove(filepath.Join(filepath.Dir(path), f.Name())); err != nil {
			return err
		}
	}
	return nil
}
