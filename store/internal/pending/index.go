package pending

import (
	"bytes"
	"hash/maphash"
)

// An index finds the last change of a key in a list of changes: a table of their
// numbers, each plus one, with open addressing; 0 is nothing. A map of strings would copy
// each key.
type index []int32

// seed keeps clients from choosing fields that all lie at one place.
var seed = maphash.MakeSeed()

// of returns an index of changes, with room for as many again.
func (x index) of(list []Change) index {
	if 4*len(list) > len(x) {
		size := 128
		for size < 4*len(list) {
			size *= 2
		}
		x = make(index, size)
	}
	clear(x)
	for i := range list {
		x.add(list, i)
	}
	return x
}

// place returns where a key is, or would be.
func (x index) place(list []Change, key []byte) int {
	mask := len(x) - 1
	i := int(maphash.Bytes(seed, key)) & mask
	for x[i] != 0 && !bytes.Equal(list[x[i]-1].Key, key) {
		i = (i + 1) & mask
	}
	return i
}

// add notes that a change is the last one of its key.
func (x index) add(list []Change, n int) { x[x.place(list, list[n].Key)] = int32(n + 1) }

// find returns the number of the last change of a key, or -1.
func (x index) find(list []Change, key []byte) int {
	return int(x[x.place(list, key)]) - 1
}
