//go:build cgo && linux

package memory

/*
#include <stdlib.h>

// glibc has mallopt, musl has not.
extern int mallopt(int param, int value) __attribute__((weak));

// The numbers are those of glibc's malloc.h. Threads get their heaps as they start, and the
// Go runtime starts some before Go code runs, so this runs when the program is loaded.
__attribute__((constructor)) static void ringside_one_heap(void) {
	if (mallopt == NULL || getenv("MALLOC_ARENA_MAX") != NULL)
		return;
	mallopt(-8, 1);         // M_ARENA_MAX
	mallopt(-3, 512 << 10); // M_MMAP_THRESHOLD
	mallopt(-1, 4 << 20);   // M_TRIM_THRESHOLD
}
*/
import "C"

// By default glibc keeps up to eight heaps for each processor, and the blocks that Pebble frees
// in one are of no use in the others: at 20 MiB of cached blocks they held 130 MiB. So there is
// one heap for all threads, and large blocks, such as memtables, go back to the system when
// they are freed. Without cgo, Pebble's memory is in Go's heap.
