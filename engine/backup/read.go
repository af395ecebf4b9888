package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"pmx/data"
)

// reader reads blocks from their files.
type reader struct {
	repo  *Repo
	unzip *zstd.Decoder
}

func (r *Repo) newReader() (*reader, error) {
	unzip, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(workers), zstd.WithDecoderMaxMemory(2*BlockSize))
	return &reader{r, unzip}, err
}

// packed returns a block compressed with zstd, as stored. It checks the file against the checksum at
// its beginning.
func (r *Repo) packed(sum string) ([]byte, error) {
	path := r.blockPath(sum)
	text, err := data.ReadRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is missing: %w", path, ErrDamaged)
	}
	if err != nil {
		return nil, err
	}
	if len(text) < sumSize || sha256.Sum256(text[sumSize:]) != [sumSize]byte(text) {
		return nil, damagedBlock(path)
	}
	return text[sumSize:], nil
}

func damagedBlock(path string) error {
	return fmt.Errorf("%s is %w: its content does not match its name", path, ErrDamaged)
}

// block returns the contents of a block, after checking every byte of its file.
func (r *reader) block(sum string, buffer []byte) ([]byte, error) {
	packed, err := r.repo.packed(sum)
	if err != nil {
		return nil, err
	}
	damaged := damagedBlock(r.repo.blockPath(sum))
	block, err := r.unzip.DecodeAll(packed, buffer[:0])
	if err != nil {
		return nil, damaged
	}
	if got := sha256.Sum256(block); hex.EncodeToString(got[:]) != sum {
		return nil, damaged
	}
	return block, nil
}

// blockOf returns the contents of block i of a file.
func (r *reader) blockOf(f *File, i int, buffer []byte) ([]byte, error) {
	block, err := r.block(f.Blocks[i], buffer)
	if err != nil {
		return nil, err
	}
	if _, length := f.span(i); len(block) != length {
		return nil, fmt.Errorf("%s is %w: %s needs %d bytes of it, it has %d", r.repo.blockPath(f.Blocks[i]), ErrDamaged, f.Name, length, len(block))
	}
	return block, nil
}

// Extract writes a file of a backup to an empty file, checking every block, and syncs it. done is
// called with the number of bytes written, by several goroutines at once.
func (r *Repo) Extract(ctx context.Context, f File, to *os.File, done func(bytes int64)) error {
	from, err := r.newReader()
	if err != nil {
		return err
	}
	defer from.unzip.Close()
	err = eachAtOnce(ctx, len(f.Blocks), func(buffer []byte, i int) error {
		block, err := from.blockOf(&f, i, buffer)
		if err != nil {
			return err
		}
		offset, length := f.span(i)
		done(int64(length))
		_, err = to.WriteAt(block, offset)
		return err
	})
	if err != nil {
		return err
	}
	return to.Sync()
}

// Report is what a check of a repository found.
type Report struct {
	Backups int      `json:"backups"`
	Blocks  int      `json:"blocks"`
	Bytes   int64    `json:"bytes"`  // the size of the blocks on the disk
	Faults  []string `json:"faults"` // sentences that begin with the path of a file, in order
	Advice  []string `json:"advice"` // what to do, a sentence for each kind of fault
}

// What to do about faults, by kind.
const (
	adviceManifest = "a damaged or missing manifest is one backup lost, and no other: copy the file from where the folder was carried to, or remove it; the next pmx backup --keep removes its blocks"
	adviceCurrent  = "the next backup writes CURRENT again; until then name the backup to restore with --backup"
	adviceBlock    = "the next backup writes a damaged or missing block again if the database still holds it: back up, then check again; backups that need an older version of it are lost"
	adviceStrange  = "files that do not belong to a backup do no harm: move them away"
)

// Verify reads and checks every file of a repository. done is called with the share that is done,
// by several goroutines at once. The error is for what could not be read at all.
func (r *Repo) Verify(ctx context.Context, done func(share float64)) (*Report, error) {
	v := &verification{repo: r, report: &Report{Faults: []string{}, Advice: []string{}}}
	if err := v.list(); err != nil {
		return nil, err
	}
	needed, err := v.manifests()
	if err != nil {
		return nil, err
	}
	if err := v.blocks(ctx, done); err != nil {
		return nil, err
	}
	for sum, by := range needed {
		if !slices.Contains(v.found[sum[:2]], sum) {
			v.fault(fmt.Errorf("%s is missing: backup %d needs it", r.blockPath(sum), Number(by)), adviceBlock)
		}
	}
	slices.Sort(v.report.Faults)
	slices.Sort(v.report.Advice)
	return v.report, nil
}

// verification is one check of a repository.
type verification struct {
	repo   *Repo
	found  map[string][]string // blocks, by the first two letters
	mu     sync.Mutex
	report *Report
}

// fault records what is wrong, and what to do about it.
func (v *verification) fault(err error, advice string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !slices.Contains(v.report.Advice, advice) {
		v.report.Advice = append(v.report.Advice, advice)
	}
	v.report.Faults = append(v.report.Faults, err.Error())
}

// list finds the blocks, and files that do not belong to the repository.
func (v *verification) list() error {
	v.found = map[string][]string{}
	return filepath.WalkDir(v.repo.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := e.Name()
		switch rel, _ := filepath.Rel(v.repo.dir, path); {
		case rel == tmpName || rel == "lost+found":
			return fs.SkipDir
		case e.IsDir(), rel == markerName, rel == currentName, rel == lockName:
		case filepath.Dir(rel) == manifestsName && manifestForm.MatchString(strings.TrimSuffix(name, manifestEnd)) && strings.HasSuffix(name, manifestEnd):
		case blockForm.MatchString(name) && path == v.repo.blockPath(name):
			info, err := e.Info()
			if err != nil {
				return err
			}
			v.found[name[:2]] = append(v.found[name[:2]], name)
			v.report.Blocks++
			v.report.Bytes += info.Size()
		default:
			v.fault(fmt.Errorf("%s is not a file of a backup", path), adviceStrange)
		}
		return nil
	})
}

// manifests checks CURRENT and all backups, and returns the blocks that they need, each with a
// backup that does.
func (v *verification) manifests() (map[string]string, error) {
	names, err := v.repo.Manifests()
	if err != nil {
		return nil, err
	}
	if _, err := v.repo.Current(); err != nil {
		v.fault(err, adviceCurrent)
	}
	needed := map[string]string{}
	for _, name := range names {
		v.report.Backups++
		m, err := v.repo.Load(name)
		if err != nil {
			v.fault(err, adviceManifest)
			continue
		}
		for _, f := range m.Files {
			for _, sum := range f.Blocks {
				needed[sum] = name
			}
		}
	}
	return needed, nil
}

// blocks reads all that were found.
func (v *verification) blocks(ctx context.Context, done func(share float64)) error {
	from, err := v.repo.newReader()
	if err != nil {
		return err
	}
	defer from.unzip.Close()
	var all []string
	for _, sums := range v.found {
		all = append(all, sums...)
	}
	return eachAtOnce(ctx, len(all), func(buffer []byte, i int) error {
		if _, err := from.block(all[i], buffer); err != nil {
			v.fault(err, adviceBlock)
		}
		done(float64(i+1) / float64(len(all)))
		return nil
	})
}
