package cache

import (
	"encoding/binary"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

// Items are elements of a list that follow each other.
type Items struct {
	text []byte
	ends []int32
}

const (
	// MaxItems is how many items are looked for in the cache at once, and maxItemsSize how many
	// bytes they may have: Elements needs no memory for them.
	MaxItems     = 1 << 10
	maxItemsSize = 32 << 10
)

// Len is the number of items.
func (it *Items) Len() int { return len(it.ends) }

// At returns an item; it is valid until GetItems is called again.
func (it *Items) At(i int) []byte {
	start := int32(0)
	if i > 0 {
		start = it.ends[i-1]
	}
	return it.text[start:it.ends[i]:it.ends[i]]
}

// Add adds an item.
func (it *Items) Add(item []byte) {
	it.text = append(it.text, item...)
	it.ends = append(it.ends, int32(len(it.text)))
}

// Clear forgets the items.
func (it *Items) Clear() { it.text, it.ends = it.text[:0], it.ends[:0] }

// Items has into hold n more items from a sub key on, which may be in rows or, with chunks, in these, too. It returns false if one
// of them has no line, or they are too large.
func (c *Cache) Items(p layout.Place, gen uint64, sub []byte, n int, chunks bool, into *Items) bool {
	if c.shards == nil {
		return false
	}
	var key, rowKey [itemLine]byte
	binary.BigEndian.PutUint64(key[:], gen)
	key[8] = layout.ItemKind
	for from := binary.BigEndian.Uint64(sub[1:]); n > 0; {
		if at := int(from % layout.ChunkItems); chunks {
			here := min(n, layout.ChunkItems-at)
			if c.itemsOfChunk(p, key[:], from-uint64(at), at, here, into) {
				if from, n = from+uint64(here), n-here; len(into.text) > maxItemsSize {
					return false
				}
				continue
			}
		}
		binary.BigEndian.PutUint64(key[9:], from)
		id, at := lineOf(p, key[:], &rowKey)
		here := min(n, rowItems-at)
		if !c.itemsOfRow(&id, at, here, into) || len(into.text) > maxItemsSize {
			return false
		}
		from, n = from+uint64(here), n-here
	}
	return true
}

// itemsOfRow adds n items of a row, from one on. It returns false if one of them is not there.
func (c *Cache) itemsOfRow(id *lineID, at, n int, into *Items) bool {
	s := c.shard(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	slot, ok := s.find(id)
	if !ok {
		s.misses++
		return false
	}
	r := row(s.useElement(slot, len(id.key)))
	for i := at; i < at+n; i++ {
		item, ok := r.get(i)
		if !ok {
			s.misses++
			return false
		}
		into.Add(item)
	}
	s.hits += int64(n)
	return true
}

// itemsOfChunk adds n items of a chunk, from one on, if it has a line; key begins with generation and kind.
func (c *Cache) itemsOfChunk(p layout.Place, key []byte, chunk uint64, at, n int, into *Items) bool {
	var line [itemLine + 1]byte
	binary.BigEndian.PutUint64(line[copy(line[:], key[:9]):], chunk)
	line[itemLine] = layout.ChunkKind
	id := elementID(p, line[:])
	s := c.shard(&id)
	s.mu.Lock()
	defer s.mu.Unlock()
	slot, ok := s.find(&id)
	if !ok {
		return false
	}
	text, ends := len(into.text), len(into.ends)
	rest := s.useElement(slot, len(line))
	for i := 0; i < at+n; i++ {
		size, w := binary.Uvarint(rest)
		if w <= 0 || size > uint64(len(rest)-w) {
			into.text, into.ends = into.text[:text], into.ends[:ends]
			return false // a read from Pebble reports that it is malformed
		}
		end := w + int(size)
		if i >= at {
			into.Add(rest[w:end])
		}
		rest = rest[end:]
	}
	s.hits += int64(n)
	return true
}
