package cache

import (
	"math"
	"unsafe"

	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/pending"
)

// Prefetch has the processor load what the lookups of some keys are going to read, all keys at a
// time. A lookup waits for memory twice, for a slot of the index and for the entry, and lookups
// one after the other add their waits up, since each takes a lock. Nothing depends on it.
func (c *Cache) Prefetch(places []layout.Place) {
	if c.shards == nil {
		return
	}
	for _, p := range places {
		hash := layout.Mix(uint64(p))
		s := &c.shards[hash>>58&(shards-1)]
		prefetchLine(unsafe.Pointer(&s.index[uint64(s.home(slotTag(hash)))*8]))
	}
	for _, p := range places {
		hash := layout.Mix(uint64(p))
		c.shards[hash>>58&(shards-1)].prefetchEntry(slotTag(hash))
	}
}

// prefetchRemoved is Prefetch for the fields and members among some changes that are removed: who pops members
// has not asked for their lines before.
func (c *Cache) prefetchRemoved(changes []pending.Change) {
	if c.shards == nil || len(changes) < fewRemoved {
		return
	}
	var hashes [mostRemoved]uint64
	n := 0
	for i := range changes {
		e := &changes[i]
		if n == mostRemoved {
			break
		}
		if key, ok := cachedKey(e); ok && e.Gone && !IsItem(key) {
			id := elementID(e.Place, key)
			s := c.shard(&id)
			prefetchLine(unsafe.Pointer(&s.index[uint64(s.home(slotTag(id.hash)))*8]))
			hashes[n] = id.hash
			n++
		}
	}
	for _, hash := range hashes[:n] {
		c.shards[hash>>58&(shards-1)].prefetchEntry(slotTag(hash))
	}
}

// So many changes are worth it, and of so many the first removals are loaded.
const (
	fewRemoved  = 4
	mostRemoved = 32
)

// prefetchEntry loads the first entry with a tag: its head, its key, and the first bytes of the line.
func (s *shard) prefetchEntry(tag uint64) {
	s.mu.Lock()
	for i := s.home(tag); ; i = s.next(i) {
		v := s.slot(i)
		if v == 0 {
			break
		}
		if v&^math.MaxUint32 == tag {
			e := s.entry(i)
			prefetchLine(unsafe.Pointer(&e[0]))
			prefetchLine(unsafe.Pointer(&e[min(64, len(e)-1)]))
			break
		}
	}
	s.mu.Unlock()
}
