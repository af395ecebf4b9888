//go:build !unix

package backup

import (
	"os"

	"pmx/data"
)

// openLock opens the lock of a repository, which keeps nobody out here.
func openLock(path string, alone bool) (*os.File, error) {
	if alone {
		return data.CreateRegular(path)
	}
	return data.OpenRegular(path)
}
