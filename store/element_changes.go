package store

import (
	"bytes"
	"slices"
)

// elementChanges are what a unit did to elements, which it does not find in Pebble before
// it is applied.
type elementChanges struct {
	list []elementChange
	// ranges have been removed; what list says of a key in them came later, or agrees.
	ranges []elementRange
	index  elementIndex // once there are many
	// order is, of the first so many in list, the numbers of the last changes of keys, in the
	// order of these. It is brought up to date when it is wanted.
	order   []int32
	ordered int
	// made rises with each change, and when they are forgotten.
	made uint64
	// foreign are entries that another store has changed, which nobody here asks for now.
	foreign []elementChange
}

type elementChange struct {
	place Place
	key   []byte // in Pebble
	sub   int    // bytes of key that are the sub key
	value []byte
	gone  bool
	left  bool // gone, and Pebble need not be told
}

func (c *elementChange) isField() bool { return c.key[len(c.key)-c.sub] == FieldKind }

// descending reports whether each change is of a key before that of the one before.
func descending(list []elementChange) bool {
	for i := 1; i < len(list); i++ {
		if bytes.Compare(list[i-1].key, list[i].key) <= 0 {
			return false
		}
	}
	return true
}

// line is the key of the element's line in the cache, if it may have one.
func (c *elementChange) line() (key []byte, ok bool) {
	at := len(c.key) - c.sub
	return c.key[at-8:], IsCached(c.key[at:])
}

// cached brings the cache up to date with changes that have been made, or may have been,
// if that is not known.
func (cs *elementChanges) cached(c *cache, made bool) {
	for i := 0; i < len(cs.list); i++ {
		e := &cs.list[i]
		switch line, ok := e.line(); {
		case !ok:
		case !made:
			c.loseElement(e.place, line)
		case isItem(line):
			n := itemRun(cs.list[i:])
			c.changeItems(cs.list[i : i+n])
			i += n - 1
		case e.gone:
			c.removeElement(e.place, line)
		default:
			c.putElement(e.place, line, e.value)
		}
	}
	for i := range cs.foreign {
		e := &cs.foreign[i]
		if line, ok := e.line(); ok {
			c.loseElement(e.place, line)
		}
	}
}

// An elementRange is keys in Pebble from one up to, not including, another.
type elementRange struct{ lower, upper []byte }

func inRanges(ranges []elementRange, key []byte) bool {
	for i := range ranges {
		if r := &ranges[i]; bytes.Compare(key, r.lower) >= 0 && bytes.Compare(key, r.upper) < 0 {
			return true
		}
	}
	return false
}

// fewChanges are looked through one by one.
const fewChanges = 16

func (cs *elementChanges) add(c elementChange) {
	cs.made++
	cs.list = append(cs.list, c)
	switch n := len(cs.list); {
	case n <= fewChanges:
	case n == fewChanges+1 || 2*n > len(cs.index):
		cs.index = cs.index.of(cs.list)
	default:
		cs.index.add(cs.list, n-1)
	}
}

// remove notes that all from lower up to, not including, upper are gone.
func (cs *elementChanges) remove(lower, upper []byte) {
	cs.made++
	r := []elementRange{{lower, upper}}
	for i := range cs.list {
		if c := &cs.list[i]; inRanges(r, c.key) {
			c.value, c.gone, c.left = nil, true, true
		}
	}
	cs.ranges = append(cs.ranges, r[0])
}

func (cs *elementChanges) removed(key []byte) bool { return inRanges(cs.ranges, key) }

// find returns the last change of a key, or nil.
func (cs *elementChanges) find(key []byte) *elementChange {
	if len(cs.list) > fewChanges {
		if i := cs.index.find(cs.list, key); i >= 0 {
			return &cs.list[i]
		}
		return nil
	}
	for i := len(cs.list) - 1; i >= 0; i-- {
		if c := &cs.list[i]; bytes.Equal(c.key, key) {
			return c
		}
	}
	return nil
}

// within returns the last changes of the keys from lower up to, not including, upper, in
// order.
func (cs *elementChanges) within(lower, upper []byte) (found []elementChange) {
	if len(cs.list) == 0 {
		return nil
	}
	if len(cs.list)-cs.ordered > manyUnordered && !cs.touch(lower, upper) {
		return nil
	}
	cs.sort()
	at := func(key []byte) int {
		n, _ := slices.BinarySearchFunc(cs.order, key, func(i int32, key []byte) int { return bytes.Compare(cs.list[i].key, key) })
		return n
	}
	for _, i := range cs.order[at(lower):at(upper)] {
		found = append(found, cs.list[i])
	}
	return found
}

// manyUnordered changes are not put in order to find that none of them is wanted.
const manyUnordered = 512

// touch reports whether there is a change of a key from lower up to, not including, upper.
func (cs *elementChanges) touch(lower, upper []byte) bool {
	r := []elementRange{{lower, upper}}
	for i := range cs.list {
		if inRanges(r, cs.list[i].key) {
			return true
		}
	}
	return false
}

// sort brings order up to date.
func (cs *elementChanges) sort() {
	compare := func(i, j int32) int { return bytes.Compare(cs.list[i].key, cs.list[j].key) }
	var fresh []int32
	for i := cs.ordered; i < len(cs.list); i++ {
		if cs.find(cs.list[i].key) == &cs.list[i] {
			fresh = append(fresh, int32(i))
		}
	}
	cs.ordered = len(cs.list)
	if len(fresh) < len(cs.order)/64 { // to move is quicker than to compare
		for _, i := range fresh {
			at, found := slices.BinarySearchFunc(cs.order, i, compare)
			if found {
				cs.order[at] = i
			} else {
				cs.order = slices.Insert(cs.order, at, i)
			}
		}
		return
	}
	slices.SortFunc(fresh, compare)
	merged := make([]int32, 0, len(cs.order)+len(fresh))
	old := cs.order
	for _, i := range fresh {
		for len(old) > 0 && compare(old[0], i) < 0 {
			merged, old = append(merged, old[0]), old[1:]
		}
		if len(old) > 0 && compare(old[0], i) == 0 {
			old = old[1:]
		}
		merged = append(merged, i)
	}
	cs.order = append(merged, old...)
}

// forget drops all changes, which have been applied or never will be.
func (cs *elementChanges) forget() {
	cs.made++
	clear(cs.list)
	cs.list = cs.list[:0]
	cs.ranges = nil
	cs.order, cs.ordered = cs.order[:0], 0
	clear(cs.foreign)
	cs.foreign = cs.foreign[:0]
	if cap(cs.list) > 1<<11 {
		cs.list, cs.index, cs.order = nil, nil, nil
	}
}
