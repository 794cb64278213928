package generation

import (
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

func TestGenerationsAreNeverUsedTwice(t *testing.T) {
	db, err := pebble.Open("d", &pebble.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	write := func(key, value []byte) error { return db.Set(key, value, pebble.Sync) }
	last := uint64(0)
	for range 3 { // starts
		var c Counter
		if err := c.Load(db); err != nil {
			t.Fatal(err)
		}
		fault := errors.New("full")
		if _, err := c.New(func(_, _ []byte) error { return fault }); !errors.Is(err, fault) {
			t.Errorf("the ceiling is not written: %v", err)
		}
		for range 3 {
			gen, err := c.New(write)
			if err != nil || gen <= last {
				t.Fatalf("%d follows %d: %v", gen, last, err)
			}
			if c.Collectable()(gen) {
				t.Errorf("%d is collectable while its value is being built", gen)
			}
			c.Release(gen)
			if c.Collectable()(gen+1) || !c.Collectable()(gen) {
				t.Errorf("%d is not collectable after its release, or the one behind it is", gen)
			}
			last = gen
			c.Exhaust()
		}
	}
}
