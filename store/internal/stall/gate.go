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
	// Refusal returns why commits do not wait, but fail; nil if they wait.
	Refusal func() error
	// Stalls counts how often commits had to wait.
	Stalls *atomic.Int64
	Log    *slog.Logger
}

const (
	// sampleParts is how often the load is sampled while one memtable fills.
	sampleParts = 8
	// samplePeriod is how often the load is sampled while commits wait.
	samplePeriod = 10 * time.Millisecond
)

// A Gate lets commits pass while the storage engine keeps up. It samples the load after each part of a
// memtable that is written, and lets one memtable more be written, at most, before the sample has arrived.
type Gate struct {
	cfg Config
	// written is how many bytes were written since the last sample was taken.
	written atomic.Int64
	full    atomic.Bool // the last sample was above the bounds of package tuning
	stalled atomic.Bool // commits have waited since the gate was open
	due     chan struct{}
	stop    chan struct{}
	ended   chan struct{}

	mu      sync.Mutex
	sampled chan struct{} // closed with the next sample
}

// NewGate returns an open gate. Close it.
func NewGate(cfg Config) *Gate {
	g := &Gate{
		cfg: cfg, due: make(chan struct{}, 1), stop: make(chan struct{}), ended: make(chan struct{}),
		sampled: make(chan struct{}),
	}
	go g.run()
	return g
}

// Close ends all sampling. Nobody waits at the gate any more, now or later.
func (g *Gate) Close() {
	close(g.stop)
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

func (g *Gate) isOpen() bool { return !g.full.Load() && g.written.Load() < g.cfg.MemTable }

// Await waits until more may be written. It returns an error instead where commits fail.
func (g *Gate) Await() error {
	for !g.isOpen() {
		g.mu.Lock()
		sampled := g.sampled
		g.mu.Unlock()
		if g.isOpen() {
			return nil
		}
		if err := g.cfg.Refusal(); err != nil {
			return err
		}
		if g.full.Load() && !g.stalled.Swap(true) {
			g.cfg.Stalls.Add(1)
			g.cfg.Log.Debug("writes wait for the disk")
		}
		g.sampleSoon()
		select {
		case <-sampled:
		case <-g.ended:
			return nil
		}
	}
	return nil
}

func (g *Gate) run() {
	defer close(g.ended)
	again := time.NewTimer(0)
	defer again.Stop()
	for {
		select {
		case <-g.stop:
			return
		case <-g.due:
		case <-again.C:
		}
		g.sample()
		if g.full.Load() {
			again.Reset(samplePeriod)
		}
	}
}

func (g *Gate) sample() {
	before := g.written.Load()
	m := g.cfg.Metrics()
	full := int64(m.MemTable.Size) >= tuning.MostMemTables*g.cfg.MemTable || m.Levels[0].Sublevels >= tuning.MostSublevels
	g.written.Add(-before)
	g.full.Store(full)
	if !full {
		g.stalled.Store(false)
	}
	g.mu.Lock()
	close(g.sampled)
	g.sampled = make(chan struct{})
	g.mu.Unlock()
}
