package cache

import (
	"encoding/binary"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

// A stub is what stays of the line of a string when the line is dropped for its age: the header
// without the value, and how long that is. A command that overwrites the key, or removes it, need
// not know more, and reads nothing from disk. A stub leaves no other stub behind. As long as stubs
// take less than a quarter of the ring, they stay.

// stubFrom is from how many bytes on a value is worth a stub.
const stubFrom = 128

// maxStub bounds the line of a stub: type, flags, expiry and the length of the value.
const maxStub = 2 + 8 + binary.MaxVarintLen32

// Head is Get for a caller that needs no content: of a string that lies in its header it appends
// the header without the value, and says how many bytes that has.
func (c *Cache) Head(p layout.Place, key, dst []byte) (_ []byte, elided int, _ Answer) {
	if c.shards == nil {
		return dst, 0, Miss
	}
	id := keyID(p, key)
	s := c.shard(&id)
	s.mu.Lock()
	defer s.mu.Unlock()
	slot, ok := s.find(&id)
	if !ok {
		s.misses++
		return dst, 0, s.missing()
	}
	e := s.entry(slot)
	if answerOf(e) == Absent {
		s.misses++
		return dst, 0, Absent
	}
	s.hits++
	s.use(e, c.clock.Load())
	line := lineIn(e)
	if isStub(e) {
		head, size := splitStub(line)
		return append(dst, head...), size, Hit
	}
	head := len(line) - layout.InlineString(line)
	return append(dst, line[:head]...), len(line) - head, Hit
}

// maxStubs is how many bytes of stubs stay.
func (s *shard) maxStubs() int64 { return int64(len(s.ring) / 4) }

func isStub(e []byte) bool { return binary.LittleEndian.Uint32(e[entKeyLen:])&entStub != 0 }

// splitStub returns the header in the line of a stub, and how many bytes the value has.
func splitStub(line []byte) (head []byte, size int) {
	head = line[:layout.StringHead(line)]
	n, _ := binary.Uvarint(line[len(head):])
	return head, int(n)
}

// appendStub appends the line of the stub for a line, if that deserves one.
func appendStub(dst, line []byte) []byte {
	size := layout.InlineString(line)
	if size < stubFrom {
		return dst
	}
	return binary.AppendUvarint(append(dst, line[:len(line)-size]...), uint64(size))
}

// keepStub puts the stub of the entry at begin, which is live, at the new end, where it deserves one
// and there is room without wrapping. The slot of the entry becomes that of the stub, and the entry
// is dead.
func (s *shard) keepStub(e []byte, slot uint32, id *lineID) bool {
	if id.kind != 0 || isStub(e) {
		return false
	}
	var buf [maxStub]byte
	stub := appendStub(buf[:0], lineIn(e))
	if len(stub) == 0 {
		return false
	}
	old := entrySize(e)
	body := (len(id.key) + len(stub) + 7) &^ 7
	size := uint64(entryHead + body)
	n := uint64(len(s.ring))
	// The room from begin on is the entry's, which is larger, and whose bytes are not needed any more
	// but for the key.
	if n-s.end%n < size || s.end+size-s.begin-old > n {
		return false
	}
	to := s.ring[s.end%n:]
	seen, frequency := binary.LittleEndian.Uint32(e[entSeen:]), e[entFrequency]
	copy(to[entryHead:], id.key) // first: the two may overlap
	binary.LittleEndian.PutUint64(to, uint64(id.place))
	binary.LittleEndian.PutUint32(to[entCap:], uint32(body))
	setLineLen(to, len(stub), frequency)
	binary.LittleEndian.PutUint32(to[entKeyLen:], uint32(len(id.key))|entStub)
	binary.LittleEndian.PutUint32(to[entSeen:], seen)
	copy(to[entryHead+len(id.key):], stub)
	s.setSlot(slot, slotValue(id.hash, int(s.end%n)))
	s.end += size
	s.live += int64(size) - int64(old)
	s.stubs += int64(size)
	return true
}
