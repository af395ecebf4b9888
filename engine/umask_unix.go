//go:build unix

package engine

import (
	"os"
	"syscall"
)

// SetOwnerUmask makes whatever this process creates from now on its owner's alone, also what DuckDB
// and SQLite create, and returns the bits that were withheld before.
func SetOwnerUmask() os.FileMode { return os.FileMode(syscall.Umask(0o077)) & os.ModePerm }
