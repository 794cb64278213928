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

// find returns the unit's own change of a key.
func (u *Unit) find(p Place, key []byte) *change {
	if len(u.changes) <= 16 {
		for i := range u.changes {
			if c := &u.changes[i]; c.of(p, key) {
				return c
			}
		}
		return nil
	}
	if i := u.index.find(u.changes, p, key); i >= 0 {
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
	switch n := len(u.changes); {
	case n == 17 || n > 17 && 2*n > len(u.index):
		u.index = u.index.of(u.changes)
	case n > 17:
		u.index.add(u.changes, n-1)
	}
}

// A changeIndex finds changes by place and key: a table of their numbers, each plus one,
// with open addressing; 0 is nothing.
type changeIndex []int32

// of returns an index of changes, with room for more.
func (x changeIndex) of(changes []change) changeIndex {
	if 2*len(changes) > len(x) {
		size := 64
		for size < 4*len(changes) {
			size *= 2
		}
		x = make(changeIndex, size)
	}
	for i := range changes {
		x.add(changes, i)
	}
	return x
}

func (x changeIndex) add(changes []change, n int) {
	mask := len(x) - 1
	i := int(layout.Mix(uint64(changes[n].place))>>32) & mask
	for x[i] != 0 {
		i = (i + 1) & mask
	}
	x[i] = int32(n + 1)
}

// find returns the number of the change of a key, or -1.
func (x changeIndex) find(changes []change, p Place, key []byte) int {
	mask := len(x) - 1
	for i := int(layout.Mix(uint64(p))>>32) & mask; x[i] != 0; i = (i + 1) & mask {
		if c := &changes[x[i]-1]; c.of(p, key) {
			return int(x[i] - 1)
		}
	}
	return -1
}

// HeadChanges is a number that rises with each change of a header which the unit makes, and
// when it begins anew: as long as it stays the same, Get returns of a key that the unit has
// changed what it did.
func (u *Unit) HeadChanges() uint64 { return u.headChanges }

// Changed reports whether the unit has changed a key since it was last applied; Get
// then takes no reading, and cannot fail.
func (u *Unit) Changed(key []byte) bool {
	return len(u.changes) > 0 && u.find(u.Place(key), key) != nil
}
