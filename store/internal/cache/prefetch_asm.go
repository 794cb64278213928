//go:build amd64 || arm64

package cache

import "unsafe"

// prefetchLine asks the processor to load the line of memory at addr, and does not wait for it.
//
//go:noescape
func prefetchLine(addr unsafe.Pointer)
