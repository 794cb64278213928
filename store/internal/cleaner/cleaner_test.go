package cleaner

import (
	"fmt"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/store/internal/cache"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// The closer to the limit, the less the cleaner pauses: not at all from the limit on.
func TestCleanerPausesLessTheMoreIsDirty(t *testing.T) {
	lines, err := cache.New(16 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer lines.Close()
	cl := New(Config{Cache: lines, Limit: 1 << 20})
	last := longestPause
	for i := uint64(0); lines.DirtyBytes() < cl.Limit; i++ {
		pause := cl.pauseAfter(time.Millisecond)
		if pause > last || pause <= 0 {
			t.Fatalf("%d bytes are dirty: a pause of %v after one of %v", lines.DirtyBytes(), pause, last)
		}
		last = pause
		if !lines.PutDirty(layout.Place(i*0x9E3779B97F4A7C15), fmt.Appendf(nil, "key-%d", i), make([]byte, 1000), true) {
			t.Fatal("there is no room for a dirty line")
		}
	}
	if pause := cl.pauseAfter(time.Millisecond); pause != 0 {
		t.Errorf("a pause of %v at the limit", pause)
	}
	if last > time.Millisecond/10 {
		t.Errorf("a pause of %v close to the limit", last)
	}
}
