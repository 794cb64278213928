package keyevent

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/ringside-kv/ringside/store/internal/ops"
	"github.com/ringside-kv/ringside/store/internal/syncqueue"
)

// A Class is a set of kinds of key events.
type Class uint32

// Changed is the class of the keys that a commit has changed. Package store has the others.
const Changed Class = 1 << 14

// A Sink takes the events of one commit, for Each, after the commit has settled and before the
// reply that tells of it leaves: that waits until done is called, by any goroutine, unless the
// sink returns false. It is called for one commit at a time, and must neither block nor call the
// store. The events are its own. Of a commit that failed, those of the class Changed come, and wait for nothing else.
type Sink func(events []byte, done func()) (waits bool)

// A Queue is what becomes of the events that units note.
//
// Invariant: a commit's events are queued while it holds its latches, and leave the queue
// in order, each when its commit and all before it are settled. So the events of a key are
// told in the order of its commits, and none that could be taken back but for those of the class Changed.
type Queue struct {
	wanted atomic.Uint32

	mu     sync.Mutex
	sink   Sink
	queued []*commit
}

// A commit is the events of one. It is the commit's Waiter, in front of another.
type commit struct {
	of      *Queue
	text    []byte
	waiter  syncqueue.Waiter // nil: nothing waits
	settled bool
	err     error
}

// SetSink sets the sink; without one nothing is told. It is called before the queue is used.
func (q *Queue) SetSink(sink Sink) {
	q.mu.Lock()
	q.sink = sink
	q.mu.Unlock()
}

// Want chooses the classes of events that are noted from now on. Any goroutine may call it.
func (q *Queue) Want(c Class) { q.wanted.Store(uint32(c)) }

// IsWanted reports whether events of a class are noted.
func (q *Queue) IsWanted(c Class) bool { return q.wanted.Load()&uint32(c) != 0 }

// Add queues a copy of the events of a commit and returns what is to be told in place of w when
// the commit is settled.
func (q *Queue) Add(events []byte, w syncqueue.Waiter) syncqueue.Waiter {
	n := &commit{of: q, text: append([]byte(nil), events...), waiter: w}
	q.mu.Lock()
	q.queued = append(q.queued, n)
	q.mu.Unlock()
	return n
}

// Settled implements Waiter.
func (n *commit) Settled(err error) {
	q := n.of
	var ready []*commit
	q.mu.Lock()
	n.settled, n.err = true, err
	for len(q.queued) > 0 && q.queued[0].settled {
		first := q.queued[0]
		q.queued[0] = nil
		q.queued = q.queued[1:]
		if first.err != nil {
			first.text = onlyChanged(first.text) // what failed may have been done, or be done yet
		}
		if len(first.text) == 0 || q.sink == nil || !q.sink(first.text, first.done) {
			ready = append(ready, first)
		}
	}
	q.mu.Unlock()
	for _, r := range ready {
		r.done()
	}
}

func (n *commit) done() {
	if n.waiter != nil {
		n.waiter.Settled(n.err)
	}
}

// onlyChanged returns the events of the class Changed.
func onlyChanged(events []byte) (changed []byte) {
	_ = Each(events, func(c Class, name, key []byte) {
		if c == Changed {
			changed = Append(changed, c, string(name), key)
		}
	})
	return changed
}

// Append appends an event: its class 4 B LE, its name and its key, with their lengths.
func Append(b []byte, c Class, name string, key []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(c))
	b = append(binary.AppendUvarint(b, uint64(len(name))), name...)
	return ops.AppendBytes(b, key)
}

// Each calls visit for the events that a sink was given, or fails where they are none. What visit
// gets points into them.
func Each(events []byte, visit func(c Class, name, key []byte)) error {
	for len(events) > 0 {
		if len(events) < 4 {
			return fmt.Errorf("%w: events", ops.ErrMalformed)
		}
		c := Class(binary.LittleEndian.Uint32(events))
		name, rest, ok := ops.CutBytes(events[4:])
		var key []byte
		if ok {
			key, rest, ok = ops.CutBytes(rest)
		}
		if !ok {
			return fmt.Errorf("%w: events", ops.ErrMalformed)
		}
		visit(c, name, key)
		events = rest
	}
	return nil
}
