//go:build unix

package engine

import (
	"os"
	"syscall"
)

// SetOwnerUmask restricts every file that this process creates from now on to its owner, including
// those of DuckDB and SQLite. It returns the previous mask.
func SetOwnerUmask() os.FileMode { return os.FileMode(syscall.Umask(0o077)) & os.ModePerm }
