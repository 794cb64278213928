package cache

import (
	"fmt"
	"testing"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

func TestSampleFindsKeys(t *testing.T) {
	c, err := New(4 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	want := make(map[string]int)
	for i := range 2000 {
		key := fmt.Appendf(nil, "key:%d", i)
		p := layout.PlaceOf(testToken, key)
		switch line := (&layout.Header{Type: layout.String, Value: make([]byte, i)}).Append(nil); i % 4 {
		case 0: // a key that has gone, and is to be removed from disk
			c.PutDirty(p, key, line, true)
			c.PutDirty(p, key, nil, true)
		case 1: // a member of a set
			c.Begin(uint64(i))
			c.putElement(p, append(make([]byte, 8), 'm'), line)
		default:
			c.Put(p, key, line)
			want[string(key)] = i
		}
	}
	found := make(map[string]bool)
	for range 50_000 {
		seen := 0
		c.Sample(64, func(k *Sampled) bool {
			size, ok := want[string(k.Key)]
			if !ok || k.Place != layout.PlaceOf(testToken, k.Key) || k.Elided != 0 || len(k.Head) != size+2 {
				t.Fatalf("%+v", k)
			}
			found[string(k.Key)] = true
			seen++
			return seen < 3
		})
		if seen > 3 {
			t.Fatalf("%d keys after visit wanted no more", seen)
		}
		if len(found) == len(want) {
			return
		}
	}
	t.Errorf("%d of %d keys were found", len(found), len(want))
}

func TestSampleKnowsSizesByStubs(t *testing.T) {
	c, err := New(8 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const size = 1000
	for i := range 16_000 { // twice as many bytes as fit
		key := fmt.Appendf(nil, "key:%d", i)
		c.Put(layout.PlaceOf(testToken, key), key, (&layout.Header{Type: layout.String, Expiry: 7, Value: make([]byte, size)}).Append(nil))
	}
	stubs, lines := 0, 0
	for range 1000 {
		c.Sample(64, func(k *Sampled) bool {
			var h layout.Header
			if err := h.Parse(k.Head); err != nil || h.Expiry != 7 || h.Size()+int64(k.Elided) != size {
				t.Fatalf("%+v, %d bytes elided: %v", h, k.Elided, err)
			}
			if k.Elided > 0 {
				stubs++
			} else {
				lines++
			}
			return true
		})
	}
	if stubs == 0 || lines == 0 {
		t.Errorf("%d stubs, %d lines", stubs, lines)
	}
}
