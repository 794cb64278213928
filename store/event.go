package store

import (
	"bytes"

	"github.com/ringside-kv/ringside/store/internal/keyevent"
)

// An EventClass is a set of kinds of key events.
type EventClass = keyevent.Class

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
	// EventChanged is of every key that a commit has changed, whatever the change, for nodes and never for clients:
	// some commands of Redis change a key without an event, as XACK. It is also told of a commit that failed, which
	// may have changed the keys all the same.
	EventChanged = keyevent.Changed
)

// An EventSink takes the events of one commit, for EachEvent, after the commit has settled
// and before the reply that tells of it leaves: that waits until done is called, by any
// goroutine, unless the sink returns false. It is called for one commit at a time, and must
// neither block nor call the store. The events are its own.
type EventSink = keyevent.Sink

// SetEventSink sets the sink of events; without one nothing is noted. It is called
// before the store is used.
func (s *Store) SetEventSink(sink EventSink) { s.events.SetSink(sink) }

// WantEvents chooses the classes of events that are noted from now on. It may be called from
// any goroutine.
func (s *Store) WantEvents(c EventClass) { s.events.Want(c) }

// eventNotes are the key events of a unit.
type eventNotes struct {
	u        *Unit
	events   []byte
	replaces bool // see SetReplacing
	// noted are places of keys with events that do not count for watches yet, since Abort has to take them back: those of
	// a transaction or script.
	noted []Place
}

// Note notes an event of a key that belongs to what the unit has done so far. If the unit's
// commit fails there was none. Without a sink for its class it costs nothing.
//
// A watch of a key (see Version) takes an event for a change, but for a miss: a write that
// leaves all as it was is one in Redis.
func (en *eventNotes) Note(c EventClass, name string, key []byte) {
	if c != EventMiss && en.u.s.versions.Watched() {
		if place := en.u.Place(key); en.u.grow != nil {
			en.noted = append(en.noted, place)
		} else {
			en.u.s.versions.Note(place)
		}
	}
	if en.u.s.events.IsWanted(c) {
		en.events = keyevent.Append(en.events, c, name, key)
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

// countNoted has the events of a transaction or script count for watches.
func (en *eventNotes) countNoted() {
	for _, p := range en.noted {
		en.u.s.versions.Note(p)
	}
	en.noted = en.noted[:0]
}

// queueEvents queues the unit's events and returns what is to be told in place of w when the
// commit is settled.
func (en *eventNotes) queueEvents(w Waiter) Waiter {
	if len(en.events) == 0 {
		return w
	}
	return en.u.s.events.Add(en.events, w)
}

// noteChanged notes every key that the commit has changed. What a copy of another store does is none of its own.
func (en *eventNotes) noteChanged() {
	u := en.u
	if !u.s.events.IsWanted(EventChanged) || u.following || u.copying {
		return
	}
	var last []byte
	for key := range u.changedKeys {
		if last == nil || !bytes.Equal(last, key) {
			en.events = keyevent.Append(en.events, EventChanged, "", key)
		}
		last = key
	}
}

// AppendEvent appends an event in the form of what a sink is given.
func AppendEvent(b []byte, c EventClass, name string, key []byte) []byte {
	return keyevent.Append(b, c, name, key)
}

// EachEvent calls visit for the events that a sink was given, or fails where they are none.
// What visit gets points into them.
func EachEvent(events []byte, visit func(c EventClass, name, key []byte)) error {
	return keyevent.Each(events, visit)
}
