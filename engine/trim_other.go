//go:build !linux

package engine

// TrimMemory would return unused memory of the C library to the system.
func TrimMemory() {}

// TrimBlocks would return freed memory of DuckDB's blocks to the system.
func TrimBlocks() {}
