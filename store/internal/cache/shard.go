package cache

import (
	"encoding/binary"
)

// How a shard keeps its ring.

// lacks notes that something exists which has no line any more, or gets none.
func (s *shard) lacks(id *lineID) {
	if id.kind == 0 {
		s.complete = false
	} else {
		s.known.forget(generationIn(id.key))
	}
}

// kill marks a slot's entry dead and frees the slot.
func (s *shard) kill(i uint32) {
	e := s.entry(i)
	word := binary.LittleEndian.Uint32(e[entKeyLen:])
	binary.LittleEndian.PutUint32(e[entKeyLen:], word|entDead)
	s.live -= int64(entrySize(e))
	s.discount(word, int64(entrySize(e)))
	s.free(i)
}

func entrySize(e []byte) uint64 {
	return uint64(entryHead + binary.LittleEndian.Uint32(e[entCap:]))
}

// put makes line the line of id, as one that is not dirty. It returns the entry, nil if there is none, and
// whether the line before was dirty.
func (s *shard) put(id *lineID, line []byte, now uint32) (entry []byte, wasDirty bool) {
	frequency := uint8(FirstFrequency)
	if slot, ok := s.find(id); ok {
		e := s.entry(slot)
		s.count(e, now)
		frequency = e[entFrequency]
		if len(id.key)+len(line) <= int(binary.LittleEndian.Uint32(e[entCap:])) {
			setLineLen(e, len(line), frequency)
			binary.LittleEndian.PutUint32(e[entSeen:], now)
			wasDirty = s.settle(e)
			copy(e[entryHead+len(id.key):], line)
			return e, wasDirty
		}
		wasDirty = binary.LittleEndian.Uint32(e[entKeyLen:])&entDirty != 0
		s.kill(slot)
	}
	body := (len(id.key) + len(line) + 7) &^ 7
	size := uint64(entryHead + body)
	if size > uint64(len(s.ring))/4 {
		s.lacks(id)
		return nil, wasDirty
	}
	for s.crowded() && !s.grow() {
		s.dropOldest(false)
	}
	pos := s.room(size)
	e := s.ring[pos:]
	binary.LittleEndian.PutUint64(e, uint64(id.place))
	binary.LittleEndian.PutUint32(e[entCap:], uint32(body))
	setLineLen(e, len(line), frequency)
	binary.LittleEndian.PutUint32(e[entKeyLen:], uint32(len(id.key))|id.kind)
	binary.LittleEndian.PutUint32(e[entSeen:], now)
	copy(e[entryHead:], id.key)
	copy(e[entryHead+len(id.key):], line)
	s.end += size
	s.live += int64(size)
	s.insert(slotValue(id.hash, pos))
	return e, wasDirty
}

// room frees the ring's old end until size bytes fit at the new one without
// wrapping, and returns where.
func (s *shard) room(size uint64) int {
	n := uint64(len(s.ring))
	for moves := 0; ; {
		want := size
		left := n - s.end%n
		if left < size {
			want = left // the entry would wrap: fill up to the ring's own end first
		}
		if s.end+want-s.begin > n {
			s.age(&moves)
			continue
		}
		if left >= size {
			return int(s.end % n)
		}
		s.pad(left)
	}
}

// pad adds a dead entry of n bytes, n a multiple of 8. A remainder too small
// for an entry's head is left as it is; age knows it.
func (s *shard) pad(n uint64) {
	if n >= entryHead {
		e := s.ring[s.end%uint64(len(s.ring)):]
		binary.LittleEndian.PutUint32(e[entCap:], uint32(n-entryHead))
		binary.LittleEndian.PutUint32(e[entKeyLen:], entDead)
	}
	s.end += n
}

// age takes the oldest entry away from the old end. A line that was read since it
// came there gets another round, if it can move without wrapping; so does a stub.
func (s *shard) age(moves *int) {
	n := uint64(len(s.ring))
	pos := s.begin % n
	if n-pos >= entryHead {
		e := s.ring[pos:]
		word := binary.LittleEndian.Uint32(e[entKeyLen:])
		size := entrySize(e)
		if word&(entDead|entDirty) == entDirty {
			s.carryOldest(size)
			return
		}
		stays, cost := word&entDead == 0 && word&entRef != 0, lineMove
		if word&(entDead|entStub) == entStub {
			stays, cost = stays || s.stubs <= s.maxStubs(), 1
		}
		if stays && *moves+cost <= clockMoves && n-s.end%n >= size {
			*moves += cost
			s.moveOldest(size)
			return
		}
	}
	s.dropOldest(true)
}

// moveOldest moves the live entry at begin, of size bytes, to the end.
func (s *shard) moveOldest(size uint64) {
	n := uint64(len(s.ring))
	from, to := s.begin%n, s.end%n
	id := idAt(s.ring[from:])
	word := binary.LittleEndian.Uint32(s.ring[from+entKeyLen:]) &^ entRef
	slot, _ := s.find(&id)
	// The two may overlap when the ring is full to within one entry; copy
	// handles that, and nothing of the old place is needed afterwards.
	copy(s.ring[to:to+size], s.ring[from:from+size])
	binary.LittleEndian.PutUint32(s.ring[to+entKeyLen:], word)
	s.begin += size
	s.end += size
	s.setSlot(slot, slotValue(id.hash, int(to)))
}

// dropOldest drops what lies at begin. With stubs, one stays of a long string.
func (s *shard) dropOldest(stubs bool) {
	n := uint64(len(s.ring))
	pos := s.begin % n
	if left := n - pos; left < entryHead {
		s.begin += left
		return
	}
	e := s.ring[pos:]
	size := entrySize(e)
	word := binary.LittleEndian.Uint32(e[entKeyLen:])
	if word&(entDead|entDirty) == entDirty {
		s.carryOldest(size)
		return
	}
	if word&entDead == 0 {
		id := idAt(e)
		if slot, ok := s.find(&id); ok && !(stubs && s.keepStub(e, slot, &id)) {
			s.lacks(&id)
			s.kill(slot)
		}
	}
	s.begin += size
}
