package cache

import (
	"encoding/binary"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

// Items of lists have lines by the row: eight that follow each other share one. Who pushes or
// pops one after the other finds the same line eight times, and an item of a few bytes takes
// not much more than those.
//
// The line of a row, little-endian, with room for more text behind:
//
//	end of the text 4 B | for each item: where its text is 2 B, its length 2 B, + 1, or 0 for
//	an item that is not here | text
const (
	rowItems = layout.ChunkItems
	rowHead  = 4 + rowItems*4
	maxRow   = 1<<16 - 1 // bytes of a line
	// roomyItem is up to what length an item makes room for a row of its like.
	roomyItem = 128
	// maxSpare is how much memory for a row that grows a shard keeps.
	maxSpare = 4 << 10
)

type row []byte

// itemLine is how long the key of an item is, and that of its row's line: generation, ItemKind,
// and the item's or row's number, 8 B BE.
const itemLine = 8 + 1 + 8

// IsItem reports whether the key of a line is that of an item of a list.
func IsItem(key []byte) bool { return len(key) == itemLine && key[8] == layout.ItemKind }

// rowOf makes the key of an item's row, and returns which of its items that is.
func rowOf(key []byte, of *[itemLine]byte) int {
	copy(of[:9], key)
	binary.BigEndian.PutUint64(of[9:], binary.BigEndian.Uint64(key[9:])/rowItems)
	return itemIn(key)
}

// itemIn returns which item of its row one is.
func itemIn(key []byte) int { return int(key[itemLine-1] % rowItems) }

// sameRow reports whether a line's key is that of an item of a row, too, of which item is one.
func sameRow(item, key []byte) bool {
	const last = itemLine - 1
	return IsItem(key) && string(key[:last]) == string(item[:last]) && key[last]/rowItems == item[last]/rowItems
}

// removeOtherForm drops the line of the chunk with the numbers of an item's row, or that of the row with the numbers of a
// chunk: the key is that of an item or a chunk that has been changed. A range of items and chunks is removed from Pebble
// without their lines, and the numbers may come back in the other form, also from another store.
//
// Invariant: where Pebble has an item, its chunk has no line, and where it has a chunk, its items have none.
func (c *Cache) removeOtherForm(p layout.Place, key []byte) {
	var other [itemLine + 1]byte
	id := lineID{}
	switch {
	case c.shards == nil:
		return
	case IsItem(key):
		copy(other[:], key)
		other[itemLine-1] &^= layout.ChunkItems - 1
		other[itemLine] = layout.ChunkKind
		id = elementID(p, other[:])
	case layout.IsChunk(key[layout.GenSize:]):
		rowOf(key, (*[itemLine]byte)(other[:]))
		id = elementID(p, other[:itemLine])
	default:
		return
	}
	s := c.shard(&id)
	s.mu.Lock()
	s.removeElement(&id, -1)
	s.mu.Unlock()
}

// maxNear is how large a row may be for a unit to read all of it at once, in bytes.
const maxNear = 1 << 10

// A NearRow is the line of the row of which a unit has read an item last: who pops several
// finds those that follow in it. With the latch held it stays what it is until the unit's
// changes are applied, and these are looked through before.
type NearRow struct {
	line row // in Unit.lines; nil: none
	item [itemLine]byte
}

// Get returns an item by its line's key.
func (n *NearRow) Get(key []byte) (item []byte, ok bool) {
	if n.line == nil || !sameRow(n.item[:], key) {
		return nil, false
	}
	return n.line.get(itemIn(key))
}

// set makes n a copy, appended to dst, of the line that has an item.
func (n *NearRow) set(key, line, dst []byte) []byte {
	dst = append(dst, line...)
	n.line = row(dst[len(dst)-len(line):])
	copy(n.item[:], key)
	return dst
}

func (r row) end() int { return int(binary.LittleEndian.Uint32(r)) }

// get returns an item.
func (r row) get(at int) (item []byte, ok bool) {
	if r == nil {
		return nil, false
	}
	word := binary.LittleEndian.Uint32(r[4+4*at:])
	if word>>16 == 0 {
		return nil, false
	}
	from := int(word & 0xffff)
	to := from + int(word>>16) - 1
	return r[from:to:to], true
}

func (r row) place(at, from, size int) {
	binary.LittleEndian.PutUint32(r[4+4*at:], uint32(from)|uint32(size+1)<<16)
}

// drop takes an item out. It returns false if the row has no other.
func (r row) drop(at int) (left bool) {
	binary.LittleEndian.PutUint32(r[4+4*at:], 0)
	for i := range rowItems {
		left = left || binary.LittleEndian.Uint32(r[4+4*i:]) != 0
	}
	return left
}

// set makes value an item. It returns false if there is no room.
func (r row) set(at int, value []byte) bool {
	from := r.end()
	if old, ok := r.get(at); ok && len(value) <= len(old) {
		from = int(binary.LittleEndian.Uint32(r[4+4*at:]) & 0xffff)
	} else if from+len(value) > len(r) {
		return false
	} else {
		binary.LittleEndian.PutUint32(r, uint32(from+len(value)))
	}
	copy(r[from:], value)
	r.place(at, from, len(value))
	return true
}

// grown returns how large a row with the items of r, which may be nil, and value as one of
// them is to be, or 0 if that is too much for a row.
func (r row) grown(at int, value []byte) int {
	if r == nil && len(value) <= roomyItem {
		return rowHead + rowItems*len(value)
	}
	size := rowHead + len(value)
	for i := range rowItems {
		if item, ok := r.get(i); ok && i != at {
			size += len(item)
		}
	}
	switch {
	case size > maxRow:
		return 0
	case size <= len(r)-len(r)/4:
		return len(r) // what was there before takes the rest, and goes
	}
	return min(max(size, 2*len(r)), maxRow)
}

// copyTo copies all items but one to an empty row that has room for them.
func (r row) copyTo(to row, but int) {
	clear(to[:rowHead])
	binary.LittleEndian.PutUint32(to, rowHead)
	for i := range rowItems {
		if item, ok := r.get(i); ok && i != but {
			to.set(i, item)
		}
	}
}

// rowAt is the line of a slot, which is a row's.
func (s *shard) rowAt(slot uint32) row {
	e := s.entry(slot)
	return row(e[entryHead+itemLine:][:lineLen(e)])
}

// putItem makes value an item of a row.
func (s *shard) putItem(id *lineID, at int, value []byte, now uint32) {
	var old row
	slot, ok := s.find(id)
	if ok {
		if old = s.rowAt(slot); old.set(at, value) {
			binary.LittleEndian.PutUint32(s.entry(slot)[entSeen:], now)
			return
		}
	}
	if size := old.grown(at, value); size > 0 {
		grown := s.newRow(size)
		old.copyTo(grown, at)
		grown.set(at, value)
		s.put(id, grown, now)
		return
	}
	s.lacks(id)
	if ok && !old.drop(at) {
		s.kill(slot)
	}
}

// newRow returns memory for a row, until the next one.
func (s *shard) newRow(size int) row {
	if size > maxSpare {
		return make(row, size)
	}
	if s.spare == nil {
		s.spare = new([maxSpare]byte)
	}
	return s.spare[:size]
}

// Forget drops the row.
func (n *NearRow) Forget() { n.line = nil }
