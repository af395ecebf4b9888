//go:build !unix

package engine

// lockHolder is not known here.
func lockHolder(string) (pid int, exe string) { return 0, "" }
