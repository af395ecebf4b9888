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

// joiner concatenates the files of the steps.
type joiner interface {
	// add appends the contents of a step's file.
	add(path string, first bool) error
	// finish writes the end of the file.
	finish() error
}

// outputFile is a file that is being written as path.part and hashed.
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

// publish syncs the file, calls check, and renames it to its final name.
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

// discard removes an unpublished file; it does nothing after publish.
func (p *outputFile) discard() error {
	_ = p.file.Close() // calling it twice is harmless
	if err := os.Remove(p.file.Name()); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
