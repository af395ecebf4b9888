package engine

/*
#include <stddef.h>
// Of glibc; other libraries give memory back by themselves, or not at all.
extern int malloc_trim(size_t pad) __attribute__((weak));
static void trim(void) { if (malloc_trim) malloc_trim(0); }
*/
import "C"

// TrimMemory gives the system what the C library does not use any more, of which DuckDB's blocks and hash
// tables were: it keeps some 200 MB of them between what is still used. It takes milliseconds, and as much
// again to have the pages once more: it is for the end of work that needed much.
func TrimMemory() { C.trim() }
