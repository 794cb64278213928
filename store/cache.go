package store

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
)

// A cache holds encoded headers (and with them the strings of up to
// maxCachedLine bytes) of hot keys, and elements of collections; see cache_element.go.
// It lies outside the Go heap, so that its
// size costs the collector nothing and GOGC does not multiply it.
//
// Each shard is a ring of entries in the order they were added, with an index
// over it. Room is made at the old end: an entry that was read since it was last
// looked at there moves to the new end once more (the CLOCK rule), any other is
// dropped. Lines are written in place where the new value fits.
//
// While a shard has dropped nothing since the store was empty, a key without a line
// there does not exist: neither a miss nor the first SET of a key goes to Pebble as
// long as everything fits.
//
// What makes the cache safe is not here but in commit.go: a line changes only
// after its commit, and a fill is refused if its key's latch was taken meanwhile.
type cache struct {
	shards []cacheShard
	mem    []byte // backs all shards; nil when there is no cache
	known  complete
	clock  atomic.Uint32
}

const (
	cacheShards   = 64
	cacheEntryMin = 24 // bytes of an entry's head
	maxCachedLine = 16 << 10
	// One slot of the index for so many bytes. With entries of 56 bytes, of a field with a
	// short name and value, 7 of 10 slots are taken when the ring is full.
	cacheBytesPerSlot = 48
	// clockMoves bounds how many recently read entries one addition moves on.
	clockMoves = 8
)

// An entry in the ring, little-endian, padded to 8 bytes:
//
//	place 8 B | capacity of key+line 4 B, in bytes | line length 4 B |
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
	maxLineKey = entDead - 1
)

type cacheShard struct {
	mu    sync.Mutex
	ring  []byte
	index []byte // slots of 8 B, as many as there may be; see cache_index.go
	slots uint32 // how many of them it has
	used  uint32 // of these
	// The ring's live part is [begin, end) in offsets that only grow; the
	// place in ring is the offset modulo its length. No entry wraps around.
	begin, end uint64
	live       int64 // bytes of entries that are not dead
	// whole: every key of the store that belongs to this shard has a line here, so
	// that a key without one does not exist.
	whole bool
	known *complete // the cache's
	// hits and misses count here, where the lock has brought the line of memory anyway: one
	// number for all shards would be fetched from the other processor for each read.
	hits, misses int64
	spare        *[maxSpare]byte // for rows that grow
}

// newCache returns a cache of about size bytes, index included; size 0 gives one
// that holds nothing.
func newCache(size int64) (*cache, error) {
	c := &cache{}
	if size <= 0 {
		return c, nil
	}
	perShard := max(size/cacheShards, 64<<10)
	slots := perShard / cacheBytesPerSlot
	indexSize := slots * 8
	ringSize := max(perShard-indexSize, 32<<10) &^ 7
	mem, err := allocOffHeap((indexSize + ringSize) * cacheShards)
	if err != nil {
		return nil, err
	}
	c.mem = mem
	c.shards = make([]cacheShard, cacheShards)
	for i := range c.shards {
		s := &c.shards[i]
		s.index, mem = mem[:indexSize:indexSize], mem[indexSize:]
		s.ring, mem = mem[:ringSize:ringSize], mem[ringSize:]
		s.slots, s.known = slotsAtFirst(slots), &c.known
	}
	return c, nil
}

func (c *cache) close() {
	if c.mem != nil {
		freeOffHeap(c.mem)
		c.mem, c.shards = nil, nil
	}
}

// A lineID says whose a line is.
type lineID struct {
	hash  uint64
	place Place
	key   []byte
	kind  uint32 // entElement or nothing
}

// mix spreads numbers over shards and slots.
func mix(n uint64) uint64 {
	h := n * 0x9e3779b97f4a7c15
	return h ^ h>>32
}

// keyID is the id of a key's header. A place's upper half is equal for all keys of a hash
// tag, its lower half is a hash already.
func keyID(p Place, key []byte) lineID { return lineID{mix(uint64(p)), p, key, 0} }

func (c *cache) shard(id *lineID) *cacheShard { return &c.shards[id.hash>>58&(cacheShards-1)] }

// idAt is the id of an entry.
func idAt(e []byte) lineID {
	word := binary.LittleEndian.Uint32(e[entKeyLen:])
	p, key := Place(binary.LittleEndian.Uint64(e)), e[cacheEntryMin:cacheEntryMin+word&maxLineKey]
	if word&entElement != 0 {
		return elementID(p, key)
	}
	return keyID(p, key)
}

// A cacheAnswer is what the cache knows of a key.
type cacheAnswer uint8

const (
	cacheMiss   cacheAnswer = iota // nothing
	cacheHit                       // its line
	cacheAbsent                    // that there is no such key
)

// get appends the line of a key to dst.
func (c *cache) get(p Place, key, dst []byte) ([]byte, cacheAnswer) {
	if c.shards == nil {
		return dst, cacheMiss
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
	word := binary.LittleEndian.Uint32(e[entKeyLen:])
	if word&entRef == 0 {
		binary.LittleEndian.PutUint32(e[entKeyLen:], word|entRef)
	}
	now := c.clock.Load()
	if binary.LittleEndian.Uint32(e[entSeen:]) != now {
		binary.LittleEndian.PutUint32(e[entSeen:], now)
	}
	start := cacheEntryMin + int(word&maxLineKey)
	dst = append(dst, e[start:start+int(binary.LittleEndian.Uint32(e[entLine:]))]...)
	s.hits++
	s.mu.Unlock()
	return dst, cacheHit
}

// missing is the answer for a key without a line.
func (s *cacheShard) missing() cacheAnswer {
	if s.whole {
		return cacheAbsent
	}
	return cacheMiss
}

// setWhole says that the store holds no keys but those with a line; the caller
// makes sure that nothing is written meanwhile. It stays true until a line is
// dropped or not taken.
func (c *cache) setWhole() {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		s.whole = true
		s.mu.Unlock()
	}
}

// lose drops the line of a key that may exist all the same.
func (c *cache) lose(p Place, key []byte) {
	if c.shards == nil {
		return
	}
	id := keyID(p, key)
	s := c.shard(&id)
	s.mu.Lock()
	s.whole = false
	if slot, ok := s.find(&id); ok {
		s.kill(slot)
	}
	s.mu.Unlock()
}

// peek is get without counting as a read.
func (c *cache) peek(p Place, key, dst []byte) ([]byte, cacheAnswer) {
	if c.shards == nil {
		return dst, cacheMiss
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
	start := cacheEntryMin + int(binary.LittleEndian.Uint32(e[entKeyLen:])&maxLineKey)
	return append(dst, e[start:start+int(binary.LittleEndian.Uint32(e[entLine:]))]...), cacheHit
}

// lastRead returns the second, on the cache's clock, in which the key's line was
// last read or written.
func (c *cache) lastRead(p Place, key []byte) (uint32, bool) {
	if c.shards == nil {
		return 0, false
	}
	id := keyID(p, key)
	s := c.shard(&id)
	s.mu.Lock()
	defer s.mu.Unlock()
	slot, ok := s.find(&id)
	if !ok {
		return 0, false
	}
	return binary.LittleEndian.Uint32(s.entry(slot)[entSeen:]), true
}

// put makes line the line of key.
func (c *cache) put(p Place, key, line []byte) {
	if c.shards == nil {
		return
	}
	if len(line) > maxCachedLine || len(key) > maxLineKey {
		c.lose(p, key)
		return
	}
	id := keyID(p, key)
	s := c.shard(&id)
	s.mu.Lock()
	s.put(&id, line, c.clock.Load())
	s.mu.Unlock()
}

// fill is put for a line that was read from Pebble: it does nothing if the version
// has changed since it was want, or says that a commit is under way: the line may be an old
// one then, also that of a receiver, which the reader does not wait for. The check is
// under the shard's lock, so that a writer's own put comes after it.
func (c *cache) fill(p Place, key, line []byte, version *atomic.Uint64, want uint64) {
	if c.shards == nil || want&underWay != 0 || len(line) > maxCachedLine || len(key) > maxLineKey {
		return
	}
	id := keyID(p, key)
	s := c.shard(&id)
	s.mu.Lock()
	if version.Load() == want {
		s.put(&id, line, c.clock.Load())
	}
	s.mu.Unlock()
}

// remove drops the line of a key that exists no more, if there is one.
func (c *cache) remove(p Place, key []byte) {
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

// clear drops all lines, of a store that has been emptied.
func (c *cache) clear() {
	c.known.clear()
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		clear(s.index[:uint64(s.slots)*8])
		s.used, s.begin, s.end, s.live, s.whole = 0, 0, 0, 0, true
		s.mu.Unlock()
	}
}

// answers returns how many reads have found a line, and how many have not.
func (c *cache) answers() (hits, misses int64) {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		hits, misses = hits+s.hits, misses+s.misses
		s.mu.Unlock()
	}
	return hits, misses
}

// usage returns the bytes that live lines occupy and how many there are.
func (c *cache) usage() (size, lines int64) {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		size += s.live
		lines += int64(s.used)
		s.mu.Unlock()
	}
	return size, lines
}
