//go:build !unix

package engine

import "os"

// lockFile has nothing to do here: the system lets one process open the file for writing.
func lockFile(*os.File) bool { return true }

// lockHolder is not known here.
func lockHolder(string) (pid int, exe string) { return 0, "" }
