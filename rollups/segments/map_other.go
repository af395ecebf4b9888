//go:build !unix

package segments

import (
	"io"
	"os"
)

// noWait is no flag here.
const noWait = 0

// mapFile reads the first size bytes of f: there is no mapping here.
func mapFile(f *os.File, size int) ([]byte, error) {
	b := make([]byte, size)
	_, err := io.ReadFull(f, b)
	return b, err
}

func unmap([]byte) error { return nil }

func adviseRandom([]byte) {}

func adviseNeeded([]byte, int, int) {}
