//go:build !amd64 && !arm64

package cache

import "unsafe"

// prefetchLine does nothing where no instruction is known for it.
func prefetchLine(unsafe.Pointer) {}
