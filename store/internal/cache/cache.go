package cache

import (
	"encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

// A Cache holds encoded headers (and with them the strings of up to
// maxLine bytes) of hot keys, and elements of collections; see element.go.
// It lies outside the Go heap, so that its
// size costs the collector nothing and GOGC does not multiply it.
//
// Each shard is a ring of entries in the order they were added, with an index
// over it. Room is made at the old end: an entry that was read since it was last
// looked at there moves to the new end once more (the CLOCK rule), any other is
// dropped; of a long string a stub stays. Lines are written in place where the new value fits.
//
// While a shard has dropped nothing since the store was empty, a key without a line
// there does not exist: neither a miss nor the first SET of a key goes to Pebble as
// long as everything fits.
//
// What makes the cache safe is not here but in the order of a commit: a line changes only
// after its commit, and a fill is refused if its key's latch was taken meanwhile.
type Cache struct {
	shards []shard
	mem    []byte // backs all shards; nil when there is no cache
	known  generations
	dirty  *dirtyLists // nil: there are no dirty lines
	clock  atomic.Uint32
}

const (
	shards    = 64
	entryHead = 24 // bytes of an entry's head
	maxLine   = 16 << 10
	// One slot of the index for so many bytes. With entries of 56 bytes, of a field with a
	// short name and value, 7 of 10 slots are taken when the ring is full.
	bytesPerSlot = 48
	// One addition moves on at most clockMoves stubs, or a quarter as many entries that were read since.
	// With a quarter of the ring full of stubs, of which each takes 48 bytes, a value of 1 KiB moves on seven.
	clockMoves = 32
	lineMove   = 4
)

// An entry in the ring, little-endian, padded to 8 bytes:
//
//	place 8 B | capacity of key+line 4 B, in bytes | line length 3 B, frequency 1 B |
//	key length 3 B, state 1 B | last read 4 B, s | key | line
const (
	entCap    = 8
	entLine   = 12
	entKeyLen = 16
	entSeen   = 20
)

// States of an entry, in the high byte of the key length word.
const (
	entDead    = 1 << 24
	entRef     = 1 << 25
	entElement = 1 << 26 // it is of an element, not of a key
	entStub    = 1 << 27 // its line is a stub: see stub.go
	entDirty   = 1 << 28 // Pebble has something else: see dirty.go
	entGone    = 1 << 29 // the key exists no more
	maxLineKey = entDead - 1
)

type shard struct {
	mu    sync.Mutex
	ring  []byte
	index []byte // slots of 8 B, as many as there may be; see index.go
	// slots is how many of them it has. It changes under mu; only Prefetch reads it without.
	slots atomic.Uint32
	used  uint32 // of these
	// The ring's live part is [begin, end) in offsets that only grow; the
	// place in ring is the offset modulo its length. No entry wraps around.
	begin, end uint64
	live       int64 // bytes of entries that are not dead
	stubs      int64 // of these, of stubs
	dirtyBytes int64 // of these, of dirty lines
	dirty      *dirtyLists
	// complete: every key of the store that belongs to this shard has a line here, so
	// that a key without one does not exist.
	complete bool
	known    *generations // the cache's
	// hits and misses count here, where the lock has brought the line of memory anyway: one
	// number for all shards would be fetched from the other processor for each read.
	hits, misses int64
	spare        *[maxSpare]byte // for rows that grow
	frequency    *Frequency      // how uses are counted; nil: they are not
}

// New returns a cache of about size bytes, index included; size 0 gives one
// that holds nothing.
func New(size int64) (*Cache, error) {
	c := &Cache{}
	if size <= 0 {
		return c, nil
	}
	perShard := max(size/shards, 64<<10)
	slots := perShard / bytesPerSlot
	indexSize := slots * 8
	ringSize := max(perShard-indexSize, 32<<10) &^ 7
	mem, err := allocOffHeap((indexSize + ringSize) * shards)
	if err != nil {
		return nil, err
	}
	c.mem = mem
	c.dirty = new(dirtyLists)
	c.shards = make([]shard, shards)
	for i := range c.shards {
		s := &c.shards[i]
		s.index, mem = mem[:indexSize:indexSize], mem[indexSize:]
		s.ring, mem = mem[:ringSize:ringSize], mem[ringSize:]
		s.slots.Store(slotsAtFirst(slots))
		s.known, s.dirty = &c.known, c.dirty
	}
	return c, nil
}

// Close frees the memory. Nothing may use the cache any more.
func (c *Cache) Close() {
	if c.mem != nil {
		freeOffHeap(c.mem)
		c.mem, c.shards = nil, nil
	}
}

// A lineID says whose a line is.
type lineID struct {
	hash  uint64
	place layout.Place
	key   []byte
	kind  uint32 // entElement or nothing
}

// keyID is the id of a key's header. A place's upper half is equal for all keys of a hash
// tag, its lower half is a hash already.
func keyID(p layout.Place, key []byte) lineID { return lineID{layout.Mix(uint64(p)), p, key, 0} }

func (c *Cache) shard(id *lineID) *shard { return &c.shards[id.hash>>58&(shards-1)] }

// idAt is the id of an entry.
func idAt(e []byte) lineID {
	word := binary.LittleEndian.Uint32(e[entKeyLen:])
	p, key := layout.Place(binary.LittleEndian.Uint64(e)), e[entryHead:entryHead+word&maxLineKey]
	if word&entElement != 0 {
		return elementID(p, key)
	}
	return keyID(p, key)
}

// A Answer is what the cache knows of a key.
type Answer uint8

const (
	Miss   Answer = iota // nothing
	Hit                  // its line
	Absent               // that there is no such key
)

// Get appends the line of a key to dst.
func (c *Cache) Get(p layout.Place, key, dst []byte) ([]byte, Answer) {
	if c.shards == nil {
		return dst, Miss
	}
	id := keyID(p, key)
	s := c.shard(&id)
	s.mu.Lock()
	slot, ok := s.find(&id)
	if !ok {
		answer := s.missing()
		s.misses++
		s.mu.Unlock()
		return dst, answer
	}
	e := s.entry(slot)
	if answer := answerOf(e); answer != Hit {
		s.misses++
		s.mu.Unlock()
		return dst, answer
	}
	s.use(e, c.clock.Load())
	dst = append(dst, lineIn(e)...)
	s.hits++
	s.mu.Unlock()
	return dst, Hit
}

// use notes that an entry is read now.
func (s *shard) use(e []byte, now uint32) {
	s.count(e, now)
	if word := binary.LittleEndian.Uint32(e[entKeyLen:]); word&entRef == 0 {
		binary.LittleEndian.PutUint32(e[entKeyLen:], word|entRef)
	}
	if binary.LittleEndian.Uint32(e[entSeen:]) != now {
		binary.LittleEndian.PutUint32(e[entSeen:], now)
	}
}

// lineIn returns the line of an entry.
func lineIn(e []byte) []byte {
	start := entryHead + int(binary.LittleEndian.Uint32(e[entKeyLen:])&maxLineKey)
	return e[start : start+lineLen(e)]
}

// answerOf is the answer for a key with an entry.
func answerOf(e []byte) Answer {
	switch word := binary.LittleEndian.Uint32(e[entKeyLen:]); {
	case word&entGone != 0:
		return Absent
	case word&entStub != 0:
		return Miss
	}
	return Hit
}

// missing is the answer for a key without a line.
func (s *shard) missing() Answer {
	if s.complete {
		return Absent
	}
	return Miss
}

// SetComplete says that the store holds no keys but those with a line; the caller
// makes sure that nothing is written meanwhile. It stays true until a line is
// dropped or not taken.
func (c *Cache) SetComplete() {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		s.complete = true
		s.mu.Unlock()
	}
}

// Lose drops the line of a key that may exist all the same.
func (c *Cache) Lose(p layout.Place, key []byte) {
	if c.shards == nil {
		return
	}
	id := keyID(p, key)
	s := c.shard(&id)
	s.mu.Lock()
	s.complete = false
	if slot, ok := s.find(&id); ok {
		s.kill(slot)
	}
	s.mu.Unlock()
}

// Peek is get without counting as a read.
func (c *Cache) Peek(p layout.Place, key, dst []byte) ([]byte, Answer) {
	if c.shards == nil {
		return dst, Miss
	}
	id := keyID(p, key)
	s := c.shard(&id)
	s.mu.Lock()
	defer s.mu.Unlock()
	slot, ok := s.find(&id)
	if !ok {
		return dst, s.missing()
	}
	e := s.entry(slot)
	if answer := answerOf(e); answer != Hit {
		return dst, answer
	}
	return append(dst, lineIn(e)...), Hit
}

// Put makes line the line of key.
func (c *Cache) Put(p layout.Place, key, line []byte) {
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
	s.put(&id, line, c.clock.Load())
	s.mu.Unlock()
}

// PutUntouched is Put that is no use of a key which has a line.
func (c *Cache) PutUntouched(p layout.Place, key, line []byte) {
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
	defer s.mu.Unlock()
	seen, frequency, known := s.usage(&id)
	e, _ := s.put(&id, line, c.clock.Load())
	if known && e != nil {
		binary.LittleEndian.PutUint32(e[entSeen:], seen)
		e[entFrequency] = frequency
	}
}

// usage returns how the line of a key is used, if it has one.
func (s *shard) usage(id *lineID) (seen uint32, frequency uint8, known bool) {
	slot, ok := s.find(id)
	if !ok {
		return 0, 0, false
	}
	e := s.entry(slot)
	return binary.LittleEndian.Uint32(e[entSeen:]), e[entFrequency], true
}

// Fill is put for a line that was read from Pebble: it does nothing if the version
// has changed since it was want, or says that a commit is under way: the line may be an old
// one then, also that of a receiver, which the reader does not wait for. The check is
// under the shard's lock, so that a writer's own put comes after it.
func (c *Cache) Fill(p layout.Place, key, line []byte, l Version, want uint64) {
	if c.shards == nil || !l.Unchanged(want) || len(line) > maxLine || len(key) > maxLineKey {
		return
	}
	id := keyID(p, key)
	s := c.shard(&id)
	s.mu.Lock()
	if l.Unchanged(want) {
		s.put(&id, line, c.clock.Load())
	}
	s.mu.Unlock()
}

// Remove drops the line of a key that exists no more, if there is one.
func (c *Cache) Remove(p layout.Place, key []byte) {
	if c.shards == nil {
		return
	}
	id := keyID(p, key)
	s := c.shard(&id)
	s.mu.Lock()
	if slot, ok := s.find(&id); ok {
		s.kill(slot)
	}
	s.mu.Unlock()
}

// Clear drops all lines, of a store that has been emptied.
func (c *Cache) Clear() {
	c.known.clear()
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		clear(s.index[:uint64(s.slots.Load())*8])
		s.used, s.begin, s.end, s.live, s.stubs, s.dirtyBytes, s.complete = 0, 0, 0, 0, 0, 0, true
		s.mu.Unlock()
	}
	if c.dirty != nil {
		c.dirty.clear()
	}
}

// Answers returns how many reads have found a line, and how many have not.
func (c *Cache) Answers() (hits, misses int64) {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		hits, misses = hits+s.hits, misses+s.misses
		s.mu.Unlock()
	}
	return hits, misses
}

// Usage returns the bytes that live lines occupy and how many there are.
func (c *Cache) Usage() (size, lines int64) {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		size += s.live
		lines += int64(s.used)
		s.mu.Unlock()
	}
	return size, lines
}

// A Version is the version of a key's latch: it changes with each commit under the latch.
type Version interface {
	// unchanged reports whether no commit is under way, nor has ended since the version was want.
	Unchanged(want uint64) bool
}

// SetClock says that it is so many seconds after the store was opened.
func (c *Cache) SetClock(now uint32) { c.clock.Store(now) }

// Now is the cache's clock, in seconds since the store was opened.
func (c *Cache) Now() uint32 { return c.clock.Load() }

// Size is how many bytes of memory the cache may use.
func (c *Cache) Size() int64 { return int64(len(c.mem)) }
