//go:build unix

package cache

import "golang.org/x/sys/unix"

// allocOffHeap returns n zeroed bytes that the collector does not know of. The
// operating system gives the pages as they are first touched.
func allocOffHeap(n int64) ([]byte, error) {
	b, err := unix.Mmap(-1, 0, int(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err == nil {
		adviseSmallPages(b)
	}
	return b, err
}

func freeOffHeap(b []byte) { _ = unix.Munmap(b) }
