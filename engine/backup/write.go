package backup

import (
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
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"

	"pmx/engine"
	"pmx/engine/guard"

	"pmx/data"
)

// workers is the number of blocks that are read, written or checked at once: most of that is
// waiting for a disk.
const workers = 8

// sumSize is the size of the checksum at the beginning of a block's file: the SHA-256 of what
// follows, which is the block compressed with zstd.
const sumSize = sha256.Size

// Writer adds one backup.
type Writer struct {
	repo *Repo
	zip  *zstd.Encoder

	mu      sync.Mutex
	have    map[string]proof // blocks that exist, or are about to
	folders map[string]bool  // of blocks, that were created
	ahead   map[string]bool  // blocks that AddAhead stored and no backup is known to need; true: in this backup
	list    *os.File         // of ahead; nil: this backup added none

	blocks, stored atomic.Int64
}

// proof is what is known about an existing block.
type proof int

const (
	unread proof = iota + 1 // its file exists, and may be damaged by now
	sure                    // it was read completely, or written, by this backup
)

// Begin begins a backup.
func (r *Repo) Begin() (*Writer, error) {
	zip, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(workers),
		zstd.WithWindowSize(BlockSize), zstd.WithLowerEncoderMem(true)) // no block is larger: 0.4 MB for each worker instead of 8
	if err != nil {
		return nil, err
	}
	w := &Writer{repo: r, zip: zip, have: map[string]proof{}, folders: map[string]bool{}, ahead: map[string]bool{}}
	if err := r.eachBlock(func(sum string, _ int64) error {
		w.have[sum] = unread
		return nil
	}); err != nil {
		return nil, err
	}
	return w, w.findAhead()
}

// Stored is how many blocks were written, and their bytes on the disk.
func (w *Writer) Stored() (blocks, bytes int64) { return w.blocks.Load(), w.stored.Load() }

// Add stores the blocks of a file that do not exist yet. It reads all of the file: that a block
// looks unchanged does not prove it. It also reads the file of each block that exists, once, and
// writes a damaged one again. done is called with the number of bytes read, by several goroutines
// at once. If Add fails, the blocks that it has stored are kept, and the next backup uses them.
func (w *Writer) Add(ctx context.Context, f File, from io.ReaderAt, done func(bytes int64)) (File, error) {
	return w.add(ctx, f, from, func(_ int, block []byte) (string, error) {
		sum, err := w.put(block, nil)
		if err == nil {
			done(int64(len(block)))
		}
		return sum, err
	})
}

// add reads a file, several blocks at once, and calls store for the SHA-256 of each.
func (w *Writer) add(ctx context.Context, f File, from io.ReaderAt, store func(i int, block []byte) (sum string, err error)) (File, error) {
	f.Blocks = make([]string, f.count())
	err := eachAtOnce(ctx, len(f.Blocks), func(buffer []byte, i int) (err error) {
		offset, length := f.span(i)
		block := buffer[:length]
		if _, err := from.ReadAt(block, offset); err != nil {
			return fmt.Errorf("read %s: %w", f.Name, err)
		}
		if f.Blocks[i], err = store(i, block); err != nil {
			return fmt.Errorf("write a block of %s: %w", f.Name, w.repo.full(err))
		}
		return nil
	})
	return f, err
}

// put stores a block unless it exists and is complete. fresh may be nil; otherwise it is called
// before a block with a new name is created.
func (w *Writer) put(block []byte, fresh func(sum string) error) (sum string, err error) {
	hash := sha256.Sum256(block)
	sum = hex.EncodeToString(hash[:])
	path := w.repo.blockPath(sum)
	w.mu.Lock()
	known, folder := w.have[sum], filepath.Dir(path)
	made := w.folders[folder]
	w.have[sum] = sure
	w.mu.Unlock()
	if known == sure {
		return sum, nil
	}
	if known == unread {
		if _, err := w.repo.packed(sum); err == nil {
			return sum, nil
		}
	}
	if !made {
		// Create made the folder that it is in. If that is gone, it is not made again here: a folder with blocks alone is no repository.
		if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
		w.mu.Lock()
		w.folders[folder] = true
		w.mu.Unlock()
	}
	if known == 0 && fresh != nil {
		if err := fresh(sum); err != nil {
			return "", err
		}
	}
	packed := w.zip.EncodeAll(block, nil)
	check := sha256.Sum256(packed)
	tmp, err := w.repo.writeTmp(check[:], packed)
	if err != nil {
		return "", err
	}
	w.repo.step("written block")
	if err := os.Rename(tmp, path); err != nil {
		return "", errors.Join(err, os.Remove(tmp))
	}
	w.repo.step("named block")
	w.blocks.Add(1)
	w.stored.Add(int64(len(packed) + sumSize))
	return sum, nil
}

// Publish completes the backup: what it needs is on the disk before its manifest is, and the
// manifest before CURRENT names it. It returns the backup's name. Tidy may follow.
func (w *Writer) Publish(m Manifest) (string, error) {
	name, err := w.publish(m)
	if err == nil {
		w.forget(&m)
	}
	return name, w.repo.full(err)
}

func (w *Writer) publish(m Manifest) (string, error) {
	m.Format = format
	if err := m.check(); err != nil {
		return "", err
	}
	if !w.repo.passing {
		if err := w.syncFolders(); err != nil {
			return "", err
		}
	}
	w.repo.step("blocks synced")
	all, err := w.repo.Manifests()
	if err != nil {
		return "", err
	}
	number := int64(1)
	if len(all) > 0 {
		number = Number(all[len(all)-1]) + 1
	}
	text, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return "", err
	}
	text = append(text, '\n')
	sum := sha256.Sum256(text)
	name := fmt.Sprintf("%08d-%s-%s", number, m.At.UTC().Format(nameTime), hex.EncodeToString(sum[:]))
	if !manifestForm.MatchString(name) {
		return "", fmt.Errorf("backup %d of %s cannot be named", number, m.At.Format(time.RFC3339))
	}
	if err := w.repo.publish(filepath.Join(manifestsName, name+manifestEnd), text); err != nil {
		return "", err
	}
	return name, w.repo.publish(currentName, []byte(name+"\n"))
}

// syncFolders syncs the names of all blocks to the disk, including those of an earlier backup that
// was killed before it could.
func (w *Writer) syncFolders() error {
	blocks := w.repo.path(blocksName)
	list, err := os.ReadDir(blocks)
	if err != nil {
		return err
	}
	for _, e := range list {
		if !e.IsDir() {
			continue // Verify reports it
		}
		if err := data.SyncFolder(filepath.Join(blocks, e.Name())); err != nil {
			return err
		}
	}
	return data.SyncFolder(blocks)
}

// eachBlock calls f with every existing block and the size of its file.
func (r *Repo) eachBlock(f func(sum string, size int64) error) error {
	err := filepath.WalkDir(r.path(blocksName), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name := e.Name()
		if !blockForm.MatchString(name) || path != r.blockPath(name) || !e.Type().IsRegular() {
			return nil // Verify reports it
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		return f(name, info.Size())
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// eachAtOnce calls f for 0 … n-1, several at once with a buffer each, on threads of low priority,
// until one fails or ctx ends.
func eachAtOnce(ctx context.Context, n int, f func(buffer []byte, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range min(workers, n) {
		guard.InGroup(group, func() error {
			return engine.LowPriority(func() error {
				buffer := make([]byte, BlockSize)
				for {
					i := int(next.Add(1) - 1)
					if i >= n {
						return nil
					}
					if err := context.Cause(ctx); err != nil {
						return err
					}
					if err := f(buffer, i); err != nil {
						return err
					}
				}
			})
		})
	}
	return group.Wait()
}

// Prune removes all but the newest keep backups, and then the blocks that none of the others needs;
// CURRENT is kept in any case. It returns how many backups and blocks were removed. If a backup
// that is kept cannot be read, nothing is removed.
func (r *Repo) Prune(keep int) (backups, blocks int, err error) {
	all, err := r.Manifests()
	if err != nil {
		return 0, 0, err
	}
	current, err := r.Current()
	if err != nil {
		return 0, 0, err
	}
	needed := map[string]bool{}
	var old []string
	for i, name := range all {
		if i < len(all)-keep && name != current {
			old = append(old, name)
			continue
		}
		m, err := r.Load(name)
		if err != nil {
			return 0, 0, fmt.Errorf("nothing was removed, because a backup that is to stay cannot be read: %w; remove that file if no other copy of it is left", err)
		}
		for _, f := range m.Files {
			for _, sum := range f.Blocks {
				needed[sum] = true
			}
		}
	}
	for _, name := range old {
		if err := r.remove(name); err != nil {
			return backups, 0, err
		}
		backups++
		r.step("removed manifest")
	}
	if err := data.SyncFolder(r.path(manifestsName)); err != nil { // before any block is removed
		return backups, 0, err
	}
	err = r.eachBlock(func(sum string, _ int64) error {
		if needed[sum] {
			return nil
		}
		blocks++
		err := os.Remove(r.blockPath(sum))
		r.step("removed block")
		return err
	})
	return backups, blocks, err
}

// remove removes a backup, but not its blocks.
func (r *Repo) remove(name string) error { return os.Remove(r.manifestPath(name)) }

// Find returns the name of the backup with a number; "" is the newest.
func (r *Repo) Find(number string) (string, error) {
	all, err := r.Manifests()
	if err != nil {
		return "", err
	}
	if number == "" {
		name, err := r.Current()
		if errors.Is(err, errCurrent) {
			err = fmt.Errorf("%w; give the number of a backup: it has %s", err, numbers(all))
		}
		return name, err
	}
	for _, name := range all {
		if fmt.Sprint(Number(name)) == number {
			return name, nil
		}
	}
	return "", fmt.Errorf("%s has no backup %s: it has %s", r.dir, number, numbers(all))
}

// numbers lists backups by number.
func numbers(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	var all []string
	for _, name := range names {
		all = append(all, fmt.Sprint(Number(name)))
	}
	return strings.Join(all, ", ")
}
