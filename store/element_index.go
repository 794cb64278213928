package store

import (
	"bytes"
	"hash/maphash"
)

// An elementIndex finds the last change of a key in a list of changes: a table of their
// numbers, each plus one, with open addressing; 0 is nothing. A map of strings would copy
// each key.
type elementIndex []int32

// elementSeed keeps clients from choosing fields that all lie at one place.
var elementSeed = maphash.MakeSeed()

// of returns an index of changes, with room for as many again.
func (x elementIndex) of(list []elementChange) elementIndex {
	if 4*len(list) > len(x) {
		size := 128
		for size < 4*len(list) {
			size *= 2
		}
		x = make(elementIndex, size)
	}
	clear(x)
	for i := range list {
		x.add(list, i)
	}
	return x
}

// place returns where a key is, or would be.
func (x elementIndex) place(list []elementChange, key []byte) int {
	mask := len(x) - 1
	i := int(maphash.Bytes(elementSeed, key)) & mask
	for x[i] != 0 && !bytes.Equal(list[x[i]-1].key, key) {
		i = (i + 1) & mask
	}
	return i
}

// add notes that a change is the last one of its key.
func (x elementIndex) add(list []elementChange, n int) { x[x.place(list, list[n].key)] = int32(n + 1) }

// find returns the number of the last change of a key, or -1.
func (x elementIndex) find(list []elementChange, key []byte) int {
	return int(x[x.place(list, key)]) - 1
}
