package cache

import (
	"encoding/binary"
	"sync"

	"github.com/cespare/xxhash/v2"

	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/pending"
)

// Elements of collections have lines in the cache beside the headers of keys: whoever sets
// a field has to know whether it was there. A line's key is that of the entry in Pebble
// behind the user's: generation and sub key. Generations are never used twice, so what is
// left of a collection that is gone is never found again, and ages out.
//
// Only sub keys of some kinds have lines: see Unit.SetElement for what that asks of them.

// HasLine reports whether elements with such sub keys may have lines.
func HasLine(sub []byte) bool {
	return sub[0] == layout.FieldKind || sub[0] == layout.ItemKind || sub[0] == layout.TimedKind
}

// elementID is the id of an element's line, or of that of a row of items; key is its
// generation, 8 B BE, and its sub key, or the row's number for that.
func elementID(p layout.Place, key []byte) lineID {
	if IsItem(key) {
		// A few multiplications do.
		return lineID{layout.Mix(layout.Mix(uint64(p)^generationIn(key)) + binary.BigEndian.Uint64(key[9:])), p, key, entElement}
	}
	return lineID{layout.Mix(uint64(p) ^ xxhash.Sum64(key)), p, key, entElement}
}

func generationIn(key []byte) uint64 { return binary.BigEndian.Uint64(key) }

// Element appends the value of an element to dst and returns it, too. It is absent if all
// elements of the collection that exist have lines. If the element is an item whose row is not
// large, and near is not nil, all of the row is appended, and near becomes that.
func (c *Cache) Element(p layout.Place, key, dst []byte, near *NearRow) (_, value []byte, _ Answer) {
	if c.shards == nil {
		return dst, nil, Miss
	}
	var of [itemLine]byte
	id, at := lineOf(p, key, &of)
	s := c.shard(&id)
	s.mu.Lock()
	if slot, ok := s.find(&id); ok {
		line := s.useElement(slot, len(key))
		if value = line; at >= 0 {
			value, ok = row(line).get(at)
		}
		if ok {
			s.hits++
			if near != nil && at >= 0 && len(line) <= maxNear {
				dst = near.set(key, line, dst)
				value, _ = near.line.get(at)
			} else {
				dst = append(dst, value...)
				value = dst[len(dst)-len(value) : len(dst) : len(dst)]
			}
			s.mu.Unlock()
			return dst, value, Hit
		}
	}
	s.misses++
	s.mu.Unlock()
	// In this order: what is dropped is forgotten before.
	if c.known.has(generationIn(key)) {
		return dst, nil, Absent
	}
	return dst, nil, Miss
}

// lineOf is the id of the line that has an element, and which item of it that is: none if it is
// negative. of is for the key of a row.
func lineOf(p layout.Place, key []byte, of *[itemLine]byte) (id lineID, at int) {
	if !IsItem(key) {
		return elementID(p, key), -1
	}
	at = rowOf(key, of)
	return elementID(p, of[:]), at
}

// useElement returns the line of an element with a key of that length, which counts as read.
func (s *shard) useElement(slot uint32, keyLen int) []byte {
	e := s.entry(slot)
	word := binary.LittleEndian.Uint32(e[entKeyLen:])
	binary.LittleEndian.PutUint32(e[entKeyLen:], word|entRef)
	start := entryHead + keyLen
	return e[start : start+lineLen(e)]
}

// putElement makes value the value of an element.
func (c *Cache) putElement(p layout.Place, key, value []byte) {
	if c.shards == nil {
		return
	}
	var of [itemLine]byte
	id, at := lineOf(p, key, &of)
	s := c.shard(&id)
	s.mu.Lock()
	s.putElement(&id, at, key, value, c.clock.Load())
	s.mu.Unlock()
	c.removeOtherForm(p, key)
}

func (s *shard) putElement(id *lineID, at int, key, value []byte, now uint32) {
	switch {
	case len(value) > maxLine || len(key) > maxLineKey:
		s.lacks(id)
		s.removeElement(id, at)
	case at >= 0:
		s.putItem(id, at, value, now)
	default:
		s.put(id, value, now)
	}
}

// itemRun is how many changes there are of items of one row from the first one, which is of an
// item, on.
func itemRun(changes []pending.Change) int {
	first, _ := cachedKey(&changes[0])
	n := 1
	for ; n < len(changes); n++ {
		if key, ok := cachedKey(&changes[n]); !ok || !sameRow(first, key) {
			break
		}
	}
	return n
}

// changeItems is putElement, or removeElement, for each of an itemRun.
func (c *Cache) changeItems(changes []pending.Change) {
	if c.shards == nil {
		return
	}
	first, _ := cachedKey(&changes[0])
	var of [itemLine]byte
	id, _ := lineOf(changes[0].Place, first, &of)
	s, now := c.shard(&id), c.clock.Load()
	s.mu.Lock()
	_, hasRow := s.find(&id)
	put := false
	for i := range changes {
		key, _ := cachedKey(&changes[i])
		if changes[i].Gone {
			s.removeElement(&id, itemIn(key))
		} else {
			s.putElement(&id, itemIn(key), key, changes[i].Value, now)
			put = true
		}
	}
	s.mu.Unlock()
	if put && !hasRow { // else its chunk has gone before
		c.removeOtherForm(changes[0].Place, first)
	}
}

// FillElement is putElement for a value that was read from Pebble; see fill.
func (c *Cache) FillElement(p layout.Place, key, value []byte, l Version, want uint64) {
	if c.shards == nil || !l.Unchanged(want) || len(value) > maxLine || len(key) > maxLineKey {
		return
	}
	var of [itemLine]byte
	id, at := lineOf(p, key, &of)
	s := c.shard(&id)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !l.Unchanged(want):
	case at >= 0:
		s.putItem(&id, at, value, c.clock.Load())
	default:
		s.put(&id, value, c.clock.Load())
	}
}

// removeElement drops an element that exists no more from its line, if there is one.
func (c *Cache) removeElement(p layout.Place, key []byte) {
	if c.shards == nil {
		return
	}
	var of [itemLine]byte
	id, at := lineOf(p, key, &of)
	s := c.shard(&id)
	s.mu.Lock()
	s.removeElement(&id, at)
	s.mu.Unlock()
}

func (s *shard) removeElement(id *lineID, at int) {
	if slot, ok := s.find(id); ok && (at < 0 || !s.rowAt(slot).drop(at)) {
		s.kill(slot)
	}
}

// loseElement is removeElement for one that may exist all the same.
func (c *Cache) loseElement(p layout.Place, key []byte) {
	c.known.forget(generationIn(key))
	c.removeElement(p, key)
	c.removeOtherForm(p, key)
}

// Begin notes that a collection which has no elements yet is going to be made.
func (c *Cache) Begin(gen uint64) {
	if c.shards != nil {
		c.known.begin(gen)
	}
}

// generations are the generations of collections all of whose elements have lines.
type generations struct {
	mu   sync.RWMutex
	gens map[uint64]struct{}
}

// maxComplete bounds how many collections are known to be complete: beyond it all are
// forgotten.
const maxComplete = 1 << 16

// begin notes a collection that has no elements yet.
func (c *generations) begin(gen uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gens == nil || len(c.gens) >= maxComplete {
		c.gens = make(map[uint64]struct{})
	}
	c.gens[gen] = struct{}{}
}

func (c *generations) has(gen uint64) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	_, ok := c.gens[gen]
	return ok
}

func (c *generations) forget(gen uint64) {
	c.mu.Lock()
	delete(c.gens, gen)
	c.mu.Unlock()
}

func (c *generations) clear() {
	c.mu.Lock()
	c.gens = nil
	c.mu.Unlock()
}

// ApplyElements brings the cache up to date with changes that have been made.
func (c *Cache) ApplyElements(cs *pending.Changes) {
	c.prefetchRemoved(cs.List)
	for i := 0; i < len(cs.List); i++ {
		e := &cs.List[i]
		switch line, ok := cachedKey(e); {
		case !ok:
		case IsItem(line):
			n := itemRun(cs.List[i:])
			c.changeItems(cs.List[i : i+n])
			i += n - 1
		case e.Gone:
			c.removeElement(e.Place, line)
		default:
			c.putElement(e.Place, line, e.Value)
		}
	}
	for i := range cs.Foreign {
		e := &cs.Foreign[i]
		if e.Sub == 0 {
			c.loseCollection(e.Place, generationIn(e.Key[len(e.Key)-layout.GenSize:]))
		} else if line, ok := cachedKey(e); ok {
			c.loseElement(e.Place, line)
		}
	}
}

// cachedKey is the key of an element's line, if it may have one.
func cachedKey(c *pending.Change) (key []byte, ok bool) {
	at := len(c.Key) - c.Sub
	return c.Key[at-8:], HasLine(c.Key[at:])
}
