package lua

import (
	"math"
	"math/bits"
	"unsafe"
)

// A Table is a table of Lua. Its order is a part of what scripts see: pairs, and the encoders
// of the libraries, walk the array part first and then the nodes. So sizes, hashes and places
// are those of Lua 5.1: a chained scatter table with Brent's variation, in which a key is
// moved out of a place that is not its own when the owner of the place arrives.
type Table struct {
	header
	readonly bool
	array    []Value
	nodes    []node // none, or a power of two
	free     int    // nodes from here on are in use
	meta     *Table
}

type node struct {
	key, value Value
	next       int32 // 1 + the place of the next node with the same main place; 0: none
}

const (
	tableBytes = 112
	nodeBytes  = 40
	valueBytes = 16
	maxBits    = 26 // log2 of the most elements of an array part
)

// NewTable returns a table with room for some elements.
func (s *State) NewTable(array, hash int) *Table {
	s.alloc(tableBytes)
	t := &Table{header: header{kind: KindTable}}
	if array > 0 {
		s.alloc(array * valueBytes)
		t.array = make([]Value, array)
	}
	if hash > 0 {
		s.makeNodes(t, hash)
	}
	return t
}

// makeNodes gives a table empty nodes for at least n keys.
func (s *State) makeNodes(t *Table, n int) {
	if n == 0 {
		t.nodes, t.free = nil, 0
		return
	}
	size := 1 << bits.Len(uint(n-1))
	s.alloc(size * nodeBytes)
	t.nodes = make([]node, size)
	t.free = size
}

// SetMetatable gives t a metatable, which may be nil.
func (t *Table) SetMetatable(meta *Table) { t.meta = meta }

// SetReadonly says whether an assignment to t is an error.
func (t *Table) SetReadonly(readonly bool) { t.readonly = readonly }

// hashOf returns the hash of a text as Lua 5.1 computes it.
func (s *str) hashOf() uint32 {
	if !s.hashed {
		l := len(s.s)
		h := uint32(l)
		step := l>>5 + 1
		for ; l >= step; l -= step {
			h ^= h<<5 + h>>2 + uint32(s.s[l-1])
		}
		s.hash, s.hashed = h, true
	}
	return s.hash
}

// place returns the main place of a key. Objects have ids instead of addresses.
func (t *Table) place(key Value) int {
	size := uint32(len(t.nodes))
	switch key.ref.kind {
	case KindString:
		return int(key.str().hashOf() & (size - 1))
	case KindNumber:
		return numberPlace(key.num, size)
	case KindBool:
		return int(uint32(key.num) & (size - 1))
	}
	return int(key.ref.id % ((size - 1) | 1))
}

func numberPlace(num uint64, size uint32) int {
	if num<<1 == 0 { // 0 and -0
		return 0
	}
	return int((uint32(num) + uint32(num>>32)) % ((size - 1) | 1))
}

// arrayIndex returns the integer that a number is, or 0 if no array part may hold it.
func arrayIndex(f float64) int {
	if i := int(f); float64(i) == f && i > 0 {
		return i
	}
	return 0
}

// Get returns the value of a key without metamethods.
func (t *Table) Get(key Value) Value {
	if key.ref == &numberMark {
		if i := arrayIndex(key.Float()); i > 0 {
			return t.GetInt(i)
		}
	} else if key.ref == nil {
		return Nil
	} else if key.ref.kind == KindString {
		return t.getString(key.str())
	}
	if n := t.find(key); n != nil {
		return n.value
	}
	return Nil
}

// GetInt returns the value of an integer without metamethods.
func (t *Table) GetInt(i int) Value {
	if uint(i-1) < uint(len(t.array)) {
		return t.array[i-1]
	}
	if n := t.findNumber(float64(i)); n != nil {
		return n.value
	}
	return Nil
}

// GetField returns the value of a string without metamethods.
func (t *Table) GetField(name string) Value {
	return t.getString(&str{header: header{kind: KindString}, s: name})
}

func (t *Table) getString(key *str) Value {
	if n := t.findString(key); n != nil {
		return n.value
	}
	return Nil
}

func (t *Table) findString(key *str) *node {
	if len(t.nodes) == 0 {
		return nil
	}
	hash := key.hashOf()
	n := &t.nodes[int(hash)&(len(t.nodes)-1)]
	for {
		if ref := n.key.ref; ref == &key.header {
			return n
		} else if ref != nil && ref.kind == KindString {
			if other := n.key.str(); other.hash == hash && other.s == key.s {
				return n
			}
		}
		if n.next == 0 {
			return nil
		}
		n = &t.nodes[n.next-1]
	}
}

func (t *Table) findNumber(f float64) *node {
	if len(t.nodes) == 0 {
		return nil
	}
	n := &t.nodes[numberPlace(floatBits(f), uint32(len(t.nodes)))]
	for {
		if n.key.ref == &numberMark && n.key.Float() == f {
			return n
		}
		if n.next == 0 {
			return nil
		}
		n = &t.nodes[n.next-1]
	}
}

// find returns the node of a key, or nil.
func (t *Table) find(key Value) *node {
	if len(t.nodes) == 0 {
		return nil
	}
	switch key.ref.kind {
	case KindString:
		return t.findString(key.str())
	case KindNumber:
		return t.findNumber(key.Float())
	}
	n := &t.nodes[t.place(key)]
	for {
		if n.key == key {
			return n
		}
		if n.next == 0 {
			return nil
		}
		n = &t.nodes[n.next-1]
	}
}

// slot returns where the value of a key is, or nil.
func (t *Table) slot(key Value) *Value {
	if key.ref == &numberMark {
		if i := arrayIndex(key.Float()); uint(i-1) < uint(len(t.array)) {
			return &t.array[i-1]
		}
	}
	if n := t.find(key); n != nil {
		return &n.value
	}
	return nil
}

// set gives a key a value. The key is neither nil nor NaN, and the table may be changed.
func (s *State) set(t *Table, key, value Value) {
	if p := t.slot(key); p != nil {
		*p = value
		return
	}
	*s.insert(t, key) = value
}

// insert adds a key, which t does not have, and returns where its value goes.
func (s *State) insert(t *Table, key Value) *Value {
	s.identify(key)
	if len(t.nodes) == 0 {
		return s.rehash(t, key)
	}
	at := t.place(key)
	main := &t.nodes[at]
	if main.value.ref != nil {
		free := t.freeNode()
		if free < 0 {
			return s.rehash(t, key)
		}
		spare := &t.nodes[free]
		if owner := t.place(main.key); owner != at {
			// The key here is not at its main place: it moves, and the new one takes the place.
			before := &t.nodes[owner]
			for int(before.next-1) != at {
				before = &t.nodes[before.next-1]
			}
			before.next = int32(free + 1)
			*spare = *main
			*main = node{}
		} else {
			spare.next = main.next
			main.next = int32(free + 1)
			main = spare
		}
	}
	main.key = key
	return &main.value
}

// identify gives an object its id, by which tables place it.
func (s *State) identify(key Value) {
	if h := key.ref; h.id == 0 && h.kind >= KindTable {
		s.lastID++
		h.id = s.lastID
	}
}

// index returns the place of a node of t.
func (t *Table) index(n *node) int {
	return int((uintptr(unsafe.Pointer(n)) - uintptr(unsafe.Pointer(&t.nodes[0]))) / nodeBytes)
}

// freeNode returns the last node that has never had a key, or -1.
func (t *Table) freeNode() int {
	for t.free > 0 {
		t.free--
		if t.nodes[t.free].key.ref == nil {
			return t.free
		}
	}
	return -1
}

// rehash gives t the sizes that fit its keys and one more, and returns where the value of
// that one goes. The array part becomes the largest power of two of which more than half the
// places are in use.
func (s *State) rehash(t *Table, key Value) *Value {
	var counts [maxBits + 1]int // [i]: integer keys above 2^(i-1), up to 2^i
	total, integers := 1, 0
	count := func(k Value) {
		if k.ref != &numberMark {
			return
		}
		if i := arrayIndex(k.Float()); i > 0 && i <= 1<<maxBits {
			counts[bits.Len(uint(i-1))]++
			integers++
		}
	}
	for i := range t.array {
		if t.array[i].ref != nil {
			counts[bits.Len(uint(i))]++
			integers++
			total++
		}
	}
	for i := range t.nodes {
		if t.nodes[i].value.ref != nil {
			count(t.nodes[i].key)
			total++
		}
	}
	count(key)
	size, inArray, below := 0, 0, 0
	for i, power := 0, 1; power/2 < integers; i, power = i+1, power*2 {
		if below += counts[i]; counts[i] > 0 && below > power/2 {
			size, inArray = power, below
		}
		if below == integers {
			break
		}
	}
	s.resize(t, size, total-inArray)
	if p := t.slot(key); p != nil {
		return p
	}
	return s.insert(t, key)
}

// resize gives t an array part and nodes of some sizes and sorts its values in again.
func (s *State) resize(t *Table, array, nodes int) {
	s.step(len(t.array) + len(t.nodes))
	old, vanishing := t.nodes, []Value(nil)
	if array > len(t.array) {
		s.alloc(array * valueBytes)
		grown := make([]Value, array)
		copy(grown, t.array)
		t.array = grown
	} else {
		vanishing = t.array[array:]
		if len(vanishing) > 0 {
			s.alloc(array * valueBytes)
			t.array = append([]Value(nil), t.array[:array]...)
		}
	}
	s.makeNodes(t, nodes)
	for i, v := range vanishing {
		if v.ref != nil {
			s.set(t, Number(float64(array+i+1)), v)
		}
	}
	for i := len(old) - 1; i >= 0; i-- {
		if i&0xfff == 0xfff {
			s.step(0x1000)
		}
		if n := &old[i]; n.value.ref != nil {
			s.set(t, n.key, n.value)
		}
	}
}

// setInt is set for an integer.
func (s *State) setInt(t *Table, i int, value Value) {
	if uint(i-1) < uint(len(t.array)) {
		t.array[i-1] = value
		return
	}
	s.set(t, Number(float64(i)), value)
}

// Len returns a border of t, the one that Lua 5.1 finds: an integer with a value whose
// successor has none.
func (t *Table) Len() int {
	n := len(t.array)
	if n > 0 && t.array[n-1].ref == nil {
		low, high := 0, n
		for high-low > 1 {
			if mid := (low + high) / 2; t.array[mid-1].ref == nil {
				high = mid
			} else {
				low = mid
			}
		}
		return low
	}
	if len(t.nodes) == 0 {
		return n
	}
	low, high := n, n+1
	for t.GetInt(high).ref != nil {
		low = high
		if high *= 2; high > math.MaxInt32 { // a table made to be slow: search in order
			for low = 1; t.GetInt(low).ref != nil; low++ {
			}
			return low - 1
		}
	}
	for high-low > 1 {
		if mid := (low + high) / 2; t.GetInt(mid).ref == nil {
			high = mid
		} else {
			low = mid
		}
	}
	return low
}

// Next returns the key after a key, in the order of pairs, with its value; the first one after
// nil. At the end k is nil. ok is false for a key that t has never had.
func (t *Table) Next(key Value) (k, v Value, ok bool) {
	i := 0
	if key.ref != nil {
		at := 0
		if key.ref == &numberMark {
			at = arrayIndex(key.Float())
		}
		if uint(at-1) < uint(len(t.array)) {
			i = at
		} else if n := t.find(key); n != nil {
			i = len(t.array) + t.index(n) + 1
		} else {
			return Nil, Nil, false
		}
	}
	for ; i < len(t.array); i++ {
		if t.array[i].ref != nil {
			return Number(float64(i + 1)), t.array[i], true
		}
	}
	for i -= len(t.array); i < len(t.nodes); i++ {
		if n := &t.nodes[i]; n.value.ref != nil {
			return n.key, n.value, true
		}
	}
	return Nil, Nil, true
}
