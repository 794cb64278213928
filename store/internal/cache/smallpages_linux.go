package cache

import "golang.org/x/sys/unix"

// adviseSmallPages asks for no large pages. The shards of the cache are scattered over its
// memory, so the first few keys would have a hundred large pages filled with zeros, which
// take up memory and hold up who writes then: for milliseconds each where the memory of a
// virtual machine is not there yet. Lookups are as fast with small ones.
func adviseSmallPages(b []byte) { _ = unix.Madvise(b, unix.MADV_NOHUGEPAGE) }
