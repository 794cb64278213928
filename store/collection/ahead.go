package collection

import (
	"github.com/ringside-kv/ringside/store"
)

// An ahead is what follows at one end of a large sorted set, for whoever takes one member
// after the other: to find the first one anew each time costs an iterator and a search.
//
// It is true as long as the unit is the same, and has changed no elements but those that were
// taken from it, and counts: the key's latch is held meanwhile.
type ahead struct {
	unit    *store.Unit
	changes uint64 // of the unit, when it was last true
	of      store.Value
	back    bool
	keys    [][]byte // rank keys, of which those from next on have not been taken
	next    int
	often   bool   // it was of use in the unit before
	bytes   []byte // what keys are made of
}

// How much is read at a time: about a pipeline's worth, unless members are long.
const (
	aheadMost  = 16
	aheadBytes = 4 << 10
)

// holds reports whether a is true of an end of z.
func (a *ahead) holds(z *ZSet, back bool) bool {
	t := &z.table
	return a.unit == t.unit && a.changes == t.unit.ElementChanges() && a.back == back && a.of.IsSameCollection(&t.v)
}

// hold makes a true of an end of z as it is now.
func (a *ahead) hold(z *ZSet, back bool) {
	t := &z.table
	a.unit, a.changes, a.of, a.back = t.unit, t.unit.ElementChanges(), t.v, back
	a.of.Inline = nil
}

// popOne takes the first member of a large sorted set, or the last one. Only who has taken one
// after the other, in this unit or the one before, reads ahead.
func (z *ZSet) popOne(back bool, yield func(score, member []byte)) error {
	a := &z.ahead
	read, more := 1, a.holds(z, back)
	if more || a.often {
		read = aheadMost
	}
	if a.often = more; !more {
		a.next = len(a.keys)
	}
	if a.next == len(a.keys) {
		a.keys, a.next, a.bytes = a.keys[:0], 0, a.bytes[:0]
		err := z.walk(nil, nil, nil, back, func(score, member []byte) bool {
			at := len(a.bytes)
			a.bytes = append(append(a.bytes, score...), member...)
			a.keys = append(a.keys, a.bytes[at:len(a.bytes):len(a.bytes)])
			return len(a.keys) < read && len(a.bytes) < aheadBytes
		})
		if err != nil || len(a.keys) == 0 {
			a.unit, a.keys = nil, nil
			return err
		}
	}
	key := a.keys[a.next]
	a.next++
	t := &z.table
	score, member := splitRankKey(key)
	yield(score, member)
	t.sub = appendSubKey(t.sub[:0], member)
	t.unit.RemoveElement(t.key, &t.v, t.sub)
	z.size -= int64(len(member)) + scoreSize
	z.count--
	z.note(key, true)
	z.passEnd(key, back, read > 1)
	a.hold(z, back)
	return nil
}
