package cache

import (
	"fmt"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

// A cache takes memory as it fills, wherever its shards lie.
func TestCacheWithFewLinesTakesLittleMemory(t *testing.T) {
	c, err := New(256 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	line := make([]byte, 64)
	for i := range 1000 {
		c.Put(layout.Place(layout.Mix(uint64(i))), fmt.Appendf(nil, "key:%d", i), line)
	}
	at := func(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
	pages := make([]byte, (len(c.mem)+unix.Getpagesize()-1)/unix.Getpagesize())
	if _, _, errno := unix.Syscall(unix.SYS_MINCORE, at(c.mem), uintptr(len(c.mem)), at(pages)); errno != 0 {
		t.Fatal(errno)
	}
	resident := 0
	for _, p := range pages {
		resident += int(p&1) * unix.Getpagesize()
	}
	if resident == 0 || resident > 16<<20 {
		t.Errorf("%d bytes are there for a thousand lines", resident)
	}
}
