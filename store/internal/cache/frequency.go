package cache

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

// How often lines are used, for the eviction of keys that are used least often. The counter is the
// logarithmic one of Redis: a use raises it with a probability that falls as it rises, and it falls
// with the time since the last use. It is kept only while somebody asks for it ([Cache.CountUses]).

// FirstFrequency is the counter of a line that is new, so that a new key is not the first to go.
const FirstFrequency = 5

// A Frequency says how uses are counted.
type Frequency struct {
	// Factor is lfu-log-factor: how many uses it takes to raise the counter.
	Factor uint32
	// Decay is lfu-decay-time: after so many seconds without a use the counter falls by one; 0: never.
	Decay uint32
}

// decayed returns a counter after so many seconds without a use.
func (f *Frequency) decayed(n uint8, idle uint32) uint8 {
	if f.Decay == 0 {
		return n
	}
	return n - uint8(min(idle/f.Decay, uint32(n)))
}

// next returns a counter after one more use.
func (f *Frequency) next(n uint8, idle uint32) uint8 {
	n = f.decayed(n, idle)
	if n == 255 {
		return n
	}
	base := uint32(n) - min(uint32(n), FirstFrequency)
	if rand.Uint64N(uint64(base)*uint64(f.Factor)+1) == 0 {
		n++
	}
	return n
}

// An entry's counter is the high byte of its line length word.
const (
	entFrequency = entLine + 3
	maxLineWord  = 1<<24 - 1
)

// lineLen is the length of an entry's line.
func lineLen(e []byte) int { return int(binary.LittleEndian.Uint32(e[entLine:]) & maxLineWord) }

// setLineLen sets the length of an entry's line, and its counter.
func setLineLen(e []byte, n int, frequency uint8) {
	binary.LittleEndian.PutUint32(e[entLine:], uint32(n)|uint32(frequency)<<24)
}

// count counts a use of an entry, before the time of its last use changes.
func (s *shard) count(e []byte, now uint32) {
	if s.frequency != nil {
		e[entFrequency] = s.frequency.next(e[entFrequency], now-binary.LittleEndian.Uint32(e[entSeen:]))
	}
}

// CountUses has uses of lines counted from now on; nil ends that.
func (c *Cache) CountUses(f *Frequency) {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		s.frequency = f
		s.mu.Unlock()
	}
}

// A Usage is how a key's line is used. Frequency is [FirstFrequency] if uses were not counted.
type Usage struct {
	Idle      uint32 // seconds since the last use
	Frequency uint8
}

// UsageOf returns how a key's line is used, which is no use of it; ok is false if it has none. That of
// a long string may be gone but for a stub, by which it is known all the same.
func (c *Cache) UsageOf(p layout.Place, key []byte) (u Usage, ok bool) {
	if c.shards == nil {
		return u, false
	}
	id := keyID(p, key)
	s := c.shard(&id)
	s.mu.Lock()
	defer s.mu.Unlock()
	slot, ok := s.find(&id)
	if !ok {
		return u, false
	}
	e := s.entry(slot)
	if answerOf(e) == Absent {
		return u, false
	}
	return s.usageIn(e, c.clock.Load()), true
}

// usageIn returns how the line of an entry is used.
func (s *shard) usageIn(e []byte, now uint32) (u Usage) {
	u.Idle = now - binary.LittleEndian.Uint32(e[entSeen:])
	if u.Frequency = e[entFrequency]; s.frequency != nil {
		u.Frequency = s.frequency.decayed(u.Frequency, u.Idle)
	}
	return u
}

// SetUsage makes the line of a key, if it has one, count as used like that.
func (c *Cache) SetUsage(p layout.Place, key []byte, u Usage) {
	if c.shards == nil {
		return
	}
	id := keyID(p, key)
	s := c.shard(&id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if slot, ok := s.find(&id); ok {
		e := s.entry(slot)
		binary.LittleEndian.PutUint32(e[entSeen:], c.clock.Load()-u.Idle)
		e[entFrequency] = u.Frequency
	}
}
