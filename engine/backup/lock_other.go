//go:build !unix

package backup

import (
	"os"

	"pmx/data"
)

// openLock opens the lock file of a repository, which locks nothing on this platform.
func openLock(path string, alone bool) (*os.File, error) {
	if alone {
		return data.CreateRegular(path)
	}
	return data.OpenRegular(path)
}
