//go:build !linux

package engine

import "os"

// diskSpace is not known here.
func diskSpace(string) (free, total int64, ok bool) { return 0, 0, false }

// allocate is not known here.
func allocate(*os.File, int64) error { return nil }
