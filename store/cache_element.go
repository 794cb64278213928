package store

import (
	"encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"
)

// Elements of collections have lines in the cache beside the headers of keys: whoever sets
// a field has to know whether it was there. A line's key is that of the entry in Pebble
// behind the user's: generation and sub key. Generations are never used twice, so what is
// left of a collection that is gone is never found again, and ages out.
//
// Only sub keys of some kinds have lines: see Unit.SetElement for what that asks of them.

// Kinds of sub keys, their first byte, whose elements have lines in the cache.
const (
	FieldKind = 'f' // a field of a hash, a member of a set
	ItemKind  = 'l' // an element of a list
)

func hasLine(sub []byte) bool { return sub[0] == FieldKind || sub[0] == ItemKind }

// elementID is the id of an element's line; key is its generation, 8 B BE, and sub key.
//
// Eight items that follow each other begin at the same slot, so that theirs lie side by side:
// who pushes or pops one after the other fetches a line or two of memory for eight of them.
func elementID(p Place, key []byte) lineID {
	if len(key) != itemLine || key[8] != ItemKind {
		return lineID{mix(uint64(p) ^ xxhash.Sum64(key)), p, key, entElement}
	}
	n := binary.BigEndian.Uint64(key[9:])
	row, at := n/8, n%8
	// Their tags differ, which are in the upper half, and not what the shard is chosen by.
	return lineID{mix(mix(uint64(p)^generationIn(key))+row) ^ at<<32, p, key, entElement}
}

// itemLine is how long the key of an item's line is.
const itemLine = 8 + 1 + 8

func generationIn(key []byte) uint64 { return binary.BigEndian.Uint64(key) }

// element appends the value of an element to dst. It is absent if all elements of the
// collection that exist have lines.
func (c *cache) element(p Place, key, dst []byte) ([]byte, cacheAnswer) {
	if c.shards == nil {
		return dst, cacheMiss
	}
	id := elementID(p, key)
	s := c.shard(&id)
	s.mu.Lock()
	slot, ok := s.find(&id)
	if !ok {
		s.misses++
		s.mu.Unlock()
		// In this order: what is dropped is forgotten before.
		if c.known.has(generationIn(key)) {
			return dst, cacheAbsent
		}
		return dst, cacheMiss
	}
	dst = append(dst, s.useElement(slot, len(key))...)
	s.hits++
	s.mu.Unlock()
	return dst, cacheHit
}

// useElement returns the line of an element with a key of that length, which counts as read.
func (s *cacheShard) useElement(slot uint32, keyLen int) []byte {
	e := s.entry(slot)
	word := binary.LittleEndian.Uint32(e[entKeyLen:])
	binary.LittleEndian.PutUint32(e[entKeyLen:], word|entRef)
	start := cacheEntryMin + keyLen
	return e[start : start+int(binary.LittleEndian.Uint32(e[entLine:]))]
}

// putElement makes value the value of an element.
func (c *cache) putElement(p Place, key, value []byte) {
	if c.shards == nil {
		return
	}
	id := elementID(p, key)
	s := c.shard(&id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(value) > maxCachedLine || len(key) > maxLineKey {
		s.lacks(&id)
		if slot, ok := s.find(&id); ok {
			s.kill(slot)
		}
		return
	}
	s.put(&id, value, c.clock.Load())
}

// fillElement is putElement for a value that was read from Pebble; see fill.
func (c *cache) fillElement(p Place, key, value []byte, version *atomic.Uint64, want uint64) {
	if c.shards == nil || want&1 != 0 || len(value) > maxCachedLine || len(key) > maxLineKey {
		return
	}
	id := elementID(p, key)
	s := c.shard(&id)
	s.mu.Lock()
	if version.Load() == want {
		s.put(&id, value, c.clock.Load())
	}
	s.mu.Unlock()
}

// removeElement drops the line of an element that exists no more, if there is one.
func (c *cache) removeElement(p Place, key []byte) {
	if c.shards == nil {
		return
	}
	id := elementID(p, key)
	s := c.shard(&id)
	s.mu.Lock()
	if slot, ok := s.find(&id); ok {
		s.kill(slot)
	}
	s.mu.Unlock()
}

// loseElement is removeElement for one that may exist all the same.
func (c *cache) loseElement(p Place, key []byte) {
	c.known.forget(generationIn(key))
	c.removeElement(p, key)
}

// begin notes that a collection which has no elements yet is going to be made.
func (c *cache) begin(gen uint64) {
	if c.shards != nil {
		c.known.begin(gen)
	}
}

// complete are the generations of collections all of whose elements have lines.
type complete struct {
	mu   sync.RWMutex
	gens map[uint64]struct{}
}

// maxComplete bounds how many collections are known to be complete: beyond it all are
// forgotten.
const maxComplete = 1 << 16

// begin notes a collection that has no elements yet.
func (c *complete) begin(gen uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gens == nil || len(c.gens) >= maxComplete {
		c.gens = make(map[uint64]struct{})
	}
	c.gens[gen] = struct{}{}
}

func (c *complete) has(gen uint64) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	_, ok := c.gens[gen]
	return ok
}

func (c *complete) forget(gen uint64) {
	c.mu.Lock()
	delete(c.gens, gen)
	c.mu.Unlock()
}

func (c *complete) clear() {
	c.mu.Lock()
	c.gens = nil
	c.mu.Unlock()
}
