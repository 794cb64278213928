//go:build cgo

package admin

// offHeapBlocks: Pebble keeps cached blocks and memtables outside Go's heap.
const offHeapBlocks = true
