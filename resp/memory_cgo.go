//go:build cgo

package resp

// offHeapBlocks: Pebble keeps cached blocks and memtables outside Go's heap.
const offHeapBlocks = true
