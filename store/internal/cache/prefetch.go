package cache

import (
	"math"
	"unsafe"

	"github.com/ringside-kv/ringside/store/internal/layout"
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
