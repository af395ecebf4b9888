package engine

/*
#include <stddef.h>
// Of glibc; other libraries give memory back by themselves, or not at all.
extern int malloc_trim(size_t pad) __attribute__((weak));
static void trim(void) { if (malloc_trim) malloc_trim(0); }

// Of the allocator that DuckDB is built with; 4096 is all of its arenas.
extern int duckdb_je_mallctl(const char *name, void *old, size_t *old_size, void *next, size_t next_size) __attribute__((weak));
static void purge(void) {
	if (!duckdb_je_mallctl) return;
	duckdb_je_mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
	duckdb_je_mallctl("arena.4096.purge", NULL, NULL, NULL, 0);
}
*/
import "C"

// TrimMemory gives the system what the C library does not use any more: it keeps some 200 MB between
// what is still used. It takes milliseconds, and as much again to have the pages once more: it is for the end of
// work that needed much.
func TrimMemory() { C.trim() }

// TrimBlocks gives the system what DuckDB's blocks and hash tables were in: its allocator keeps it for
// seconds, and forever where nothing is asked of it any more.
func TrimBlocks() { C.purge() }
