//go:build !linux

package engine

// giveWay does nothing where priorities belong to processes, not to threads.
func giveWay() {}
