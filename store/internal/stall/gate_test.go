package stall

import (
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"go.uber.org/goleak"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// An engine is a storage engine whose load a test sets.
type engine struct {
	bytes     atomic.Uint64
	sublevels atomic.Int32
	stalls    atomic.Int64
	refusal   atomic.Pointer[error]
	// samples has room for each sample that is wanted; nil: all are.
	samples chan struct{}
}

func (e *engine) config() Config {
	return Config{
		MemTable: 100,
		Metrics: func() *pebble.Metrics {
			if e.samples != nil {
				<-e.samples
			}
			var m pebble.Metrics
			m.MemTable.Size, m.Levels[0].Sublevels = e.bytes.Load(), e.sublevels.Load()
			return &m
		},
		Refusal: func(bool) error {
			if err := e.refusal.Load(); err != nil {
				return *err
			}
			return nil
		},
		Stalls: &e.stalls,
		Log:    slog.New(slog.DiscardHandler),
	}
}

// await calls Await in a goroutine.
func await(g *Gate) <-chan error {
	passed := make(chan error, 1)
	go func() { passed <- g.Await(false) }()
	return passed
}

// Commits wait while memtables are too many, or sublevels are, and go on once they are not.
func TestGateWaitsForLoad(t *testing.T) {
	defer goleak.VerifyNone(t)
	for name, set := range map[string]func(e *engine, high bool){
		"memtables": func(e *engine, high bool) { e.bytes.Store(map[bool]uint64{false: 700, true: 800}[high]) },
		"level 0":   func(e *engine, high bool) { e.sublevels.Store(map[bool]int32{false: 47, true: 48}[high]) },
	} {
		t.Run(name, func(t *testing.T) {
			var e engine
			g := NewGate(e.config())
			defer g.Close()
			for round := range int64(3) {
				set(&e, false)
				if err := g.Await(false); err != nil {
					t.Fatal(err)
				}
				set(&e, true)
				g.Note(100 / sampleParts)
				resptest.WaitFor(t, "the gate to close", func() bool { return !g.isOpen() })
				passed := await(g)
				resptest.WaitFor(t, "a commit to wait", func() bool { return e.stalls.Load() > round })
				select {
				case <-passed:
					t.Fatal("a commit has passed a closed gate")
				default:
				}
				set(&e, false)
				if err := <-passed; err != nil {
					t.Fatal(err)
				}
			}
			if n := e.stalls.Load(); n != 3 {
				t.Errorf("%d stalls are counted, want 3", n)
			}
		})
	}
}

// While a sample takes long, half of what there was room for is written, and commits that wait see a refusal.
func TestGateWhileSampleTakesLong(t *testing.T) {
	defer goleak.VerifyNone(t)
	e := engine{samples: make(chan struct{})}
	g := NewGate(e.config())
	defer g.Close()
	defer close(e.samples) // first: a sample waits for it
	e.samples <- struct{}{}
	resptest.WaitFor(t, "a sample", func() bool { return g.room.Load() == 400 })
	g.Note(399)
	if err := g.Await(false); err != nil {
		t.Fatal(err)
	}
	g.Note(1)
	passed := await(g)
	select {
	case <-passed:
		t.Fatal("a commit has passed before the sample")
	default:
	}
	refusal := errors.New("disk full")
	e.refusal.Store(&refusal)
	if err := <-passed; !errors.Is(err, refusal) {
		t.Errorf("a commit that waits gets %v", err)
	}
	e.refusal.Store(nil)
	passed = await(g)
	e.samples <- struct{}{}
	if err := <-passed; err != nil {
		t.Fatal(err)
	}
}

// What only fills memtables does not wait for level 0.
func TestMemTablesDoNotWaitForLevel0(t *testing.T) {
	defer goleak.VerifyNone(t)
	var e engine
	e.sublevels.Store(48)
	g := NewGate(e.config())
	defer g.Close()
	resptest.WaitFor(t, "level 0 to be full", g.Level0IsFull)
	if err := g.AwaitMemTables(); err != nil {
		t.Fatal(err)
	}
	e.sublevels.Store(47)
	resptest.WaitFor(t, "level 0 not to be full", func() bool { return !g.Level0IsFull() })
}

// Commits that wait fail as soon as writes are refused, and go on when the gate is closed for good.
func TestGateIsLeftWithRefusal(t *testing.T) {
	defer goleak.VerifyNone(t)
	var e engine
	e.bytes.Store(800)
	g := NewGate(e.config())
	g.Note(100)
	passed := await(g)
	resptest.WaitFor(t, "a commit to wait", func() bool { return e.stalls.Load() > 0 })
	refusal := errors.New("disk full")
	e.refusal.Store(&refusal)
	if err := <-passed; !errors.Is(err, refusal) {
		t.Errorf("a commit that waits gets %v", err)
	}
	e.refusal.Store(nil)
	passed = await(g)
	g.Close()
	if err := <-passed; err != nil {
		t.Error(err)
	}
	if err := g.Await(false); err != nil {
		t.Error(err)
	}
}
