package store

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/store/internal/cache"
	"github.com/ringside-kv/ringside/store/internal/keyversion"
	"github.com/ringside-kv/ringside/store/internal/latch"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// Get returns the value of a key; a key whose time has come does not exist, and
// is removed. The value is valid until the unit ends or changes the key. Of a collection
// that is not whole nothing can be read with it in a unit without latches: see
// GetElement and GetWhole.
func (u *Unit) Get(key []byte) (Value, error) {
	p := u.Place(key)
	var v Value
	h, err := u.load(p, key)
	if err == nil && h.Gen != 0 && h.Type.IsBytes() && !u.holds(p) {
		h, err = u.openReader(p, key)
	}
	if err != nil || h.Type == None {
		v.place = p
		return v, err
	}
	v.set(&h, p)
	return v, nil
}

// Peek is Get for commands that only look at what a key is: it does not count as
// a use of the key, and it costs the same for strings of any size. Long strings
// cannot be read with what it returns.
func (u *Unit) Peek(key []byte) (Value, error) {
	p := u.Place(key)
	v := Value{place: p}
	u.peeking = true
	h, err := u.load(p, key)
	u.peeking = false
	if err == nil && h.Type != None {
		v.set(&h, p)
	}
	return v, err
}

// Head is Get for commands that replace or remove a value whatever it is. Of a string it returns
// no content, only what else it knows, and so it reads nothing from disk where the cache has
// dropped the content but kept the rest. The value is valid for [Unit.PutString] and [Unit.Delete] only.
func (u *Unit) Head(key []byte) (Value, error) {
	p := u.Place(key)
	v := Value{place: p}
	u.heading = true
	h, err := u.load(p, key)
	u.heading = false
	if err == nil && h.Type != None {
		v.set(&h, p)
		if h.Type.IsBytes() && h.Gen == 0 {
			v.Inline, v.elided = nil, true
		}
	}
	return v, err
}

// load returns the header of a key, with typ None if there is none. Its value
// points into u.lines, or into a change.
func (u *Unit) load(p Place, key []byte) (h layout.Header, err error) {
	if len(u.changes) > 0 {
		if c := u.find(p, key); c != nil {
			if c.line != nil {
				err = h.Parse(c.line)
			}
			return u.expireOnRead(h, p, key, err)
		}
	}
	l := &u.s.latches[latch.Of(p)]
	line, elided, ok, err := u.read(l, p, key)
	if err != nil {
		return h, err
	}
	if l.IsCommitting() && !u.holds(p) {
		// A commit under this latch is under way: wait for it, then look again.
		l.Lock()
		line, elided, ok, err = u.read(l, p, key)
		u.noteRead(l, p)
		l.Unlock()
		if err != nil {
			return h, err
		}
	}
	u.noteRead(l, p)
	if !ok {
		return h, nil
	}
	if err = h.Parse(line); elided > 0 {
		h.Value = zeroPiece[:elided]
	}
	return u.expireOnRead(h, p, key, err)
}

// noteRead notes that something at p was read, under the latch l.
func (u *Unit) noteRead(l *latch.Latch, p Place) {
	if n := l.LastCommit(); n > u.after {
		u.after = n
	}
	if taps := u.s.taps.Current(); taps != nil {
		u.noteUnacked(taps, l, p)
	}
}

// read returns the line of a key from the cache or from Pebble, appended to u.lines. A unit that
// reads only heads may get one of a string without the string, of so many bytes.
func (u *Unit) read(l *latch.Latch, p Place, key []byte) (line []byte, elided int, ok bool, err error) {
	start := len(u.lines)
	var lines []byte
	var answer cache.Answer
	switch {
	case u.peeking || u.noTouch:
		lines, answer = u.s.cache.Peek(p, key, u.lines)
	case u.heading:
		lines, elided, answer = u.s.cache.Head(p, key, u.lines)
	default:
		lines, answer = u.s.cache.Get(p, key, u.lines)
	}
	switch answer {
	case cache.Hit:
		u.lines = lines
		return lines[start:len(lines):len(lines)], elided, true, nil
	case cache.Absent:
		return nil, 0, false, nil
	}
	// A slice is counted under its latch, which a unit that follows holds: where nothing
	// is, nothing need be looked for. That is most of what a new copy would read.
	if u.following && u.s.counts.KeysOf(layout.SliceOf(p)) == 0 {
		return nil, 0, false, nil
	}
	version := l.Version()
	u.pbuf = layout.AppendDataPrefix(u.pbuf[:0], p, key)
	value, closer, err := getEntry(u, u.pbuf)
	if err != nil {
		if errors.Is(err, pebble.ErrNotFound) {
			return nil, 0, false, nil
		}
		return nil, 0, false, u.s.readFailed(err)
	}
	u.lines = append(u.lines, value...)
	line = u.lines[start:len(u.lines):len(u.lines)]
	_ = closer.Close()
	if !u.peeking && !u.noTouch {
		u.s.cache.Fill(p, key, line, l, version)
	}
	return line, 0, true, nil
}

// mayWait is called before a read from Pebble that may be of many entries.
func mayWait(u *Unit) {
	if u.BeforeDisk != nil {
		u.BeforeDisk(false)
	}
}

// clockTolerance is for how long, in milliseconds, the clock of another node may say that a key
// has not expired yet: twice the difference between clocks from which on it is reported.
const clockTolerance = 1000

// expireOnRead removes a key whose time has come. A key that is not removed may be there again
// after a failover to a node whose clock is behind. So where no removal is possible, a read of
// a key that has just expired fails rather than finds nothing. In the other case, that of a
// latch that cannot be taken, [expirer.loop] removes the key within a moment.
func (u *Unit) expireOnRead(h layout.Header, p Place, key []byte, err error) (layout.Header, error) {
	if err != nil {
		return layout.Header{}, fmt.Errorf("read key: %w", err)
	}
	if !h.Expired(u.now) {
		return h, nil
	}
	refusal := u.s.AcceptsRemovals()
	if refusal == nil && u.s.passive.Contains(p.Token()) {
		refusal = ErrPassive
	}
	if refusal != nil && !errors.Is(refusal, ErrPassive) && u.now-h.Expiry < clockTolerance {
		return layout.Header{}, fmt.Errorf("remove an expired key: %w", refusal)
	}
	if refusal != nil || len(u.latched) > 0 && !u.holds(p) {
		// It stays, unseen: no write is possible now, or taking one more latch
		// could close a circle.
		if u.holds(p) {
			u.unseenErr = refusal
		}
		return layout.Header{}, nil
	}
	if u.holds(p) {
		if u.s.Writable() != nil {
			u.RemovesOnly()
		}
		u.remove(p, key, &h)
		u.Note(EventExpired, "expired", key)
		u.s.expirer.expired.Add(1)
		return layout.Header{}, nil
	}
	return layout.Header{}, u.expireApart(p, key, h.Expiry)
}

// A Version tells whether a key has changed since: two Versions of a key that are equal
// mean that nothing was written to it in between. The converse does not hold: keys share
// counters, about one key in a million each, and what empties a range counts for all keys.
// That a key has expired, and is not removed yet, changes nothing: its expiry is for the
// caller to compare.
type Version = keyversion.Version

// Version returns the version of a key, whose latch the unit must hold. The unit's own
// changes count once they are applied, its events at once.
func (u *Unit) Version(key []byte) Version {
	p := u.Place(key)
	if !u.holds(p) {
		panic("store: version of a key whose latch is not held")
	}
	return u.s.versions.Of(p).After(p, u.noted)
}

// getEntry reads one entry from Pebble.
func getEntry(u *Unit, key []byte) (value []byte, closer io.Closer, err error) {
	if u.BeforeDisk != nil {
		u.BeforeDisk(true)
	}
	began := time.Now()
	value, closer, err = u.s.db.Get(key)
	u.s.readTime.Note(time.Since(began))
	return value, closer, err
}
