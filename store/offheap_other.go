//go:build !unix

package store

// allocOffHeap falls back to the Go heap where there is no mmap.
func allocOffHeap(n int64) ([]byte, error) { return make([]byte, n), nil }

func freeOffHeap([]byte) {}
