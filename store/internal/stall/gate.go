package stall

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/store/internal/tuning"
)

// Config says when commits wait. Its functions may be called from any goroutine.
type Config struct {
	MemTable int64 // size of a memtable in bytes
	// Metrics returns Pebble's figures. It may wait for the disk.
	Metrics func() *pebble.Metrics
	// Refusal returns why a commit that only removes, or does more, does not wait, but fails; nil if it waits.
	Refusal func(frees bool) error
	// Stalls counts how often commits had to wait.
	Stalls *atomic.Int64
	Log    *slog.Logger
	Stop   <-chan struct{} // commits pass at once when it is closed
}

const (
	// sampleParts is how often the load is sampled while one memtable fills.
	sampleParts = 8
	// samplePeriod is how often the load is sampled while commits wait.
	samplePeriod = 10 * time.Millisecond
	// refusalPeriod is how often a commit that waits looks whether writes are refused, though a sample takes long.
	refusalPeriod = 100 * time.Millisecond
)

// A Gate lets commits pass while the storage engine keeps up. It samples the load after each part of a memtable that
// is written. While a sample takes long, half of the bytes are written for which the one before had found room: what
// entries take in a memtable beside their own bytes may be as much.
type Gate struct {
	cfg Config
	// written is how many bytes were written since the last sample was taken, and room how many may be until the next.
	written, room atomic.Int64
	level0Full    atomic.Bool // at the last sample
	stalled       atomic.Bool // commits have waited since the gate was open
	waiters       atomic.Int64
	due           chan struct{}
	end           chan struct{}
	ended         chan struct{}

	mu      sync.Mutex
	sampled chan struct{} // closed with the next sample
}

// NewGate returns an open gate. Close it.
func NewGate(cfg Config) *Gate {
	g := &Gate{
		cfg: cfg, due: make(chan struct{}, 1), end: make(chan struct{}), ended: make(chan struct{}),
		sampled: make(chan struct{}),
	}
	g.room.Store(cfg.MemTable)
	go g.run()
	return g
}

// Close ends all sampling. Commits that wait pass, and later ones do so at once.
func (g *Gate) Close() {
	close(g.end)
	<-g.ended
}

// Note says that so many bytes are being written.
func (g *Gate) Note(n int) {
	if g.written.Add(int64(n)) >= g.cfg.MemTable/sampleParts {
		g.sampleSoon()
	}
}

func (g *Gate) sampleSoon() {
	select {
	case g.due <- struct{}{}:
	default: // it is due already
	}
}

// Level0IsFull reports whether level 0 has too many tables for another one.
func (g *Gate) Level0IsFull() bool {
	full := g.level0Full.Load()
	if full {
		g.sampleSoon()
	}
	return full
}

func (g *Gate) hasRoom() bool { return g.written.Load() < g.room.Load() }

func (g *Gate) isOpen() bool { return g.hasRoom() && !g.level0Full.Load() }

// Await waits until a commit that only removes, or does more, may write. It returns an error instead where commits
// fail.
func (g *Gate) Await(frees bool) error { return g.await(g.isOpen, frees) }

// AwaitMemTables is Await where tables of level 0 do not matter.
func (g *Gate) AwaitMemTables() error { return g.await(g.hasRoom, true) }

func (g *Gate) await(isOpen func() bool, frees bool) error {
	if isOpen() {
		return nil
	}
	g.waiters.Add(1)
	defer g.waiters.Add(-1)
	look := time.NewTicker(refusalPeriod)
	defer look.Stop()
	for {
		g.mu.Lock()
		sampled := g.sampled
		g.mu.Unlock()
		if isOpen() {
			return nil
		}
		if err := g.cfg.Refusal(frees); err != nil {
			return err
		}
		if !g.stalled.Swap(true) {
			g.cfg.Stalls.Add(1)
			g.cfg.Log.Debug("writes wait for the disk")
		}
		g.sampleSoon()
		select {
		case <-sampled:
		case <-look.C:
		case <-g.cfg.Stop:
			return nil
		case <-g.ended:
			return nil
		}
	}
}

func (g *Gate) run() {
	defer close(g.ended)
	again := time.NewTimer(0)
	defer again.Stop()
	for {
		select {
		case <-g.end:
			return
		case <-g.due:
		case <-again.C:
		}
		g.sample()
		if !g.isOpen() && g.waiters.Load() > 0 { // else who comes to wait has a sample taken
			again.Reset(samplePeriod)
		}
	}
}

func (g *Gate) sample() {
	before := g.written.Load()
	m := g.cfg.Metrics()
	g.room.Store((tuning.MostMemTables*g.cfg.MemTable - int64(m.MemTable.Size)) / 2)
	g.level0Full.Store(m.Levels[0].Sublevels >= tuning.MostSublevels)
	g.written.Add(-before)
	if g.isOpen() {
		g.stalled.Store(false)
	}
	g.mu.Lock()
	close(g.sampled)
	g.sampled = make(chan struct{})
	g.mu.Unlock()
}
