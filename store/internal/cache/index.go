package cache

import (
	"bytes"
	"encoding/binary"
	"math"
)

// How a shard finds its entries: a table with open addressing, of slots that lie where their
// hashes say, or behind. It begins small and is doubled as it fills, so that a store of few keys
// touches little memory: the first touch of each page is a fault, and where that only reads, the
// first write is another one, which interrupts the other processors.
//
// A slot has, in its lower half, where the entry is, as offset/8 + 1, and in its upper half a
// tag: that part of the hash which comes behind the shard's number. The tag says where the slot
// belongs, too, so that the table grows, and gaps are closed, without a look at the entries,
// which lie all over the memory.

// firstSlots is how many slots an index begins with: a page of them.
const firstSlots = 512

// maxGrown is up to how many slots an index grows, and its shard waits meanwhile: the last step
// takes a millisecond. A larger one has all its slots from the start.
const maxGrown = 1 << 17

// slotsAtFirst is how many slots an index begins with that may have so many.
func slotsAtFirst(most int64) uint32 {
	if most > maxGrown {
		return uint32(most)
	}
	return uint32(min(most, firstSlots))
}

// slotTag is a hash's tag, in the upper half.
func slotTag(h uint64) uint64 { return h << 6 &^ math.MaxUint32 }

func slotValue(h uint64, pos int) uint64 { return slotTag(h) | uint64(pos/8+1) }

func (s *shard) slot(i uint32) uint64 { return binary.LittleEndian.Uint64(s.index[uint64(i)*8:]) }

func (s *shard) setSlot(i uint32, v uint64) {
	binary.LittleEndian.PutUint64(s.index[uint64(i)*8:], v)
}

// entry returns the ring from the entry of a slot on.
func (s *shard) entry(i uint32) []byte {
	return s.ring[(uint64(uint32(s.slot(i)))-1)*8:]
}

// home is the slot of a tag.
func (s *shard) home(tag uint64) uint32 { return uint32(tag >> 32 * uint64(s.slots.Load()) >> 32) }

// next is the slot behind i.
func (s *shard) next(i uint32) uint32 {
	if i++; i < s.slots.Load() {
		return i
	}
	return 0
}

// behind is how many slots j lies behind i.
func (s *shard) behind(i, j uint32) uint32 {
	if j >= i {
		return j - i
	}
	return j + s.slots.Load() - i
}

func (s *shard) find(id *lineID) (uint32, bool) {
	tag := slotTag(id.hash)
	for i := s.home(tag); ; i = s.next(i) {
		v := s.slot(i)
		if v == 0 {
			return i, false
		}
		if v&^math.MaxUint32 != tag {
			continue
		}
		e := s.entry(i)
		word := binary.LittleEndian.Uint32(e[entKeyLen:])
		if binary.LittleEndian.Uint64(e) != uint64(id.place) || word&entElement != id.kind {
			continue
		}
		if bytes.Equal(e[entryHead:entryHead+word&maxLineKey], id.key) {
			return i, true
		}
	}
}

// insert gives a slot to what has none.
func (s *shard) insert(v uint64) {
	i := s.home(v)
	for s.slot(i) != 0 {
		i = s.next(i)
	}
	s.setSlot(i, v)
	s.used++
}

// free empties a slot.
func (s *shard) free(i uint32) {
	s.used--
	// Close the gap: a slot behind it that could be there moves up, so that a search may stop
	// at the first empty one.
	gap := i
	for j := s.next(i); ; j = s.next(j) {
		v := s.slot(j)
		if v == 0 {
			break
		}
		if s.behind(s.home(v), j) >= s.behind(gap, j) {
			s.setSlot(gap, v)
			gap = j
		}
	}
	s.setSlot(gap, 0)
}

// crowded reports whether no slot may be taken before one is free, or the index has grown.
func (s *shard) crowded() bool {
	slots := s.slots.Load()
	return s.used >= slots-slots/4
}

// grow doubles the index, up to what there is room for. It returns false if there is none.
func (s *shard) grow() bool {
	most := uint32(len(s.index) / 8)
	slots := s.slots.Load()
	if slots == most {
		return false
	}
	old := bytes.Clone(s.index[:uint64(slots)*8])
	slots = min(2*slots, most)
	s.slots.Store(slots)
	s.used = 0
	clear(s.index[:uint64(slots)*8]) // all of it: what is written now is not read first
	for ; len(old) > 0; old = old[8:] {
		if v := binary.LittleEndian.Uint64(old); v != 0 {
			s.insert(v)
		}
	}
	return true
}
