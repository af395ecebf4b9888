//go:build !linux

package engine

// TrimMemory would give the system what the C library does not use any more.
func TrimMemory() {}

// TrimBlocks would give the system what DuckDB's blocks were in.
func TrimBlocks() {}
