package replica

import (
	"encoding/json"
	"errors"
	"hash/fnv"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/replica/internal/spans"
	"github.com/ringside-kv/ringside/ring"
)

// A memory is a store.
type memory struct {
	mu   sync.Mutex
	data map[string]int
	taps map[*memoryCopy]bool
	own  []ring.Range
	// taken is what is being taken in, by streams and not by feeds.
	taken []*memoryTake
	slow  func() // what applying a batch takes
	sent  int    // keys that copies have sent
	full  bool   // there is no room

	follow []*memoryFollow
	feeds  []*memoryFeed
	broken atomic.Int64          // how many of them have ended with an error
	held   map[string]memoryHeld // of the last change of each key
	number uint64                // of the last change that was given

	watches  []*memoryWatch
	bad      []string     // keys that cannot be read
	hidden   []string     // removed keys that are in the way
	seen     []ring.Range // in which some was come across
	discards int
	stuck    bool // damage goes on beside whatever is discarded
}

// Some changes of a key; nil is its removal.
type pair struct {
	Key   string
	Value *int
}

func newMemory(slow func()) *memory {
	return &memory{data: make(map[string]int), taps: make(map[*memoryCopy]bool), held: make(map[string]memoryHeld), slow: slow}
}

func tokenOf(key string) ring.Token {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key))
	return ring.Token(h.Sum32())
}

func (m *memory) put(key string, value int) { m.change(pair{key, &value}) }

func (m *memory) change(p pair) {
	if p.Value == nil {
		delete(m.data, p.Key)
	} else {
		m.data[p.Key] = *p.Value
	}
	for tap := range m.taps {
		if tap.r.Contains(tokenOf(p.Key)) && (tap.done || p.Key < tap.next) {
			tap.send(p)
		}
	}
	m.given(p)
	m.watched(p.Key)
}

func (m *memory) in(r ring.Range) []string {
	var keys []string
	for key := range m.data {
		if r.Contains(tokenOf(key)) {
			keys = append(keys, key)
		}
	}
	sort.Strings(keys)
	return keys
}

// contents are the keys of a range with their values.
func (m *memory) contents(r ring.Range) map[string]int {
	c := make(map[string]int)
	for _, key := range m.in(r) {
		c[key] = m.data[key]
	}
	return c
}

// A memoryCopy goes over keys in their order, and is told at once all that the receiver
// has.
type memoryCopy struct {
	m      *memory
	r      ring.Range
	sink   func([]byte)
	next   string // what is before has been copied
	done   bool
	theirs map[string]int
	keys   int64
}

func (c *memoryCopy) send(p pair) {
	batch, _ := json.Marshal([]pair{p})
	c.sink(batch)
}

func (m *memory) StartCopies(ranges []ring.Range, sink func(int, []byte), _ func()) (all []OutgoingCopy, _ error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, r := range ranges {
		c := &memoryCopy{m: m, r: r, sink: func(batch []byte) { sink(i, batch) }}
		m.taps[c] = true
		all = append(all, c)
	}
	return all, nil
}

func (m *memory) EndCopies(copies []OutgoingCopy) {
	for _, c := range copies {
		c.Close()
	}
}

func (c *memoryCopy) Close() {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	delete(c.m.taps, c)
}

func (c *memoryCopy) Ask() []byte {
	if c.theirs == nil {
		return []byte("all")
	}
	return nil
}

func (c *memoryCopy) Answer(answer []byte) error { return json.Unmarshal(answer, &c.theirs) }

func (c *memoryCopy) Progress() (keys, bytes int64) { return c.keys, 0 }

// Step brings one key into line.
func (c *memoryCopy) Step(int) (bool, error) {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	all := c.m.in(c.r)
	for key := range c.theirs {
		all = append(all, key)
	}
	sort.Strings(all)
	for _, key := range slices.Compact(all) {
		if key < c.next {
			continue
		}
		value, here := c.m.data[key]
		was, there := c.theirs[key]
		switch {
		case !here:
			c.send(pair{Key: key})
		case !there || was != value:
			c.m.sent++
			c.send(pair{key, &value})
		}
		if here {
			c.keys++
		}
		c.next = key + "\x00"
		return false, nil
	}
	c.done = true
	return true, nil
}

var errMemoryOver = errors.New("the range is not taken in any more")

var errMemoryFull = errors.New("no space is left")

func (m *memory) Writable() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.full {
		return errMemoryFull
	}
	return nil
}

func (m *memory) LogHasFailed() bool { return false }

func (m *memory) Stalled() time.Duration { return 0 }

func (m *memory) fill(full bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.full = full
}

type memoryTake struct {
	m    *memory
	r    ring.Range
	over bool // guarded by m.mu
}

func (m *memory) ReceiveCopies(ranges []ring.Range) (all []IncomingCopy) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range ranges {
		k := &memoryTake{m: m, r: r}
		m.taken = append(m.taken, k)
		all = append(all, k)
	}
	return all
}

func (m *memory) CloseCopies(copies []IncomingCopy) {
	for _, k := range copies {
		k.End()
	}
}

func (k *memoryTake) End() {
	k.m.mu.Lock()
	defer k.m.mu.Unlock()
	k.over = true
	k.m.taken = slices.DeleteFunc(k.m.taken, func(other *memoryTake) bool { return other == k })
}

// takesIn reports whether a copy in progress overlaps a range.
func (m *memory) takesIn(r ring.Range) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.taken, func(k *memoryTake) bool { return spans.Overlap(k.r, r) })
}

func (k *memoryTake) Answer([]byte) ([]byte, error) {
	k.m.mu.Lock()
	defer k.m.mu.Unlock()
	if err := k.m.readable(k.r); err != nil {
		return nil, err
	}
	return json.Marshal(k.m.contents(k.r))
}

func (k *memoryTake) Apply(batch []byte, done func(error)) error {
	var pairs []pair
	if err := json.Unmarshal(batch, &pairs); err != nil {
		return err
	}
	if err := k.m.Writable(); err != nil {
		return err
	}
	k.m.slow()
	k.m.mu.Lock()
	defer k.m.mu.Unlock()
	if k.over {
		return errMemoryOver
	}
	for _, p := range pairs {
		k.m.change(p)
	}
	done(nil)
	return nil
}

func (m *memory) SetOwned(own []ring.Range) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.own = own
}

func (m *memory) Drop(ranges ...ring.Range) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range ranges {
		for tap := range m.taps {
			if tap.r.Contains(r.Start) || r.Contains(tap.r.Start) {
				return errors.New("a range that is given away is dropped")
			}
		}
		for _, key := range m.in(r) {
			delete(m.data, key)
		}
	}
	return nil
}

func (m *memory) Load(r ring.Range) ring.Load {
	m.mu.Lock()
	defer m.mu.Unlock()
	keys := int64(len(m.in(r)))
	return ring.Load{Keys: keys, Bytes: keys << 20}
}

func (m *memory) value(key string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.data[key]
}

func (m *memory) served() []ring.Range {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.own
}
