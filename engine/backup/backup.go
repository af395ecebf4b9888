// Package backup keeps backups of files in a repository: a folder with content-addressed blocks,
// manifests that list the blocks of each backup, and CURRENT, which names the newest. Except for
// CURRENT, a file never changes under its name, so that any tool that copies files can replicate
// the folder.
//
//	pmx-backup.json      what the folder is, and the version of its format
//	CURRENT              the name of the newest manifest; replaced last
//	manifests/NAME.json  one backup; the name ends in the SHA-256 of the file
//	blocks/ab/ab12…      one block; the name is the SHA-256 of what it holds
//	lock, tmp/           of who is at work; no part of any backup
package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"pmx/data"
)

const (
	// BlockSize is the size in bytes of the pieces that a file is cut into: that of one or two blocks
	// of DuckDB, so that unchanged blocks of the database stay unchanged here.
	BlockSize = 256 << 10

	markerName    = "pmx-backup.json"
	currentName   = "CURRENT"
	lockName      = "lock"
	tmpName       = "tmp"
	blocksName    = "blocks"
	manifestsName = "manifests"
	manifestEnd   = ".json"
	nameTime      = "20060102T150405Z" // in the name of a manifest, UTC

	// format is the version of the repository's format.
	format = 1
	// maxFile bounds the size of a file in a manifest in bytes: a petabyte.
	maxFile = 1 << 50
)

var (
	// ErrBusy is returned where another process is at work in the repository.
	ErrBusy = errors.New("another pmx is backing up into, checking or restoring from it: wait until that is done")
	// ErrNone is returned for a repository without a complete backup.
	ErrNone = errors.New("there is no complete backup in it")
	// ErrDamaged is in the error of a file of the repository whose contents are wrong.
	ErrDamaged = errors.New("damaged")
	errCurrent = fmt.Errorf("is %w", ErrDamaged)
	// ErrNoRepository is returned for a folder that is not a repository.
	ErrNoRepository = errors.New("is not a folder of backups")
)

// File is a file in a backup: a block of Head bytes, then blocks of BlockSize, the last one
// shorter.
type File struct {
	Name   string   `json:"name"`
	Size   int64    `json:"size"` // bytes
	Head   int64    `json:"head,omitempty"`
	Blocks []string `json:"blocks"` // SHA-256 of each, in hex
}

// Manifest is one backup.
type Manifest struct {
	Format int       `json:"format"`
	At     time.Time `json:"at"`    // the time of its state, UTC
	AsOf   time.Time `json:"as_of"` // the newest fill; zero: there is none
	Fills  int64     `json:"fills"`
	Batch  int64     `json:"batch"`  // the newest import; 0: none
	Schema int64     `json:"schema"` // of the database
	Pmx    string    `json:"pmx"`    // versions
	DuckDB string    `json:"duckdb"`
	Writer string    `json:"writer,omitempty"` // who made it: the host and the data directory
	Files  []File    `json:"files"`
}

// Size is the size of all files in bytes.
func (m *Manifest) Size() (total int64) {
	for _, f := range m.Files {
		total += f.Size
	}
	return total
}

// File returns the file with a name; false if the backup has none.
func (m *Manifest) File(name string) (File, bool) {
	i := slices.IndexFunc(m.Files, func(f File) bool { return f.Name == name })
	if i < 0 {
		return File{}, false
	}
	return m.Files[i], true
}

// count returns the number of blocks of a file.
func (f *File) count() int {
	n := (f.Size - f.Head + BlockSize - 1) / BlockSize
	if f.Head > 0 {
		n++
	}
	return int(n)
}

// span returns where block i of a file is.
func (f *File) span(i int) (offset int64, length int) {
	if f.Head > 0 {
		if i == 0 {
			return 0, int(f.Head)
		}
		i--
	}
	offset = f.Head + int64(i)*BlockSize
	return offset, int(min(BlockSize, f.Size-offset))
}

var (
	blockForm    = regexp.MustCompile(`^[0-9a-f]{64}$`)
	manifestForm = regexp.MustCompile(`^[0-9]{8}-[0-9]{8}T[0-9]{6}Z-[0-9a-f]{64}$`)
	fileForm     = regexp.MustCompile(`^[a-z0-9_]+(\.[a-z0-9]+)+$`)
)

// check validates a manifest: its numbers are used as bounds.
func (m *Manifest) check() error {
	if m.Format != format {
		return fmt.Errorf("it has format version %d, and this program supports %d: use a newer pmx", m.Format, format)
	}
	seen := map[string]bool{}
	for i := range m.Files {
		f := &m.Files[i]
		if !fileForm.MatchString(f.Name) || seen[f.Name] || f.Size < 0 || f.Size > maxFile || f.Head < 0 || f.Head > min(f.Size, BlockSize) {
			return fmt.Errorf("%w: it lists %q, which is not a file of a backup", ErrDamaged, f.Name)
		}
		if seen[f.Name] = true; len(f.Blocks) != f.count() {
			return fmt.Errorf("%w: %s has %d blocks, its size needs %d", ErrDamaged, f.Name, len(f.Blocks), f.count())
		}
		for _, sum := range f.Blocks {
			if !blockForm.MatchString(sum) {
				return fmt.Errorf("%w: a block of %s has the name %q", ErrDamaged, f.Name, sum)
			}
		}
	}
	return nil
}

// Repo is an open repository.
type Repo struct {
	dir  string
	lock *os.File // nil if there is none, as on a read-only medium

	passing bool // nothing waits for the disk

	step func(name string) // for tests: called between any two steps
}

// Create opens the repository at dir for a new backup, and creates it if it does not exist. ErrBusy
// if another process is using it. A folder with other things in it is refused.
func Create(dir string) (*Repo, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, asFolder(dir, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	named := func(name string) bool {
		return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
	}
	for _, e := range entries {
		if name := e.Name(); !named(markerName) && name != lockName && name != tmpName && name != "lost+found" {
			return nil, fmt.Errorf("%s %w, and not empty (%s is in it): give an empty folder, or one that does not exist yet", dir, ErrNoRepository, name)
		}
	}
	r := &Repo{dir: dir, step: func(string) {}}
	if err := r.take(true); err != nil {
		return nil, err
	}
	if err := r.prepare(named(markerName)); err != nil {
		return nil, errors.Join(r.full(err), r.Close())
	}
	return r, nil
}

// prepare creates the files and folders of a repository, and removes what an earlier backup left in tmp, except the list of
// what it read ahead.
func (r *Repo) prepare(marked bool) error {
	if marked {
		if err := r.checkMarker(); err != nil {
			return err
		}
	}
	if err := r.emptyTmp(); err != nil {
		return err
	}
	for _, name := range []string{tmpName, blocksName, manifestsName} {
		if err := os.MkdirAll(r.path(name), 0o700); err != nil {
			return err
		}
	}
	if marked {
		return nil
	}
	if err := r.publish(markerName, marker()); err != nil {
		return err
	}
	return data.SyncFolder(filepath.Dir(r.dir))
}

func (r *Repo) emptyTmp() error {
	left, err := os.ReadDir(r.path(tmpName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range left {
		if e.Name() != aheadName {
			err = errors.Join(err, os.RemoveAll(r.path(tmpName, e.Name())))
		}
	}
	return err
}

// Open opens the repository at dir for reading, and keeps backups from being made or removed
// meanwhile. ErrBusy if that is under way.
func Open(dir string) (*Repo, error) {
	r := &Repo{dir: dir, step: func(string) {}}
	if err := r.checkMarker(); err != nil {
		return nil, err
	}
	if err := r.take(false); err != nil {
		return nil, err
	}
	return r, nil
}

// Follow opens the repository at dir for a reader that takes each backup as it comes. It takes no lock: a backup, or
// a block, may be gone or not be there yet when it is read.
func Follow(dir string) (*Repo, error) {
	r := &Repo{dir: dir, step: func(string) {}}
	return r, r.checkMarker()
}

func marker() []byte { return []byte(fmt.Sprintf("{\"format\":%d}\n", format)) }

func (r *Repo) checkMarker() error {
	text, err := data.ReadRegular(r.path(markerName))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s %w: %s is not in it", r.dir, ErrNoRepository, markerName)
	}
	if err != nil {
		return asFolder(r.dir, err)
	}
	if bytes.Equal(text, marker()) {
		return nil
	}
	var of struct{ Format int }
	if json.Unmarshal(text, &of) == nil && of.Format > format {
		return fmt.Errorf("%s was written by a newer pmx: use that version", r.path(markerName))
	}
	return fmt.Errorf("%s is %w", r.path(markerName), ErrDamaged)
}

// take takes the lock, exclusively or shared with other readers.
func (r *Repo) take(alone bool) error {
	f, err := openLock(r.path(lockName), alone)
	if errors.Is(err, ErrBusy) {
		return fmt.Errorf("%s: %w", r.dir, err)
	}
	if errors.Is(err, fs.ErrNotExist) && !alone {
		return nil // a copy of a repository has none, and may be on a read-only medium
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: run it as the user to whom the folder belongs", err)
	}
	r.lock = f
	return r.full(err)
}

// Close releases the lock.
func (r *Repo) Close() error {
	if r.lock == nil {
		return nil
	}
	return r.lock.Close()
}

func (r *Repo) path(parts ...string) string {
	return filepath.Join(append([]string{r.dir}, parts...)...)
}

func (r *Repo) blockPath(sum string) string { return r.path(blocksName, sum[:2], sum) }

// full says that the disk is full if that caused err.
func (r *Repo) full(err error) error {
	if err == nil || !data.IsNoSpace(err) {
		return err
	}
	return &data.NoSpace{Text: fmt.Sprintf("the disk of %s is full; the backups in it stay as they were", r.dir), Cause: err}
}

// publish writes a file and renames it once it is on the disk.
func (r *Repo) publish(name string, text []byte) error {
	path := r.path(name)
	tmp, err := r.writeTmp(text)
	if err != nil {
		return err
	}
	r.step("written " + name)
	if err := os.Rename(tmp, path); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	r.step("named " + name)
	if r.passing {
		return nil
	}
	return data.SyncFolder(filepath.Dir(path))
}

// writeTmp writes a file below tmp, syncs it, and returns its path.
func (r *Repo) writeTmp(parts ...[]byte) (string, error) {
	f, err := os.CreateTemp(r.path(tmpName), "new-*")
	if err != nil {
		return "", err
	}
	for _, part := range parts {
		if err == nil {
			_, err = f.Write(part)
		}
	}
	if err == nil && !r.passing {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// Manifests returns the names of all backups, oldest first.
func (r *Repo) Manifests() ([]string, error) {
	entries, err := os.ReadDir(r.path(manifestsName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), manifestEnd); ok && manifestForm.MatchString(name) {
			names = append(names, name)
		}
	}
	return names, nil // ReadDir sorts
}

// Current returns the name of the newest backup; ErrNone before there is any.
func (r *Repo) Current() (string, error) {
	text, err := data.ReadRegular(r.path(currentName))
	if errors.Is(err, fs.ErrNotExist) {
		if all, err := r.Manifests(); err == nil && len(all) > 0 {
			return "", r.noCurrent("is missing")
		}
		return "", fmt.Errorf("%s: %w", r.dir, ErrNone)
	}
	if err != nil {
		return "", err
	}
	name, whole := strings.CutSuffix(string(text), "\n")
	if !whole || !manifestForm.MatchString(name) {
		return "", r.noCurrent("names no backup")
	}
	switch _, err := os.Stat(r.manifestPath(name)); {
	case errors.Is(err, fs.ErrNotExist):
		return "", r.noCurrent(fmt.Sprintf("names backup %d, whose manifest is missing", Number(name)))
	case err != nil:
		return "", err
	}
	return name, nil
}

// noCurrent is the error of a CURRENT that does not name the newest backup.
func (r *Repo) noCurrent(why string) error {
	return fmt.Errorf("%s %w: it %s", r.path(currentName), errCurrent, why)
}

// Newest returns the time of the newest backup of the repository at dir, without taking a lock;
// false if it is not known.
func Newest(dir string) (time.Time, bool) {
	name, err := (&Repo{dir: dir}).Current()
	if err != nil {
		return time.Time{}, false
	}
	at, err := time.Parse(nameTime, strings.Split(name, "-")[1]) // manifestForm has it
	return at, err == nil
}

func (r *Repo) manifestPath(name string) string { return r.path(manifestsName, name+manifestEnd) }

// Load reads a backup's manifest and checks it against its name.
func (r *Repo) Load(name string) (*Manifest, error) {
	path := r.manifestPath(name)
	text, err := data.ReadRegular(path)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	if !strings.HasSuffix(name, "-"+hex.EncodeToString(sum[:])) {
		return nil, fmt.Errorf("%s is %w: its content does not match its name", path, ErrDamaged)
	}
	m := &Manifest{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("%s is %w: %w", path, ErrDamaged, err)
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// Number is a backup's number, as used on the command line.
func Number(name string) int64 {
	head, _, _ := strings.Cut(name, "-")
	n, _ := strconv.ParseInt(head, 10, 64) // 0 for an invalid name: no backup has it
	return n
}
