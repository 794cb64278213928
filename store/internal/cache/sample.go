package cache

import (
	"encoding/binary"
	"math/rand/v2"
	"unsafe"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

// A Sampled is a key that has a line. Its bytes are valid during the call only.
type Sampled struct {
	Place layout.Place
	Key   []byte
	// Head is the encoded header; of a string whose line is a stub without the Elided bytes of its value.
	Head   []byte
	Elided int
	Usage
}

// Sample calls visit for keys with lines, which is no use of them, until it returns false. It looks at so many slots
// of the index at most, one behind the other from a random one on; keys have them in the order of their hashes. It holds
// the lock of a shard meanwhile, so visit must not call the cache.
func (c *Cache) Sample(slots int, visit func(*Sampled) bool) {
	if c.shards == nil {
		return
	}
	s := &c.shards[rand.IntN(len(c.shards))]
	s.mu.Lock()
	defer s.mu.Unlock()
	now := c.clock.Load()
	at, ahead := rand.Uint32N(s.slots.Load()), 0
	for left := min(slots, int(s.slots.Load())); left > 0; left-- {
		if ahead == 0 {
			ahead = s.prefetchSlots(at)
		}
		ahead--
		if s.slot(at) != 0 {
			if k, ok := s.sampled(s.entry(at), now); ok && !visit(&k) {
				return
			}
		}
		at = s.next(at)
	}
}

// prefetchSlots has the processor load the entries of some slots from one on: they lie all over the memory. It returns
// the number of slots.
func (s *shard) prefetchSlots(at uint32) int {
	const slots = 16
	for range slots {
		if s.slot(at) != 0 {
			prefetchLine(unsafe.Pointer(&s.entry(at)[0]))
		}
		at = s.next(at)
	}
	return slots
}

// sampled returns what an entry says of a key; ok is false if it is of an element, or of a key that is gone.
func (s *shard) sampled(e []byte, now uint32) (k Sampled, ok bool) {
	word := binary.LittleEndian.Uint32(e[entKeyLen:])
	if word&(entElement|entGone|entDead) != 0 {
		return k, false
	}
	k = Sampled{Place: layout.Place(binary.LittleEndian.Uint64(e)), Key: e[entryHead : entryHead+word&maxLineKey], Head: lineIn(e), Usage: s.usageIn(e, now)}
	if word&entStub != 0 {
		k.Head, k.Elided = splitStub(k.Head)
	}
	return k, true
}
