package syncqueue

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// ErrUnknown says that a write was executed but could not be made durable, so that it may or
// may not survive a crash.
var ErrUnknown = errors.New("outcome unknown")

// A Waiter is told when all that a unit has written and read is as durable as the fsync mode
// demands, so that its replies may leave.
//
// Settled is called once, with nil or an error that wraps ErrUnknown. It must not block: every
// other unit's reply waits behind it.
type Waiter interface {
	Settled(err error)
}

// A Queue is the commits that wait for a sync of the log, in order. Its goroutine syncs the log once
// for all commits that have gathered, and then tells their waiters. So a connection need not sleep
// and be woken for each of its commits, and the replies of all units of a group leave in one go. A
// caller that waits for its own commits anyway syncs itself (SyncNow), with all others there are.
type Queue struct {
	// failed returns why the log cannot be relied on, or nil.
	failed func() error
	// sync returns once all that has been applied is in the log, as durable as
	// the mode demands.
	sync func() error

	// turn is held while a group is synced, one at a time. It is a channel since virtual time
	// sees a goroutine wait at one.
	turn  chan struct{}
	spare []Commit // room for a queue; guarded by turn

	mu      sync.Mutex
	queue   []Commit
	woken   bool   // the goroutine will look at the queue
	last    uint64 // number of the newest commit
	closed  bool
	wake    chan struct{}
	stopped chan struct{}

	// settled is the number up to which everything is durable.
	settled atomic.Uint64
}

// A Commit is a commit to follow, or a reader that waits for all commits before it.
type Commit struct {
	// Writes tells that it has something for the log, unlike a reader.
	Writes bool
	Waiter Waiter
	// Times, if set, is filled in before the waiter is told.
	Times  *Times
	number uint64
}

// Times are when the group of a commit was made durable.
type Times struct {
	Began, Ended time.Time
}

// New returns a queue, whose goroutine runs until Close. sync returns once all that has been applied
// is in the log, as durable as the mode demands; failed returns why the log cannot be relied on, or
// nil.
func New(failed, sync func() error) *Queue {
	s := &Queue{
		failed: failed, sync: sync,
		turn: make(chan struct{}, 1), wake: make(chan struct{}, 1), stopped: make(chan struct{}),
	}
	go s.run()
	return s
}

// Add hands over a commit that has been applied without waiting. It returns the
// number to wait for.
func (s *Queue) Add(w Waiter) uint64 {
	return s.Enqueue(Commit{Writes: true, Waiter: w}, true)
}

// Enqueue is Add. Without wake it is left to the caller that what it hands over gets
// synced, by SyncNow or by Wake.
func (s *Queue) Enqueue(e Commit, wake bool) uint64 {
	s.mu.Lock()
	s.last++
	n := s.last
	e.number = n
	s.queue = append(s.queue, e)
	wake = wake && !s.woken
	s.woken = s.woken || wake
	s.mu.Unlock()
	if wake {
		s.signal()
	}
	return n
}

// Wake has the goroutine settle what has been queued without waking it.
func (s *Queue) Wake() {
	s.mu.Lock()
	wake := !s.woken && len(s.queue) > 0
	s.woken = s.woken || wake
	s.mu.Unlock()
	if wake {
		s.signal()
	}
}

func (s *Queue) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// IsDurable reports whether commit n is.
func (s *Queue) IsDurable(n uint64) bool { return s.settled.Load() >= n }

func (s *Queue) run() {
	defer close(s.stopped)
	for range s.wake {
		for {
			some, closed := s.round()
			if some {
				continue
			}
			if closed {
				return
			}
			break
		}
	}
}

// SyncNow settles, by the caller's goroutine, all that has been queued before. The caller
// holds nothing that a Waiter may need.
func (s *Queue) SyncNow() { s.round() }

// round settles what there is. When it finds nothing, all before has been settled.
func (s *Queue) round() (some, closed bool) {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	s.mu.Lock()
	group := s.queue
	s.queue, s.woken = s.spare, false
	closed = s.closed
	s.mu.Unlock()
	some = len(group) > 0
	if some {
		s.settle(group)
		clear(group)
	}
	s.spare = group[:0]
	return some, closed
}

// settle makes a group of commits durable, with one sync for all: what comes while it
// is under way makes the next group.
func (s *Queue) settle(group []Commit) {
	began := time.Now()
	err := s.failed()
	if slices.ContainsFunc(group, func(e Commit) bool { return e.Writes }) {
		err = s.sync()
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrUnknown, err)
	} else {
		s.settled.Store(group[len(group)-1].number)
	}
	times := Times{began, time.Now()}
	for i := range group {
		if t := group[i].Times; t != nil {
			*t = times
		}
		if w := group[i].Waiter; w != nil {
			w.Settled(err)
		}
	}
}

// MarkDurable declares all commits up to number n durable, after a log that had failed has them.
func (s *Queue) MarkDurable(n uint64) {
	for {
		at := s.settled.Load()
		if at >= n || s.settled.CompareAndSwap(at, n) {
			return
		}
	}
}

// LastQueued returns the number of the newest commit.
func (s *Queue) LastQueued() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// DurableUpTo returns the number up to which everything is durable.
func (s *Queue) DurableUpTo() uint64 { return s.settled.Load() }

// OnSync has f called before each sync for a group: for tests.
func (s *Queue) OnSync(f func()) {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	sync := s.sync
	s.sync = func() error {
		f()
		return sync()
	}
}

// Close settles what is left and stops.
func (s *Queue) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.signal()
	<-s.stopped
}

// A Signal is a Waiter for a goroutine that waits by itself. It can be used again
// after Wait.
type Signal struct {
	once sync.Once
	ch   chan error
}

// Settled implements Waiter.
func (s *Signal) Settled(err error) { s.channel() <- err }

// Wait returns what Settled was told.
func (s *Signal) Wait() error { return <-s.channel() }

func (s *Signal) channel() chan error {
	s.once.Do(func() { s.ch = make(chan error, 1) })
	return s.ch
}
