package store

import (
	"bytes"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

// A change is the newest state of one key in a unit.
type change struct {
	place Place
	key   []byte
	line  []byte // encoded header; nil: the key is gone
	base  uint64 // the generation of the value that the unit found
	gen   uint64 // of line
	// dirty: Pebble gets the header later; see dirty.go. It is set when the unit is applied.
	dirty bool
}

// of reports whether c is of a key.
func (c *change) of(p Place, key []byte) bool { return c.place == p && bytes.Equal(c.key, key) }

// fewChanges are looked through one by one.
const fewChanges = 16

// find returns the unit's own change of a key.
func (u *Unit) find(p Place, key []byte) *change {
	if len(u.changes) <= fewChanges {
		for i := range u.changes {
			if c := &u.changes[i]; c.of(p, key) {
				return c
			}
		}
		return nil
	}
	if i := u.index.Find(layout.Mix(uint64(p)), func(n int) bool { return u.changes[n].of(p, key) }); i >= 0 {
		return &u.changes[i]
	}
	return nil
}

func (u *Unit) setChange(p Place, key, line []byte, base, gen uint64) {
	u.headChanges++
	if c := u.find(p, key); c != nil {
		c.line, c.gen = line, gen
		return
	}
	u.changes = append(u.changes, change{place: p, key: key, line: line, base: base, gen: gen})
	from, n := len(u.changes)-1, len(u.changes)
	if n <= fewChanges {
		return
	}
	if n == fewChanges+1 || !u.index.HasRoom(n) {
		u.index, from = u.index.Emptied(n), 0
	}
	for i := from; i < n; i++ {
		u.index.Set(layout.Mix(uint64(u.changes[i].place)), i, func(int) bool { return false }) // each key has one change
	}
}

// HeadChanges is a number that rises with each change of a header which the unit makes, and when it runs again: as long
// as it stays the same, Get returns of a key that the unit has changed what it did.
func (u *Unit) HeadChanges() uint64 { return u.headChanges }

// Changed reports whether the unit has changed a key since it was last applied; Get then takes no reading, and cannot
// fail.
func (u *Unit) Changed(key []byte) bool {
	return len(u.changes) > 0 && u.find(u.Place(key), key) != nil
}
