package store

import "golang.org/x/sys/unix"

// adviseHugePages asks for large pages: lookups go all over the memory, and with
// small ones most of them would also miss the processor's table of pages.
func adviseHugePages(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }
