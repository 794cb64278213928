package cache

import (
	"encoding/binary"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

// What copying and dropping ranges needs of the cache.

// Refresh is put for a key that nobody here has asked for: it gets no line where
// it has none, unless all keys have.
func (c *Cache) Refresh(p layout.Place, key, line []byte) {
	if c.shards == nil {
		return
	}
	if len(line) > maxLine || len(key) > maxLineKey {
		c.Lose(p, key)
		return
	}
	id := keyID(p, key)
	s := c.shard(&id)
	s.mu.Lock()
	if _, ok := s.find(&id); ok || s.complete {
		s.put(&id, line, c.clock.Load())
	}
	s.mu.Unlock()
}

// SweepAhead drops the lines of keys that are about to be removed, those whose places
// are in a set, and returns what sweep needs to look at later ones only. When there
// are few lines it leaves all to sweep, which then is quick enough. Dirty lines stay.
func (c *Cache) SweepAhead(in func(layout.Place) bool) (marks []uint64) {
	if _, lines := c.Usage(); lines < sweepAheadMin {
		return nil
	}
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		s.complete = false // the keys still exist
		s.sweep(s.begin, in, true)
		marks = append(marks, s.end)
		s.mu.Unlock()
	}
	return marks
}

// sweepAheadMin is the number of lines, each of which costs some 10 ns, from which on
// nobody should have to wait for a sweep.
const sweepAheadMin = 1 << 16

// Sweep drops the lines of keys that exist no more, those whose places are in a set.
func (c *Cache) Sweep(marks []uint64, in func(layout.Place) bool) {
	if marks != nil {
		c.sweepDirty(in)
	}
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		from := s.begin
		if marks != nil {
			from = max(from, marks[i])
		}
		s.sweep(from, in, false)
		s.mu.Unlock()
	}
}

// sweep is that of the cache for one shard, whose lock is held, from an offset of the ring on. Dirty lines
// may stay.
func (s *shard) sweep(from uint64, in func(layout.Place) bool, dirtyStay bool) {
	s.dropWhere(from, func(e []byte, word uint32) bool {
		return !(dirtyStay && word&entDirty != 0) && in(placeAt(e))
	})
}

// loseCollection drops the lines of all elements of a collection, which may exist all the same.
func (c *Cache) loseCollection(p layout.Place, gen uint64) {
	c.known.forget(gen)
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		s.dropWhere(s.begin, func(e []byte, word uint32) bool {
			return word&entElement != 0 && placeAt(e) == p && generationIn(e[entryHead:]) == gen
		})
		s.mu.Unlock()
	}
}

func placeAt(e []byte) layout.Place { return layout.Place(binary.LittleEndian.Uint64(e)) }

// dropWhere drops lines, from an offset of the ring on: those whose entries are to go by what which says of an entry and
// its word at entKeyLen.
func (s *shard) dropWhere(from uint64, which func(e []byte, word uint32) bool) {
	// What is dead need not be walked over again: ranges are dropped by the hundred.
	defer func() {
		if s.live == 0 {
			s.begin = s.end
		}
	}()
	n := uint64(len(s.ring))
	for from < s.end {
		pos := from % n
		if left := n - pos; left < entryHead {
			from += left
			continue
		}
		e := s.ring[pos:]
		from += entrySize(e)
		word := binary.LittleEndian.Uint32(e[entKeyLen:])
		if word&entDead == 0 && which(e, word) {
			id := idAt(e)
			if slot, ok := s.find(&id); ok {
				if id.kind != 0 {
					s.lacks(&id)
				}
				s.kill(slot)
			}
		}
	}
}
