package pending

import (
	"bytes"
	"hash/maphash"
	"slices"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

// Changes are what a unit did to elements, which it does not find in Pebble before
// it is applied.
type Changes struct {
	List []Change
	// Ranges have been removed; what list says of a key in them came later, or agrees.
	Ranges []Range
	index  Index // once there are many
	// order is, of the first so many in list, the numbers of the last changes of keys, in the
	// order of these. It is brought up to date when it is wanted.
	order   []int32
	ordered int
	// Version rises with each change, and when they are forgotten.
	Version uint64
	// Foreign are entries that another store has changed; this unit does not read them. A change without a sub key stands
	// for all entries of a collection.
	Foreign []Change
}

// A Change is the newest state of an element.
type Change struct {
	Place layout.Place
	Key   []byte // in Pebble
	Sub   int    // bytes of key that are the sub key
	Value []byte
	Gone  bool
	Left  bool // gone, and Pebble need not be told
}

// IsField reports whether the element is a field of a hash or a member of a set.
func (c *Change) IsField() bool { return c.Key[len(c.Key)-c.Sub] == layout.FieldKind }

// Descending reports whether each change is of a key before that of the one before.
func Descending(list []Change) bool {
	for i := 1; i < len(list); i++ {
		if bytes.Compare(list[i-1].Key, list[i].Key) <= 0 {
			return false
		}
	}
	return true
}

// An Range is keys in Pebble from one up to, not including, another.
type Range struct{ Lower, Upper []byte }

// InRanges reports whether a key lies in one of some ranges.
func InRanges(ranges []Range, key []byte) bool {
	for i := range ranges {
		if r := &ranges[i]; bytes.Compare(key, r.Lower) >= 0 && bytes.Compare(key, r.Upper) < 0 {
			return true
		}
	}
	return false
}

// fewChanges are looked through one by one.
const fewChanges = 16

// Add adds a change.
func (cs *Changes) Add(c Change) {
	cs.Version++
	cs.List = append(cs.List, c)
	from, n := len(cs.List)-1, len(cs.List)
	if n <= fewChanges {
		return
	}
	if n == fewChanges+1 || !cs.index.HasRoom(n) {
		cs.index, from = cs.index.Emptied(n), 0
	}
	for i := from; i < n; i++ {
		cs.index.Set(hashOf(cs.List[i].Key), i, cs.isOf(cs.List[i].Key))
	}
}

// seed keeps clients from choosing fields that all lie at one place.
var seed = maphash.MakeSeed()

func hashOf(key []byte) uint64 { return maphash.Bytes(seed, key) }

// isOf returns a function that reports whether a change is of a key.
func (cs *Changes) isOf(key []byte) func(n int) bool {
	return func(n int) bool { return bytes.Equal(cs.List[n].Key, key) }
}

// Remove notes that all from lower up to, not including, upper are gone.
func (cs *Changes) Remove(lower, upper []byte) {
	cs.Version++
	r := []Range{{lower, upper}}
	for i := range cs.List {
		if c := &cs.List[i]; InRanges(r, c.Key) {
			c.Value, c.Gone, c.Left = nil, true, true
		}
	}
	cs.Ranges = append(cs.Ranges, r[0])
}

// Removed reports whether a key lies in a range that was removed.
func (cs *Changes) Removed(key []byte) bool { return InRanges(cs.Ranges, key) }

// Find returns the last change of a key, or nil.
func (cs *Changes) Find(key []byte) *Change {
	if len(cs.List) > fewChanges {
		if i := cs.index.Find(hashOf(key), cs.isOf(key)); i >= 0 {
			return &cs.List[i]
		}
		return nil
	}
	for i := len(cs.List) - 1; i >= 0; i-- {
		if c := &cs.List[i]; bytes.Equal(c.Key, key) {
			return c
		}
	}
	return nil
}

// Within returns the last changes of the keys from lower up to, not including, upper, in
// order.
func (cs *Changes) Within(lower, upper []byte) (found []Change) {
	if len(cs.List) == 0 {
		return nil
	}
	if len(cs.List)-cs.ordered > manyUnordered && !cs.touch(lower, upper) {
		return nil
	}
	cs.sort()
	at := func(key []byte) int {
		n, _ := slices.BinarySearchFunc(cs.order, key, func(i int32, key []byte) int { return bytes.Compare(cs.List[i].Key, key) })
		return n
	}
	for _, i := range cs.order[at(lower):at(upper)] {
		found = append(found, cs.List[i])
	}
	return found
}

// manyUnordered changes are not put in order to find that none of them is wanted.
const manyUnordered = 512

// touch reports whether there is a change of a key from lower up to, not including, upper.
func (cs *Changes) touch(lower, upper []byte) bool {
	r := []Range{{lower, upper}}
	for i := range cs.List {
		if InRanges(r, cs.List[i].Key) {
			return true
		}
	}
	return false
}

// sort brings order up to date.
func (cs *Changes) sort() {
	compare := func(i, j int32) int { return bytes.Compare(cs.List[i].Key, cs.List[j].Key) }
	var fresh []int32
	for i := cs.ordered; i < len(cs.List); i++ {
		if cs.Find(cs.List[i].Key) == &cs.List[i] {
			fresh = append(fresh, int32(i))
		}
	}
	cs.ordered = len(cs.List)
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

// Forget drops all changes, which have been applied or never will be.
func (cs *Changes) Forget() {
	cs.Version++
	clear(cs.List)
	cs.List = cs.List[:0]
	cs.Ranges = nil
	cs.order, cs.ordered = cs.order[:0], 0
	clear(cs.Foreign)
	cs.Foreign = cs.Foreign[:0]
	if cap(cs.List) > 1<<11 {
		cs.List, cs.index, cs.order = nil, nil, nil
	}
}

// AddForeign notes an entry that another store has changed.
func (cs *Changes) AddForeign(c Change) { cs.Foreign = append(cs.Foreign, c) }
