package importer

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// The tracker says at each moment the offset of the first touch that has not been read behind it, as a list
// of all touches says it.
func TestTrackerKnowsTheFirstUnappliedTouch(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	ctx := context.Background()
	for range 200 {
		tr := newTracker(1000)
		type touch struct {
			key    string
			offset int64
			taken  bool // it came before the key was taken
		}
		var all []touch
		var out [][]*tracked
		at := position{}
		for range 100 {
			switch r.IntN(4) {
			case 0, 1:
				key := string(rune('a' + r.IntN(6)))
				if err := tr.touch(ctx, 0, []byte(key)); err != nil {
					t.Fatal(err)
				}
				all = append(all, touch{key, at.offset, false})
				at.offset += 1 + r.Int64N(5)
				tr.advance(at)
			case 2:
				if tr.head == len(tr.ready) {
					continue
				}
				keys, err := tr.take(ctx, 1+r.IntN(3), nil)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, keys)
				for _, k := range keys {
					for i := range all {
						if all[i].key == k.key {
							all[i].taken = true
						}
					}
				}
			case 3:
				if len(out) == 0 {
					continue
				}
				i := r.IntN(len(out))
				for _, k := range out[i] {
					kept := all[:0]
					for _, a := range all {
						if a.key != k.key || !a.taken {
							kept = append(kept, a)
						}
					}
					all = kept
				}
				tr.done(out[i])
				out = append(out[:i], out[i+1:]...)
			}
			want := at.offset
			for _, a := range all {
				want = min(want, a.offset)
			}
			if got := tr.lag(); got.applied.offset != want || got.received != at {
				t.Fatalf("applied to %d, want %d", got.applied.offset, want)
			}
		}
	}
}

func TestTrackerWaitsWhileItIsFull(t *testing.T) {
	tr := newTracker(1)
	ctx, cancel := context.WithCancel(context.Background())
	if err := tr.touch(ctx, 0, []byte("a")); err != nil {
		t.Fatal(err)
	}
	second := make(chan error)
	go func() { second <- tr.touch(ctx, 0, []byte("b")) }()
	keys, err := tr.take(ctx, 10, nil)
	if err != nil || len(keys) != 1 {
		t.Fatalf("%d keys, %v", len(keys), err)
	}
	tr.done(keys)
	if err := <-second; err != nil {
		t.Fatal(err)
	}
	go func() { second <- tr.touch(ctx, 0, []byte("c")) }()
	cancel()
	if err := <-second; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if err := tr.drain(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// Keys that change all the time keep nobody waiting for those that changed before.
func TestDrainWaitsOnlyForEarlierTouches(t *testing.T) {
	tr := newTracker(10)
	ctx := context.Background()
	touch := func(key string) {
		t.Helper()
		if err := tr.touch(ctx, 0, []byte(key)); err != nil {
			t.Fatal(err)
		}
	}
	touch("a")
	keys, err := tr.take(ctx, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan error)
	go func() { over <- tr.drain(ctx) }()
	resptest.WaitFor(t, "drain", func() bool {
		touch("a")
		touch("b")
		tr.done(keys)
		keys, err = tr.take(ctx, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-over:
			return err == nil
		default:
			return false
		}
	})
}
