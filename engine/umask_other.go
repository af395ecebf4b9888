//go:build !unix

package engine

import "os"

// SetOwnerUmask does nothing: files have no permission bits here.
func SetOwnerUmask() os.FileMode { return 0 }
