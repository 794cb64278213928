package cache

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

// An index finds all that there is as it grows, and where lines go meanwhile; it begins small,
// and goes no further than there is room.
func TestCacheIndexGrows(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	c, err := New(64 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetComplete()
	key := func(i int) []byte { return fmt.Appendf(nil, "key-%d", i) }
	gone := func(i, now int) bool { return i%3 == 0 && i < now/2 }
	for i := range 1 << 18 {
		k := key(i)
		c.Put(layout.PlaceOf(testToken, k), k, k)
		if i%6 == 0 {
			k := key(i / 2) // of which i/2 is one by three
			c.Remove(layout.PlaceOf(testToken, k), k)
		}
		switch now := i + 1; now {
		case 64, 1 << 10, 1 << 15, 1 << 17, 1 << 18:
			missing := 0
			for j := range now {
				k := key(j)
				line, answer := c.Get(layout.PlaceOf(testToken, k), k, nil)
				switch {
				case gone(j, now) && answer == Hit:
					t.Fatalf("key %d of %d was removed, and is there", j, now)
				case !gone(j, now) && answer == Absent:
					t.Fatalf("key %d of %d is not there, says the cache", j, now)
				case !gone(j, now) && answer != Hit:
					missing++
				case answer == Hit && !bytes.Equal(line, k):
					t.Fatalf("key %d of %d is %q", j, now, line)
				}
			}
			slots := c.shards[0].slots.Load()
			t.Logf("%d keys: %d slots a shard, %d not found", now, slots, missing)
			if missing > 0 {
				t.Errorf("%d of %d keys are not found", missing, now)
			}
			if now == 64 && slots != firstSlots || now > 1<<15 && slots <= firstSlots {
				t.Errorf("with %d keys a shard has %d slots", now, slots)
			}
		}
	}
	for i := range c.shards {
		if s := &c.shards[i]; int(s.slots.Load()) > len(s.index)/8 || s.used > s.slots.Load()-s.slots.Load()/4 {
			t.Errorf("shard %d has %d of %d slots, and room for %d", i, s.used, s.slots.Load(), len(s.index)/8)
		}
	}
}

// An index that would take long to grow, while its shard waits, does not.
func TestLargeCacheIndexDoesNotGrow(t *testing.T) {
	for size, grows := range map[int64]bool{256 << 20: true, 1 << 30: false} {
		c, err := New(size)
		if err != nil {
			t.Fatal(err)
		}
		s := &c.shards[0]
		if most := len(s.index) / 8; (int(s.slots.Load()) < most) != grows {
			t.Errorf("a cache of %d bytes begins with %d of %d slots a shard", size, s.slots.Load(), most)
		}
		c.Close()
	}
}
