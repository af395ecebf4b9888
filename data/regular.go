package data

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// ErrNotRegular is returned for a pipe, a socket, a device or a folder.
var ErrNotRegular = errors.New("not a regular file: pipes, sockets and devices are not read")

// OpenRegular opens a regular file for reading and refuses anything else. Opening does not wait for
// the writer of a pipe, and the opened file itself is checked, not its name.
func OpenRegular(path string) (*os.File, error) { return regular(path, os.O_RDONLY, 0) }

// CreateRegular is os.Create for regular files: it does not wait for the reader of a pipe.
func CreateRegular(path string) (*os.File, error) {
	return regular(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o666)
}

// OpenOrCreateRegular opens a regular file for reading and writing, and creates it if it is missing.
func OpenOrCreateRegular(path string, mode os.FileMode) (*os.File, error) {
	return regular(path, os.O_CREATE|os.O_RDWR, mode)
}

// ReadRegular returns the contents of a regular file.
func ReadRegular(path string) ([]byte, error) {
	file, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(file)
	return text, errors.Join(err, file.Close())
}

func regular(path string, flag int, mode os.FileMode) (*os.File, error) {
	file, err := os.OpenFile(path, flag|syscall.O_NONBLOCK, mode)
	if errors.Is(err, syscall.ENXIO) { // a socket, or a pipe that nobody reads
		return nil, fmt.Errorf("%s: %w", path, ErrNotRegular)
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", path, ErrNotRegular)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
