//go:build !unix

package cache

// allocOffHeap falls back to the Go heap where there is no mmap.
func allocOffHeap(n int64) ([]byte, error) { return make([]byte, n), nil }

func freeOffHeap([]byte) {}
