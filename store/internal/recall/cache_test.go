package recall

import (
	"testing"
)

// TestRecallIsBounded: what was used least recently goes, and what is too large never comes in.
func TestRecallIsBounded(t *testing.T) {
	var r Cache
	const n = 8
	put := func(gen uint64) { r.Put(gen, gen, maxRecall/n) }
	for gen := range uint64(n) {
		put(gen)
	}
	put(3) // anew: it is there once
	if r.bytes != maxRecall || len(r.all) != n {
		t.Fatalf("%d of %d bytes, %d of %d", r.bytes, maxRecall, len(r.all), n)
	}
	if r.Get(0) == nil {
		t.Fatal("0 is forgotten without need")
	}
	r.Put(100, "large", maxRecall+1)
	put(n)
	for gen := range uint64(n + 1) {
		if _, kept := r.all[gen]; kept == (gen == 1) {
			t.Errorf("%d is kept: %v", gen, kept)
		}
	}
	if got := r.Get(100); got != nil {
		t.Errorf("%v is kept", got)
	}
	if r.bytes != maxRecall {
		t.Errorf("%d of %d bytes", r.bytes, maxRecall)
	}
	r.Put(50, "all", maxRecall)
	if len(r.all) != 1 || r.bytes != maxRecall || r.Get(50) != "all" {
		t.Errorf("%d bytes, %v", r.bytes, r.all)
	}
}
