package main

import (
	"syscall"
	"testing"
)

// keepUmask gives the process its umask back when the test ends: a command that runs in
// the test's process changes it for those of all tests behind it.
func keepUmask(t *testing.T) {
	t.Helper()
	before := syscall.Umask(0o077)
	syscall.Umask(before)
	t.Cleanup(func() { syscall.Umask(before) })
}
