package export

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"os"
	"path/filepath"

	"pmx/data"
)

// joiner puts the files of the steps together to one.
type joiner interface {
	// add takes over what the step's file holds.
	add(path string, first bool) error
	// finish writes what stands at the end.
	finish() error
}

// outputFile is a file under construction: written as path.part, hashed on the way.
type outputFile struct {
	path string
	file *os.File
	sum  hash.Hash
	size int64
}

func newOutputFile(path string) (*outputFile, error) {
	f, err := os.Create(path + ".part")
	if err != nil {
		return nil, err
	}
	return &outputFile{path: path, file: f, sum: sha256.New()}, nil
}

// Write adds b to the file and to its hash.
func (p *outputFile) Write(b []byte) (int, error) {
	n, err := p.file.Write(b)
	p.sum.Write(b[:n])
	p.size += int64(n)
	return n, err
}

// publish brings the file to the disk, has it checked, and gives it its name.
func (p *outputFile) publish(check func(f *os.File) error) error {
	if err := p.file.Sync(); err != nil {
		return err
	}
	if err := check(p.file); err != nil {
		return fmt.Errorf("read back: %w", err)
	}
	if err := errors.Join(p.file.Close(), os.Rename(p.file.Name(), p.path)); err != nil {
		return err
	}
	return data.SyncFolder(filepath.Dir(p.path))
}

// discard removes what was not published; it does nothing after publish.
func (p *outputFile) discard() error {
	_ = p.file.Close() // twice is harmless
	if err := os.Remove(p.file.Name()); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
