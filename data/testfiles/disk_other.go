//go:build !linux

package testfiles

import "testing"

// Disk skips the test: no small disk can be mounted here.
func Disk(t testing.TB, _ string) string {
	t.Skip("a disk that is full needs Linux, to mount one")
	return ""
}

// Fill is for a folder that Disk gave.
func Fill(testing.TB, string) {}
