//go:build !cgo

package resp

const offHeapBlocks = false
