package gather

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"slices"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
)

// A run is changes that are written together. Its methods need [DB.mu], except those that say otherwise.
type run struct {
	bytes   []byte   // of keys and values
	changes []change // in the order of commits
	common  int      // number of bytes with which all keys begin
	// looked is how many changes were looked at to find whether one lies within bounds.
	looked int
	// keys and places tell that a key, or one with its first bytes, may be in the run.
	keys, places filter
}

// A change is the newest state of an entry at some time.
type change struct {
	at, key, value uint32 // where the key begins in run.bytes, with the value behind it, and their lengths
	gone           bool
	hash           uint64
}

func (r *run) key(c *change) []byte   { return r.bytes[c.at : c.at+c.key] }
func (r *run) value(c *change) []byte { return r.bytes[c.at+c.key : c.at+c.key+c.value] }

// isFull reports whether the run has n changes, or about as many bytes as so many have.
func (r *run) isFull(n int) bool { return len(r.changes) >= n || len(r.bytes) >= n*bytesPerChange }

// add adds all changes of a batch, unless there are others than of single entries in it: then it adds nothing
// and returns false.
func (r *run) add(b *pebble.Batch) bool {
	bytes, changes := len(r.bytes), len(r.changes)
	for reader := b.Reader(); ; {
		kind, key, value, ok, err := reader.Next()
		if err == nil && !ok {
			return true
		}
		if err != nil || kind != pebble.InternalKeyKindSet && kind != pebble.InternalKeyKindDelete {
			r.bytes, r.changes = r.bytes[:bytes], r.changes[:changes] // that the filters have more is no harm
			return false
		}
		c := change{uint32(len(r.bytes)), uint32(len(key)), uint32(len(value)), kind == pebble.InternalKeyKindDelete, hash(key)}
		r.bytes = append(append(r.bytes, key...), value...)
		r.changes = append(r.changes, c)
		r.keys.add(c.hash)
		r.places.add(hash(placeOf(key)))
		if len(r.changes) == 1 {
			r.common = len(key)
		}
		r.common = commonPrefix(key, r.key(&r.changes[0])[:r.common])
	}
}

// find returns the last change of a key, or nil.
func (r *run) find(key []byte, hash uint64) *change {
	for i := len(r.changes) - 1; i >= 0; i-- {
		if c := &r.changes[i]; c.hash == hash && bytes.Equal(r.key(c), key) {
			return c
		}
	}
	return nil
}

// mostLooks is how often each change is looked at before it costs less to write the run.
const mostLooks = 8

// mayBeWithin reports whether a key may lie within bounds.
func (r *run) mayBeWithin(lower, upper []byte) bool {
	if r.looked > mostLooks*len(r.changes) {
		return true
	}
	r.looked += len(r.changes)
	for i := range r.changes {
		if key := r.key(&r.changes[i]); bytes.Compare(key, lower) >= 0 && bytes.Compare(key, upper) < 0 {
			return true
		}
	}
	return false
}

// fill puts the last change of each key into a batch, in the order of keys. Nobody may change the run meanwhile.
func (r *run) fill(b *pebble.Batch) error {
	// Most comparisons end with the eight bytes behind those that all keys have.
	type place struct {
		bytes uint64
		n     int
	}
	order := make([]place, len(r.changes))
	for n := range r.changes {
		var head [8]byte
		copy(head[:], r.key(&r.changes[n])[r.common:])
		order[n] = place{binary.BigEndian.Uint64(head[:]), n}
	}
	slices.SortFunc(order, func(x, y place) int {
		switch {
		case x.bytes < y.bytes:
			return -1
		case x.bytes > y.bytes:
			return 1
		}
		if c := bytes.Compare(r.key(&r.changes[x.n])[r.common:], r.key(&r.changes[y.n])[r.common:]); c != 0 {
			return c
		}
		return y.n - x.n
	})
	var before []byte
	for i := range order {
		c := &r.changes[order[i].n]
		key := r.key(c)
		if i > 0 && bytes.Equal(key, before) {
			continue // the first one was the last change
		}
		before = key
		var err error
		if c.gone {
			err = b.Delete(key, nil)
		} else {
			err = b.Set(key, r.value(c), nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *run) reset() {
	r.bytes, r.changes, r.looked = r.bytes[:0], r.changes[:0], 0
	r.keys.clear()
	r.places.clear()
}

// A filter has bits for hashes. One goroutine changes it at a time, any may ask.
type filter []atomic.Uint64

func (f filter) bit(hash uint64) (word *atomic.Uint64, bit uint64) {
	return &f[hash>>6&uint64(len(f)-1)], 1 << (hash & 63)
}

func (f filter) add(hash uint64) {
	word, bit := f.bit(hash)
	if old := word.Load(); old&bit == 0 {
		word.Store(old | bit)
	}
}

func (f filter) mayHave(hash uint64) bool {
	word, bit := f.bit(hash)
	return word.Load()&bit != 0
}

func (f filter) clear() {
	for i := range f {
		f[i].Store(0)
	}
}

// seed keeps clients from choosing keys that have one bit.
var seed = maphash.MakeSeed()

func hash(b []byte) uint64 { return maphash.Bytes(seed, b) }

// placeSize is how many bytes data keys of one place begin with.
const placeSize = 9

func placeOf(key []byte) []byte { return key[:min(len(key), placeSize)] }

// commonPrefix returns the number of bytes with which both begin.
func commonPrefix(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
