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

// Clear forgets the items.
func (it *Items) Clear() { it.text, it.ends = it.text[:0], it.ends[:0] }

// Items has into hold n items from a sub key on. It returns false if one of them has no line, or
// they are too large.
func (c *Cache) Items(p layout.Place, gen uint64, sub []byte, n int, into *Items) bool {
	if c.shards == nil {
		return false
	}
	var key, rowKey [itemLine]byte
	binary.BigEndian.PutUint64(key[:], gen)
	key[8] = layout.ItemKind
	for from := binary.BigEndian.Uint64(sub[1:]); n > 0; {
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
		into.text = append(into.text, item...)
		into.ends = append(into.ends, int32(len(into.text)))
	}
	s.hits += int64(n)
	return true
}
