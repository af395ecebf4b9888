package main

import (
	"syscall"
	"testing"
)

// keepUmask restores the process's umask when the test ends: a command that runs in the test's
// process changes it for all later tests.
func keepUmask(t *testing.T) {
	t.Helper()
	before := syscall.Umask(0o077)
	syscall.Umask(before)
	t.Cleanup(func() { syscall.Umask(before) })
}
