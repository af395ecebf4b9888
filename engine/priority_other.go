//go:build !linux

package engine

// lowerPriority does nothing where priorities belong to processes, not to threads.
func lowerPriority() {}
