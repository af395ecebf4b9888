package backup

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"pmx/data"
)

// cloneManifest is the file of a complete copy that says which backup it is. It is removed before anything in the
// copy is changed.
const cloneManifest = "manifest.json"

// ErrIncomplete is in the error of a backup that is not complete: it is still being copied, or blocks of it
// are lost.
var ErrIncomplete = errors.New("is not complete")

// Clone is a folder with copies of backups, each in a folder named by a number. The next copy is
// made from the oldest one that is not in use, by writing the blocks that differ.
type Clone struct {
	dir  string
	lock *os.File

	mu     sync.Mutex
	copies map[int]*Copy
}

// Copy is a backup as files.
type Copy struct {
	Dir      string
	Name     string // of the backup; "" while it is not whole
	Manifest *Manifest
	number   int
	used     bool
	held     map[string][]string // by file, the SHA-256 of each block of the copy; "": not known
}

// cloned is the text of cloneManifest.
type cloned struct {
	Name     string    `json:"name"`
	Manifest *Manifest `json:"manifest"`
}

// OpenClone opens or creates the folder of copies, for this process alone: ErrBusy if another has
// it open.
func OpenClone(dir string) (*Clone, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, asFolder(dir, err)
	}
	lock, err := openLock(filepath.Join(dir, lockName), true)
	if errors.Is(err, ErrBusy) {
		return nil, fmt.Errorf("%s: another pmx serves from it: %w", dir, errInUse)
	}
	if err != nil {
		return nil, err
	}
	c := &Clone{dir: dir, lock: lock, copies: map[int]*Copy{}}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil && n > 0 && e.IsDir() {
			c.copies[n] = c.found(n)
		}
	}
	return c, nil
}

var errInUse = errors.New("stop it, or choose another --data-dir")

// Close lets others in.
func (c *Clone) Close() error { return c.lock.Close() }

// found is a copy that an earlier process left. The contents of its files are not known.
func (c *Clone) found(n int) *Copy {
	at := &Copy{Dir: filepath.Join(c.dir, strconv.Itoa(n)), number: n, held: map[string][]string{}}
	text, err := data.ReadRegular(filepath.Join(at.Dir, cloneManifest))
	if err != nil {
		return at
	}
	var of cloned
	if json.Unmarshal(text, &of) == nil && of.Manifest != nil && of.Manifest.check() == nil && manifestForm.MatchString(of.Name) {
		at.Name, at.Manifest = of.Name, of.Manifest
	}
	return at
}

// Newest returns the newest copy that is complete, after checking every block; it falls back from a damaged one to the one
// before. It returns nil if there is none, with the reason if there was a copy. The copy is in use until it is released.
func (c *Clone) Newest(ctx context.Context) (*Copy, error) {
	var reasons []error
	for bad := map[*Copy]bool{}; ; {
		c.mu.Lock()
		at := c.newest(bad)
		if at != nil {
			at.used = true
		}
		c.mu.Unlock()
		if at == nil {
			return nil, errors.Join(reasons...)
		}
		err := at.check(ctx)
		if err == nil {
			return at, nil
		}
		c.Release(at)
		if ctx.Err() != nil {
			return nil, err
		}
		reasons, bad[at] = append(reasons, err), true
	}
}

// check compares every block with what the backup says.
func (at *Copy) check(ctx context.Context) error {
	for _, f := range at.Manifest.Files {
		if err := at.write(ctx, f, nil); err != nil {
			return err
		}
	}
	return nil
}

// newest is Newest without checks, among all copies but some; under mu.
func (c *Clone) newest(but map[*Copy]bool) (newest *Copy) {
	for _, at := range c.copies {
		if at.Name != "" && !but[at] && (newest == nil || at.Name > newest.Name) {
			newest = at
		}
	}
	return newest
}

// Fetch makes a copy of a backup and checks every block; the copy is in use until it is released. On an error the copies
// in use are unchanged, and the next try continues where this one ended. ErrIncomplete and ErrDamaged may be temporary.
func (c *Clone) Fetch(ctx context.Context, from *Repo, name string) (*Copy, error) {
	m, err := from.Load(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("backup %d of %s %w: its manifest is missing", Number(name), from.dir, ErrIncomplete)
	}
	if err != nil {
		return nil, err
	}
	at, like := c.take(name)
	if err := at.fetch(ctx, from, name, m, like); err != nil {
		c.Release(at)
		return nil, err
	}
	c.drop()
	return at, nil
}

// take chooses the copy to turn into a backup: one of this very backup if there is one, else an old
// one that is not in use. The newest complete one is kept and returned as like; nil if there is
// none.
func (c *Clone) take(name string) (at, like *Copy) {
	c.mu.Lock()
	defer c.mu.Unlock()
	like = c.newest(nil)
	for _, one := range c.copies {
		if one.used || one == like && one.Name != name {
			continue
		}
		if at == nil || one.Name == name || at.Name != name && one.number < at.number {
			at = one
		}
	}
	if at == nil {
		n := 1
		for c.copies[n] != nil {
			n++
		}
		at = &Copy{Dir: filepath.Join(c.dir, strconv.Itoa(n)), number: n, held: map[string][]string{}}
		c.copies[n] = at
	}
	at.used = true
	return at, like
}

// Release ends the use of a copy.
func (c *Clone) Release(at *Copy) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at.used = false
}

// maxCopies is how many copies are kept: the one in use, and the one that becomes the next.
const maxCopies = 2

// drop removes surplus copies, made while readers kept others from being reused.
func (c *Clone) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	free := []*Copy{}
	for _, one := range c.copies {
		if !one.used {
			free = append(free, one)
		}
	}
	slices.SortFunc(free, func(a, b *Copy) int { return cmp.Compare(a.Name, b.Name) })
	for i := 0; len(c.copies) > maxCopies && i < len(free); i++ {
		if os.RemoveAll(free[i].Dir) == nil {
			delete(c.copies, free[i].number)
		}
	}
}

// fetch turns the copy into the backup m of a repository; like is a complete copy, or nil.
func (at *Copy) fetch(ctx context.Context, from *Repo, name string, m *Manifest, like *Copy) error {
	reader, err := from.newReader()
	if err != nil {
		return err
	}
	defer reader.unzip.Close()
	if err := at.lacks(from, name, m, like); err != nil {
		return err
	}
	was := at.Name
	at.Name = ""
	if err := os.MkdirAll(at.Dir, 0o700); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(at.Dir, cloneManifest)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if was == "" && like != nil && like != at {
		at.begin(like)
	}
	for _, f := range m.Files {
		if err := at.write(ctx, f, reader); err != nil {
			return err
		}
	}
	if err := at.removeOthers(m); err != nil {
		return err
	}
	text, err := json.Marshal(cloned{name, m})
	if err != nil {
		return err
	}
	path := filepath.Join(at.Dir, cloneManifest)
	if err := errors.Join(os.WriteFile(path+".new", text, 0o600), os.Rename(path+".new", path)); err != nil {
		return err
	}
	at.Name, at.Manifest = name, m
	return nil
}

// lacks returns ErrIncomplete if blocks are neither in the copies nor in the repository yet. Looking first is cheaper than
// failing half-way.
func (at *Copy) lacks(from *Repo, name string, m *Manifest, like *Copy) error {
	here := map[string]bool{}
	for _, one := range []*Copy{at, like} {
		if one == nil || one.Manifest == nil {
			continue
		}
		for _, f := range one.Manifest.Files {
			for _, sum := range f.Blocks {
				here[sum] = true
			}
		}
	}
	missing, needed := 0, 0
	for _, f := range m.Files {
		for _, sum := range f.Blocks {
			if here[sum] {
				continue
			}
			needed++
			if _, err := os.Stat(from.blockPath(sum)); errors.Is(err, fs.ErrNotExist) {
				missing++
			}
		}
	}
	if missing > 0 {
		return fmt.Errorf("backup %d of %s %w: %d of the %d blocks that are new here are missing", Number(name), from.dir, ErrIncomplete, missing, needed)
	}
	return nil
}

// begin makes the files of the copy equal to those of like, sharing their blocks if the file system can. This is an
// optimization: without it, every block comes from the repository.
func (at *Copy) begin(like *Copy) {
	for _, f := range like.Manifest.Files {
		path := filepath.Join(at.Dir, f.Name)
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			continue // from an earlier try
		}
		delete(at.held, f.Name)
		if cloneFile(path, filepath.Join(like.Dir, f.Name)) == nil {
			at.held[f.Name] = slices.Clone(like.held[f.Name])
		}
	}
}

// cloneFile copies a file. If the file system can, the two share their blocks until one of them is written to.
func cloneFile(to, from string) (err error) {
	src, err := data.OpenRegular(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	dst, err := data.CreateRegular(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dst.Close()) }()
	if shareBlocks(dst, src) == nil {
		return nil
	}
	_, err = io.Copy(dst, src)
	return err
}

// write makes a file of the copy match f: blocks that differ or are not known are read from the repository. Without a
// repository the file has to match already.
func (at *Copy) write(ctx context.Context, f File, from *reader) (err error) {
	to, err := os.OpenFile(filepath.Join(at.Dir, f.Name), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if err := to.Truncate(f.Size); err != nil {
		return err
	}
	held := append(at.held[f.Name], make([]string, len(f.Blocks))...)[:len(f.Blocks)]
	at.held[f.Name] = held
	if last := len(held) - 1; last >= 0 {
		held[last] = "" // the file may have ended elsewhere
	}
	return eachAtOnce(ctx, len(f.Blocks), func(buffer []byte, i int) error {
		if held[i] == f.Blocks[i] {
			return nil
		}
		offset, length := f.span(i)
		if held[i] == "" {
			if _, err := to.ReadAt(buffer[:length], offset); err != nil {
				return err
			}
			if sum := sha256.Sum256(buffer[:length]); hex.EncodeToString(sum[:]) == f.Blocks[i] {
				held[i] = f.Blocks[i]
				return nil
			}
		}
		held[i] = ""
		if from == nil {
			return fmt.Errorf("%s is %w: one of its blocks differs from its backup", to.Name(), ErrDamaged)
		}
		block, err := from.blockOf(&f, i, buffer)
		if err != nil {
			return err
		}
		if _, err = to.WriteAt(block, offset); err == nil {
			held[i] = f.Blocks[i]
		}
		return err
	})
}

// removeOthers removes the files that the backup does not have.
func (at *Copy) removeOthers(m *Manifest) error {
	entries, err := os.ReadDir(at.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, has := m.File(e.Name()); !has {
			delete(at.held, e.Name())
			if err := os.RemoveAll(filepath.Join(at.Dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
