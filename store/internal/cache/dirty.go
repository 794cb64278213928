package cache

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

// A dirty line is newer than what Pebble has of its key: the change is in the log and here. A line of a
// key that exists no more, but may in Pebble, is dirty, too, and has the state entGone. The store writes
// dirty lines to Pebble in the order of their places, which costs far less than one after the other.
//
// Invariant: a dirty line stays until it is clean, or the change of its key that comes next has reached
// Pebble, or its range was deleted there. The ring moves it on instead of dropping it.
//
// The place of each dirty line is listed by its slice of 2¹⁶ tokens. A list may name places that have no
// dirty line any more, and one place more than once.

const (
	// listStripes is the number of locks of the lists.
	listStripes = 64
	// keptList is the capacity up to which a list keeps its memory while it is empty.
	keptList = 16
)

// dirtyLists are the places of dirty lines.
type dirtyLists struct {
	bytes   atomic.Int64 // of all dirty lines
	stripes [listStripes]sync.Mutex
	places  [1 << 16][]layout.Place // by slice; the stripe of the slice guards them
	// listed has a bit for each slice with a list that is not empty.
	listed [1 << 16 / 64]atomic.Uint64
}

func (d *dirtyLists) add(p layout.Place) {
	slice := layout.SliceOf(p)
	mu := &d.stripes[slice%listStripes]
	mu.Lock()
	if d.places[slice] = append(d.places[slice], p); len(d.places[slice]) == 1 {
		d.listed[slice/64].Or(1 << (slice % 64))
	}
	mu.Unlock()
}

// clear forgets all lines.
func (d *dirtyLists) clear() {
	for i := range d.places {
		mu := &d.stripes[i%listStripes]
		mu.Lock()
		d.places[i] = nil
		d.listed[i/64].And(^(uint64(1) << (i % 64)))
		mu.Unlock()
	}
	d.bytes.Store(0)
}

// HoldsDirty reports whether the cache may have dirty lines.
func (c *Cache) HoldsDirty() bool { return c.dirty != nil }

// DirtyBytes is how many bytes dirty lines take.
func (c *Cache) DirtyBytes() int64 {
	if c.dirty == nil {
		return 0
	}
	return c.dirty.bytes.Load()
}

// MayBeDirty reports whether such a line may be dirty; PutDirty may still refuse it.
func (c *Cache) MayBeDirty(key, line []byte) bool {
	return c.dirty != nil && len(line) <= maxLine && entryHead+len(key)+len(line) <= len(c.shards[0].ring)/8
}

// PutDirty makes line the line of key, and dirty; nil says that the key exists no more. It returns false
// if there is no room: then the caller writes to Pebble first, and calls another method. Without use it is
// no use of a key that has a line.
func (c *Cache) PutDirty(p layout.Place, key, line []byte, use bool) bool {
	id := keyID(p, key)
	s := c.shard(&id)
	s.mu.Lock()
	if s.dirtyBytes > int64(len(s.ring)/2) {
		s.mu.Unlock()
		return false
	}
	now := c.clock.Load()
	var seen uint32
	var frequency uint8
	known := false
	if !use {
		seen, frequency, known = s.usage(&id)
	}
	e, was := s.put(&id, line, now)
	if known {
		binary.LittleEndian.PutUint32(e[entSeen:], seen)
		e[entFrequency] = frequency
	}
	word := binary.LittleEndian.Uint32(e[entKeyLen:]) | entDirty
	if line == nil {
		word |= entGone
	}
	binary.LittleEndian.PutUint32(e[entKeyLen:], word)
	size := int64(entrySize(e))
	s.dirtyBytes += size
	s.dirty.bytes.Add(size)
	s.mu.Unlock()
	if !was {
		c.dirty.add(p)
	}
	return true
}

// NextDirty returns the first slice from one to another that may have dirty lines.
func (c *Cache) NextDirty(from, last int) (slice int, ok bool) {
	if c.dirty == nil {
		return 0, false
	}
	for at := from; at <= last; at = at&^63 + 64 {
		if word := c.dirty.listed[at/64].Load() >> (at % 64); word != 0 {
			at += bits.TrailingZeros64(word)
			return at, at <= last
		}
	}
	return 0, false
}

// AppendDirty appends the places of a slice that may have dirty lines, in order.
func (c *Cache) AppendDirty(dst []layout.Place, slice uint16) []layout.Place {
	if c.dirty == nil {
		return dst
	}
	start := len(dst)
	mu := &c.dirty.stripes[slice%listStripes]
	mu.Lock()
	dst = append(dst, c.dirty.places[slice]...)
	mu.Unlock()
	slices.Sort(dst[start:])
	return dst[:start+len(slices.Compact(dst[start:]))]
}

// EachDirty calls visit for the dirty lines of the keys at a place. What it is given is valid during the
// call, which must not use the cache.
func (c *Cache) EachDirty(p layout.Place, visit func(key, line []byte, gone bool)) {
	s := c.shardOf(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, ok := s.nextDirty(p, s.home(slotTag(layout.Mix(uint64(p))))); ok; i, ok = s.nextDirty(p, s.next(i)) {
		e := s.entry(i)
		word := binary.LittleEndian.Uint32(e[entKeyLen:])
		visit(e[entryHead:entryHead+word&maxLineKey], lineIn(e), word&entGone != 0)
	}
}

// Clean says that Pebble has what the dirty lines at a place say. None of them has changed since EachDirty.
func (c *Cache) Clean(p layout.Place) {
	s := c.shardOf(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	home := s.home(slotTag(layout.Mix(uint64(p))))
	for i, ok := s.nextDirty(p, home); ok; i, ok = s.nextDirty(p, home) {
		e := s.entry(i)
		if word := binary.LittleEndian.Uint32(e[entKeyLen:]); word&entGone != 0 {
			s.kill(i)
		} else {
			s.settle(e)
		}
	}
}

// ForgetDirty forgets the list of a slice, all of whose lines are clean. The caller excludes PutDirty.
func (c *Cache) ForgetDirty(slice uint16) {
	mu := &c.dirty.stripes[slice%listStripes]
	mu.Lock()
	if list := c.dirty.places[slice]; cap(list) > keptList {
		c.dirty.places[slice] = nil
	} else {
		c.dirty.places[slice] = list[:0]
	}
	c.dirty.listed[slice/64].And(^(uint64(1) << (slice % 64)))
	mu.Unlock()
}

// sweepDirty drops the dirty lines of keys whose places are in a set.
func (c *Cache) sweepDirty(in func(layout.Place) bool) {
	if c.dirty == nil {
		return
	}
	var places []layout.Place
	for slice, ok := c.NextDirty(0, 1<<16-1); ok; slice, ok = c.NextDirty(slice+1, 1<<16-1) {
		places = c.AppendDirty(places[:0], uint16(slice))
		for _, p := range places {
			if in(p) {
				c.dropDirty(p)
			}
		}
	}
}

func (c *Cache) dropDirty(p layout.Place) {
	s := c.shardOf(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	home := s.home(slotTag(layout.Mix(uint64(p))))
	for i, ok := s.nextDirty(p, home); ok; i, ok = s.nextDirty(p, home) {
		s.kill(i)
	}
}

func (c *Cache) shardOf(p layout.Place) *shard {
	return &c.shards[layout.Mix(uint64(p))>>58&(shards-1)]
}

// nextDirty returns the first slot from one on, of those that follow each other without a gap, that has a
// dirty line of a key at a place.
func (s *shard) nextDirty(p layout.Place, i uint32) (uint32, bool) {
	tag := slotTag(layout.Mix(uint64(p)))
	for ; ; i = s.next(i) {
		v := s.slot(i)
		if v == 0 {
			return 0, false
		}
		if v&^math.MaxUint32 != tag {
			continue
		}
		e := s.entry(i)
		if binary.LittleEndian.Uint64(e) == uint64(p) && binary.LittleEndian.Uint32(e[entKeyLen:])&(entDirty|entElement) == entDirty {
			return i, true
		}
	}
}

// settle makes an entry one that is no stub, nor dirty. It reports whether it was dirty.
func (s *shard) settle(e []byte) (wasDirty bool) {
	word := binary.LittleEndian.Uint32(e[entKeyLen:])
	if word&(entStub|entDirty|entGone) == 0 {
		return false
	}
	s.discount(word, int64(entrySize(e)))
	binary.LittleEndian.PutUint32(e[entKeyLen:], word&^(entStub|entDirty|entGone))
	return word&entDirty != 0
}

// discount takes an entry of so many bytes off the counts of stubs and dirty lines.
func (s *shard) discount(word uint32, size int64) {
	if word&entStub != 0 {
		s.stubs -= size
	}
	if word&entDirty != 0 {
		s.dirtyBytes -= size
		s.dirty.bytes.Add(-size)
	}
}

// carryOldest moves the dirty entry at begin, of size bytes, to the end. Where it does not fit up to the
// ring's own end it does not lie there either, so that part is free.
func (s *shard) carryOldest(size uint64) {
	if left := uint64(len(s.ring)) - s.end%uint64(len(s.ring)); left < size {
		s.pad(left)
	}
	s.moveOldest(size)
}
