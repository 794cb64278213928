package collection

import (
	"bytes"
	"encoding/binary"

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
	read    int  // how many keys were wanted at the last reading
	often   bool // it was of use in the unit before
}

// How much is read at a time: about a pipeline's worth, twice as much each time that all of it was taken, and
// not more bytes than long members have.
const (
	aheadFirst = 16
	aheadMost  = 256
	aheadBytes = 8 << 10
)

// A noted is what was read ahead, for later units. It is never changed.
//
// It is true of a sorted set whose last page has the stamp, and whose log behind that begins with log, if the rest
// of that log is the removal of the first keys, in their order: the log has each change of a member, and a stamp
// is drawn once.
type noted struct {
	back  bool
	stamp uint64
	log   []byte
	keys  [][]byte
	read  int
	size  int // of log and keys in bytes
}

// taken returns how many of the keys are gone in a state of the sorted set, and whether what was read is true of that.
func (n *noted) taken(z *ZSet, back bool) (taken int, ok bool) {
	if n == nil || n.back != back || z.pages.n == 0 || n.stamp != z.pages.stamp {
		return 0, false
	}
	rest, ok := bytes.CutPrefix(z.log, n.log)
	for ; ok && len(rest) > 0; taken++ {
		if taken == len(n.keys) {
			return 0, false
		}
		key := n.keys[taken]
		size, w := binary.Uvarint(rest)
		if w <= 0 || size != uint64(len(key))<<1|1 || !bytes.HasPrefix(rest[w:], key) {
			return 0, false
		}
		rest = rest[w+len(key):]
	}
	return taken, ok
}

// noted is what a has, as of now, for later units; nil if they could not tell whether it is true.
func (a *ahead) noted(z *ZSet) *noted {
	keys := a.keys[a.next:]
	if z.pages.n == 0 || len(keys) == 0 || a.read < aheadFirst {
		return nil
	}
	n := &noted{back: a.back, stamp: z.pages.stamp, log: bytes.Clone(z.log), keys: keys, read: a.read, size: len(z.log)}
	for _, key := range keys {
		n.size += len(key) + keySize
	}
	return n
}

// keySize is about how many bytes a key takes beside its own.
const keySize = 24

// note keeps what a has for later units.
func (a *ahead) note(z *ZSet) {
	n := a.noted(z)
	if n == nil {
		return
	}
	log := &pageLog{}
	if known, _ := z.table.unit.Recall(&z.table.v).(*pageLog); known != nil {
		*log = *known
	}
	log.ahead = n
	z.table.rememberLog(log)
}

// recall makes a what an earlier unit has read, if it is true.
func (a *ahead) recall(z *ZSet, back bool) bool {
	log, _ := z.table.unit.Recall(&z.table.v).(*pageLog)
	if log == nil {
		return false
	}
	taken, ok := log.ahead.taken(z, back)
	if ok {
		a.keys, a.next, a.read = log.ahead.keys, taken, log.ahead.read
	}
	return ok
}

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
	read, more := 1, a.holds(z, back) || a.recall(z, back)
	switch {
	case more:
		read = min(max(aheadFirst, 2*a.read), aheadMost)
	case a.often:
		read = aheadFirst
	}
	if a.often = more; !more {
		a.next = len(a.keys)
	}
	if a.next == len(a.keys) {
		var all []byte
		a.keys, a.next, a.read = nil, 0, read // those before may be noted
		err := z.walk(nil, nil, nil, back, func(score, member []byte) bool {
			at := len(all)
			all = append(append(all, score...), member...)
			a.keys = append(a.keys, all[at:len(all):len(all)])
			return len(a.keys) < read && len(all) < aheadBytes
		})
		if err != nil || len(a.keys) == 0 {
			a.unit, a.keys = nil, nil
			return err
		}
		a.back = back
		a.note(z)
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
