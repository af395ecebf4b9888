//go:build !unix

package engine

import "os"

// OwnerOnly does nothing where files have no permission bits.
func OwnerOnly() os.FileMode { return 0 }
