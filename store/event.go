package store

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/ringside-kv/ringside/store/internal/ops"
)

// An EventClass is a set of kinds of key events.
type EventClass uint32

// The classes of key events, as Redis has them.
const (
	EventGeneric EventClass = 1 << iota
	EventString
	EventList
	EventSet
	EventHash
	EventSortedSet
	EventExpired
	EventEvicted
	EventStream
	EventMiss
	EventModule
	EventNew
	// What they are told by: a channel for each key, and one for each event.
	EventByKey
	EventByName
)

// events are what becomes of the events that units note.
//
// Invariant: a commit's events are queued while it holds its latches, and leave the queue
// in order, each when its commit and all before it are settled. So the events of a key are
// told in the order of its commits, and none that could be taken back.
type events struct {
	wanted atomic.Uint32

	mu    sync.Mutex
	sink  EventSink
	queue []*commitEvents
}

// An EventSink takes the events of one commit, for EachEvent, after the commit has settled
// and before the reply that tells of it leaves: that waits until done is called, by any
// goroutine, unless the sink returns false. It is called for one commit at a time, and must
// neither block nor call the store. The events are its own.
type EventSink func(events []byte, done func()) (waits bool)

// commitEvents are the events of a commit. It is the commit's Waiter, in front of another.
type commitEvents struct {
	of      *events
	text    []byte
	waiter  Waiter // nil: nothing waits
	settled bool
	err     error
}

// SetEventSink sets the sink of events; without one nothing is noted. It is called
// before the store is used.
func (s *Store) SetEventSink(sink EventSink) {
	s.events.mu.Lock()
	s.events.sink = sink
	s.events.mu.Unlock()
}

// WantEvents chooses the classes of events that are noted from now on. It may be called from
// any goroutine.
func (s *Store) WantEvents(c EventClass) { s.events.wanted.Store(uint32(c)) }

// eventNotes are the key events of a unit.
type eventNotes struct {
	u        *Unit
	events   []byte
	replaces bool // see SetReplacing
}

// Note notes an event of a key that belongs to what the unit has done so far. If the unit's
// commit fails there was none. Without a sink for its class it costs nothing.
//
// A watch of a key (see Version) takes an event for a change, but for a miss: a write that
// leaves all as it was is one in Redis.
func (en *eventNotes) Note(c EventClass, name string, key []byte) {
	if c != EventMiss {
		if en.u.s.versions.Watched() {
			en.u.s.versions.Note(en.u.Place(key))
		}
	}
	if en.u.s.events.wanted.Load()&uint32(c) != 0 {
		en.events = appendEvent(en.events, c, name, key)
	}
}

// SetReplacing says, until it says otherwise, that keys that come into being take the place of
// others, which the unit may have removed before: they are no new ones.
func (en *eventNotes) SetReplacing(yes bool) { en.replaces = yes }

// noteNew notes that a key came into being. What a copy of another store does is none of its
// own.
func (en *eventNotes) noteNew(key []byte) {
	if !en.u.following && !en.u.copying && !en.replaces {
		en.Note(EventNew, "new", key)
	}
}

// queueEvents queues the unit's events and returns what is to be told in place of w when the
// commit is settled.
func (en *eventNotes) queueEvents(w Waiter) Waiter {
	if len(en.events) == 0 {
		return w
	}
	n := &commitEvents{of: &en.u.s.events, text: append([]byte(nil), en.events...), waiter: w}
	n.of.mu.Lock()
	n.of.queue = append(n.of.queue, n)
	n.of.mu.Unlock()
	return n
}

// Settled implements Waiter.
func (n *commitEvents) Settled(err error) {
	e := n.of
	var ready []*commitEvents
	e.mu.Lock()
	n.settled, n.err = true, err
	for len(e.queue) > 0 && e.queue[0].settled {
		first := e.queue[0]
		e.queue[0] = nil
		e.queue = e.queue[1:]
		if first.err != nil || e.sink == nil || !e.sink(first.text, first.done) {
			ready = append(ready, first)
		}
	}
	e.mu.Unlock()
	for _, r := range ready {
		r.done()
	}
}

func (n *commitEvents) done() {
	if n.waiter != nil {
		n.waiter.Settled(n.err)
	}
}

// appendEvent appends an event: its class 4 B LE, its name and its key, with their lengths.
func appendEvent(b []byte, c EventClass, name string, key []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(c))
	b = append(binary.AppendUvarint(b, uint64(len(name))), name...)
	return ops.AppendBytes(b, key)
}

// EachEvent calls visit for the events that a sink was given, or fails where they are none.
// What visit gets points into them.
func EachEvent(events []byte, visit func(c EventClass, name, key []byte)) error {
	for len(events) > 0 {
		if len(events) < 4 {
			return fmt.Errorf("%w: events", ErrBatch)
		}
		c := EventClass(binary.LittleEndian.Uint32(events))
		name, rest, ok := ops.CutBytes(events[4:])
		var key []byte
		if ok {
			key, rest, ok = ops.CutBytes(rest)
		}
		if !ok {
			return fmt.Errorf("%w: events", ErrBatch)
		}
		visit(c, name, key)
		events = rest
	}
	return nil
}
