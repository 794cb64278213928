//go:build !cgo

package admin

const offHeapBlocks = false
