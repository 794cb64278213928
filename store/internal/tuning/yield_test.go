package tuning

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/internal/background"
)

// TestFlushesAndCompactionsYield counts the yields while tables are written.
func TestFlushesAndCompactionsYield(t *testing.T) {
	opts := &pebble.Options{FS: vfs.NewMem()}
	Set(opts, MemTable)
	db, err := pebble.Open("", opts)
	if err != nil {
		t.Fatal(err)
	}
	woken := 0
	end := background.OnYield(func() { woken++ })
	const keys = 1000
	for range 2 { // tables that overlap: one alone would be moved, not written
		for i := range keys {
			if err := db.Set(fmt.Appendf(nil, "key%d", i), []byte("v"), pebble.NoSync); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	flushes := woken
	if err := db.Compact(t.Context(), []byte("a"), []byte("z"), false); err != nil {
		t.Fatal(err)
	}
	end()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if flushes < 2*keys/100 || woken-flushes < keys/100 {
		t.Errorf("two flushes of %d keys yielded %d times, their compaction %d times", keys, flushes, woken-flushes)
	}
}
