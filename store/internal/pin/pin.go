package pin

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/store/internal/damage"
	"github.com/ringside-kv/ringside/store/internal/tap"
)

// ErrFrozen reports that commits are held back already, or that a unit has applied a part of its changes and not the rest.
// Try again soon.
var ErrFrozen = errors.New("store cannot be pinned now")

// A Set is the snapshots of a store, and the gate that keeps its commits from beginning. Its methods may be
// called from any goroutine. The zero value has none.
type Set struct {
	// Commits is held for reading by each commit; whoever locks it for writing is alone.
	Commits *sync.RWMutex
	// Split counts units that have applied a part of what they change.
	Split atomic.Int64
	// Discards counts how often something was cut out of the tables, pinned or not.
	Discards atomic.Uint64

	gate   atomic.Pointer[gate] // nil: units and commits may begin
	mu     sync.Mutex
	open   map[*Snapshot]struct{}
	closed bool
}

// A gate is a channel and not a lock: what waits for it is not in the way of those that lock commits to
// change what is done with them. It keeps units from beginning, and so from waiting with latches held. Those
// that run may end, until commits is set.
type gate struct {
	over    chan struct{}
	commits atomic.Bool
}

// A Snapshot is what a store held at one moment. Its methods may be called from any goroutine, also beside
// Close.
type Snapshot struct {
	// Since is when units began to wait.
	Since time.Time

	set      *Set
	discards uint64
	mu       sync.RWMutex     // held for reading by readers
	snapshot *pebble.Snapshot // nil once it is closed
}

// Freeze has no unit begin that takes latches, and calls drain, which waits until most units have ended. Then it
// has no commit begin until thaw is called, and calls take, which takes a snapshot or refuses. thaw may be
// called from any goroutine and more than once.
func (s *Set) Freeze(drain func(), take func() (*pebble.Snapshot, error)) (p *Snapshot, thaw func(), err error) {
	g := &gate{over: make(chan struct{})}
	if !s.gate.CompareAndSwap(nil, g) {
		return nil, nil, ErrFrozen
	}
	thaw = sync.OnceFunc(func() {
		s.gate.Store(nil)
		close(g.over)
	})
	p = &Snapshot{set: s, Since: time.Now()}
	drain()
	g.commits.Store(true)
	s.Commits.Lock() // commits that begin later see the gate
	if p.discards = s.Discards.Load(); s.Split.Load() > 0 {
		err = ErrFrozen
	} else {
		p.snapshot, err = take()
	}
	s.Commits.Unlock()
	if err == nil && !s.add(p) {
		p.close()
		err = tap.ErrClosed
	}
	if err != nil {
		thaw()
		return nil, nil, err
	}
	return p, thaw, nil
}

func (s *Set) add(p *Snapshot) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = make(map[*Snapshot]struct{})
	}
	if !s.closed {
		s.open[p] = struct{}{}
	}
	return !s.closed
}

// Await waits until units may begin. It is called before a unit, or something like it, takes latches.
func (s *Set) Await() {
	if g := s.gate.Load(); g != nil {
		<-g.over
	}
}

// Frozen reports whether Await would wait.
func (s *Set) Frozen() bool { return s.gate.Load() != nil }

// holdsCommits reports whether commits may not begin.
func (s *Set) holdsCommits() bool {
	g := s.gate.Load()
	return g != nil && g.commits.Load()
}

// BeginCommit locks Commits for reading, once commits may begin.
func (s *Set) BeginCommit() {
	for s.Commits.RLock(); s.holdsCommits(); s.Commits.RLock() {
		s.Commits.RUnlock()
		s.Await()
	}
}

// LockCommits locks Commits for what changes keys with it locked.
func (s *Set) LockCommits() {
	for s.Commits.Lock(); s.holdsCommits(); s.Commits.Lock() {
		s.Commits.Unlock()
		s.Await()
	}
}

// BeginDiscard waits for the commits that run, and has no other begin until end is called. It is for cutting
// something out of the tables, which the snapshots that are open then notice. Freeze returns ErrFrozen meanwhile.
func (s *Set) BeginDiscard() (end func()) {
	g := &gate{over: make(chan struct{})}
	g.commits.Store(true)
	for !s.gate.CompareAndSwap(nil, g) {
		s.Await()
	}
	s.Commits.Lock() // commits that begin later see the gate
	s.Discards.Add(1)
	s.Commits.Unlock()
	return func() {
		s.gate.Store(nil)
		close(g.over)
	}
}

// Close closes all snapshots, waits for their readers, and takes no more.
func (s *Set) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for p := range s.open {
		p.close()
	}
	clear(s.open)
}

// Close lets go of what is pinned.
func (p *Snapshot) Close() {
	p.set.mu.Lock()
	delete(p.set.open, p)
	p.set.mu.Unlock()
	p.close()
}

func (p *Snapshot) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.snapshot != nil {
		_ = p.snapshot.Close()
		p.snapshot = nil
	}
}

// Read calls do if the snapshot is open, and returns an error unless it had all then that it should have.
func (p *Snapshot) Read(do func(*pebble.Snapshot) error) error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.snapshot == nil {
		return tap.ErrClosed
	}
	err := do(p.snapshot)
	if err == nil && p.set.Discards.Load() != p.discards {
		err = damage.Err // Pebble's snapshots do not keep what is cut out of tables
	}
	return err
}
