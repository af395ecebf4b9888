package engine

/*
#include <stddef.h>
// From glibc; other libraries return memory by themselves, or not at all.
extern int malloc_trim(size_t pad) __attribute__((weak));
static void trim(void) { if (malloc_trim) malloc_trim(0); }

// From the allocator that DuckDB is built with; 4096 means all of its arenas.
extern int duckdb_je_mallctl(const char *name, void *old, size_t *old_size, void *next, size_t next_size) __attribute__((weak));
static void purge(void) {
	if (!duckdb_je_mallctl) return;
	duckdb_je_mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
	duckdb_je_mallctl("arena.4096.purge", NULL, NULL, NULL, 0);
}
*/
import "C"

// TrimMemory returns unused memory of the C library to the system: otherwise it keeps some 200 MB between what
// is in use. It takes milliseconds, and getting the pages back as much again, so it is for the end of work that
// needed a lot of memory.
func TrimMemory() { C.trim() }

// TrimBlocks returns freed memory of DuckDB's blocks and hash tables to the system: its allocator
// keeps it for seconds, or forever if it is not called again.
func TrimBlocks() { C.purge() }
