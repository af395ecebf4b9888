//go:build !unix

package engine

import "os"

// SetOwnerUmask does nothing where files have no permission bits.
func SetOwnerUmask() os.FileMode { return 0 }
