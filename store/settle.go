package store

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
)

// A Waiter is told when all that a unit has written and read is as durable as
// the store's fsync mode demands, so that its replies may leave.
//
// Settled is called once, by the settler's goroutine, by a [Receiver] that settles its
// own, or, where a Tap held the reply, by who calls its Acked or Close, with nil or an
// error that wraps ErrUnknown. It must not block: every other unit's reply waits behind
// it.
type Waiter interface {
	Settled(err error)
}

// A settler follows commits, in order, until they are durable. It has a goroutine,
// so that a connection need not sleep and be woken for each of its commits, and the
// replies of all units of a group leave in one go. Who waits for its own commits anyway
// settles them itself, by now, and whatever else there is with them.
type settler struct {
	wal *walFS
	// sync returns once all that has been applied is in the log, as durable as
	// the mode demands.
	sync func() error

	// turn is held by who settles, one group at a time. Where time is virtual, who waits
	// at a channel is seen to wait.
	turn  chan struct{}
	spare []settlement // room for a queue; guarded by turn

	mu      sync.Mutex
	queue   []settlement
	woken   bool   // the goroutine will look at the queue
	last    uint64 // number of the newest settlement
	closed  bool
	wake    chan struct{}
	stopped chan struct{}

	// settled is the number up to which everything is durable.
	settled atomic.Uint64
}

// A settlement is a commit to follow, or with no batch a reader that waits for
// all commits before it.
type settlement struct {
	batch  *pebble.Batch
	waiter Waiter
	number uint64
	// synced: the sync was asked for along with the batch, so that the log is written while
	// the memtable takes the batch in.
	synced bool
}

func newSettler(wal *walFS, sync func() error) *settler {
	s := &settler{
		wal: wal, sync: sync,
		turn: make(chan struct{}, 1), wake: make(chan struct{}, 1), stopped: make(chan struct{}),
	}
	go s.run()
	return s
}

// add hands over a batch that has been applied without waiting. It returns the
// number to wait for.
func (s *settler) add(batch *pebble.Batch, w Waiter) uint64 {
	return s.queued(settlement{batch: batch, waiter: w}, true)
}

// queued is add. Without wake it is left to the caller that what it hands over gets
// settled, by now or by rouse.
func (s *settler) queued(e settlement, wake bool) uint64 {
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

// rouse has the goroutine settle what has been queued without waking it.
func (s *settler) rouse() {
	s.mu.Lock()
	wake := !s.woken && len(s.queue) > 0
	s.woken = s.woken || wake
	s.mu.Unlock()
	if wake {
		s.signal()
	}
}

func (s *settler) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// durable reports whether commit n is.
func (s *settler) durable(n uint64) bool { return s.settled.Load() >= n }

func (s *settler) run() {
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

// now settles, by the caller's goroutine, all that has been queued before. The caller
// holds nothing that a Waiter may need.
func (s *settler) now() { s.round() }

// round settles what there is. When it finds nothing, all before has been settled.
func (s *settler) round() (some, closed bool) {
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

// settle follows a group of settlements, with one sync for all: what comes while it
// is under way makes the next group.
func (s *settler) settle(group []settlement) {
	err := s.syncAll(group)
	// The log reports success whatever happens; see walFS.
	if failure := s.wal.failed(); err == nil {
		err = failure
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrUnknown, err)
	} else {
		s.settled.Store(group[len(group)-1].number)
	}
	for i := range group {
		e := &group[i]
		if e.batch != nil {
			if e.synced {
				_ = e.batch.SyncWait() // over by now; Pebble may not have let go of it yet
			}
			_ = e.batch.Close()
		}
		if e.waiter != nil {
			e.waiter.Settled(err)
		}
	}
}

// syncAll returns once the batches of a group are in the log. A sync that came with one of
// several says nothing of the others, which the log may hold behind it.
func (s *settler) syncAll(group []settlement) error {
	var only *settlement
	for i := range group {
		e := &group[i]
		switch {
		case e.batch == nil:
		case only != nil || !e.synced:
			return s.sync()
		default:
			only = e
		}
	}
	if only == nil {
		return nil
	}
	return only.batch.SyncWait()
}

// heal declares everything handed over so far durable, after the memtables have
// been written out.
func (s *settler) heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settled.Store(s.last)
}

// close settles what is left and stops.
func (s *settler) close() {
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
