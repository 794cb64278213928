package replica

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ringside-kv/ringside/replica/feed"
	"github.com/ringside-kv/ringside/replica/internal/spans"
	"github.com/ringside-kv/ringside/ring"
)

// How a memory is followed, and takes in what it follows.

// A memoryFollow is given the changes of its ranges.
type memoryFollow struct {
	m    *memory
	sink func(uint64, []byte)
	pace func()
	r    []ring.Range // guarded by m.mu
	last uint64       // guarded by mu, as all that follows

	mu      sync.Mutex
	acked   uint64
	waiting []memoryWait
	closed  bool
	err     error
}

// A memoryWait is told when a number has been acknowledged.
type memoryWait struct {
	number uint64
	done   func(error)
}

// A memoryHeld is what has to be acknowledged before a key may be shown.
type memoryHeld struct {
	by     *memoryFollow
	number uint64
}

func (m *memory) NewTap(sink func(number uint64, batch []byte), pace func()) feed.Tap {
	return &memoryFollow{m: m, sink: sink, pace: pace}
}

// restart forgets what a start of a node knows: who follows, and what they have.
func (m *memory) restart() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.follow, m.number = nil, 0
	clear(m.held)
}

// follower returns who follows a key, or nil; mu is held.
func (m *memory) follower(key string) *memoryFollow {
	for _, f := range m.follow {
		if slices.ContainsFunc(f.r, func(r ring.Range) bool { return r.Contains(tokenOf(key)) }) {
			return f
		}
	}
	return nil
}

// given gives a change to who follows its key; mu is held.
func (m *memory) given(p pair) {
	f := m.follower(p.Key)
	if f == nil {
		return
	}
	m.number++
	f.mu.Lock()
	f.last = m.number
	f.mu.Unlock()
	m.held[p.Key] = memoryHeld{f, m.number}
	batch, _ := json.Marshal([]pair{p})
	f.sink(m.number, batch)
}

func (m *memory) Retap(moves []feed.TapMove, end []feed.Copy, at func()) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, move := range moves {
		if f, _ := move.To.(*memoryFollow); f != nil && f.isClosed() {
			return errors.New("who should follow is closed")
		}
	}
	for _, move := range moves {
		to, _ := move.To.(*memoryFollow)
		m.take(move.Range)
		if to != nil {
			to.r = append(to.r, move.Range)
			if !slices.Contains(m.follow, to) {
				m.follow = append(m.follow, to)
			}
		}
	}
	for _, out := range end {
		delete(m.taps, out.(*memoryCopy))
	}
	if at != nil {
		at()
	}
	return nil
}

// take takes a range from who follows it; mu is held.
func (m *memory) take(r ring.Range) {
	for _, f := range m.follow {
		var left []ring.Range
		for _, own := range f.r {
			left = append(left, without(own, r)...)
		}
		f.r = left
	}
}

// without returns what a range holds beside another.
func without(r, cut ring.Range) (left []ring.Range) {
	start, length := uint64(r.Start), r.Len()
	from, size := uint64(cut.Start-r.Start), cut.Len()
	if size == 1<<32 {
		return nil
	}
	add := func(a, b uint64) { // offsets in r
		if a < b {
			left = append(left, ring.Range{Start: ring.Token(start + a), End: ring.Token(start + b)})
		}
	}
	if end := from + size; end > 1<<32 { // it begins behind r's start, and goes on past it
		add(end-1<<32, min(from, length))
	} else {
		add(0, min(from, length))
		add(end, length)
	}
	return left
}

// write changes a key; done is told when that may be known.
func (m *memory) write(key string, value int, done func(error)) {
	m.mu.Lock()
	if f := m.follower(key); f != nil && f.pace != nil {
		m.mu.Unlock()
		f.pace()
		m.mu.Lock()
	}
	m.put(key, value)
	h := m.held[key]
	m.mu.Unlock()
	h.wait(done)
}

// read returns a key's value, and tells done when it may be known.
func (m *memory) read(key string, done func(error)) int {
	m.mu.Lock()
	value, h := m.data[key], m.held[key]
	m.mu.Unlock()
	h.wait(done)
	return value
}

func (h memoryHeld) wait(done func(error)) {
	if h.by == nil {
		done(nil)
		return
	}
	h.by.mu.Lock()
	if h.by.acked >= h.number || h.by.err != nil {
		err := h.by.err
		if h.by.acked >= h.number {
			err = nil
		}
		h.by.mu.Unlock()
		done(err)
		return
	}
	h.by.waiting = append(h.by.waiting, memoryWait{h.number, done})
	h.by.mu.Unlock()
}

func (f *memoryFollow) isClosed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

func (f *memoryFollow) Acked(number uint64) { f.tell(number, nil) }

// tell tells those who wait for numbers up to one.
func (f *memoryFollow) tell(number uint64, err error) {
	f.mu.Lock()
	if err == nil && f.err == nil {
		f.acked = max(f.acked, number)
	}
	var told, left []memoryWait
	for _, w := range f.waiting {
		if w.number <= number {
			told = append(told, w)
		} else {
			left = append(left, w)
		}
	}
	f.waiting = left
	f.mu.Unlock()
	for _, w := range told {
		w.done(err)
	}
}

func (f *memoryFollow) Last() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

func (f *memoryFollow) Close(err error) {
	f.m.mu.Lock()
	f.m.follow = slices.DeleteFunc(f.m.follow, func(other *memoryFollow) bool { return other == f })
	f.r = nil
	f.m.mu.Unlock()
	f.mu.Lock()
	f.closed = true
	if err != nil {
		f.m.broken.Add(1)
	}
	if f.err == nil {
		f.err = err
	}
	f.mu.Unlock()
	f.tell(^uint64(0), err)
}

// A memoryFeed takes in what another memory gives.
type memoryFeed struct {
	m      *memory
	ranges []ring.Range
	broken error
}

var (
	errMemoryOutside = errors.New("a change outside the ranges")
	errMemoryClosed  = errors.New("the feed is closed")
)

func (m *memory) ReceiveFeed() feed.IncomingFeed {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := &memoryFeed{m: m}
	m.feeds = append(m.feeds, f)
	return f
}

func (f *memoryFeed) SetRanges(ranges []ring.Range) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	f.ranges = slices.Clone(ranges)
}

// follows reports whether the memory takes in changes of another node in a range.
func (m *memory) follows(r ring.Range) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.feeds, func(f *memoryFeed) bool {
		return slices.ContainsFunc(f.ranges, func(at ring.Range) bool { return spans.Overlap(at, r) })
	})
}

func (f *memoryFeed) Apply(batches [][]byte, done func(error)) error {
	for _, batch := range batches {
		if f.broken == nil {
			f.broken = f.one(batch)
		}
	}
	if f.broken != nil {
		return f.broken
	}
	done(nil)
	return nil
}

func (f *memoryFeed) one(batch []byte) error {
	var pairs []pair
	if err := json.Unmarshal(batch, &pairs); err != nil {
		return err
	}
	for _, p := range pairs {
		if !slices.ContainsFunc(f.ranges, func(r ring.Range) bool { return r.Contains(tokenOf(p.Key)) }) {
			return errMemoryOutside
		}
	}
	if err := f.m.Writable(); err != nil {
		return err
	}
	f.m.slow()
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	for _, p := range pairs {
		f.m.change(p)
	}
	return nil
}

func (f *memoryFeed) Cut(batch []byte, to []ring.Range) ([]byte, error) {
	var pairs []pair
	if err := json.Unmarshal(batch, &pairs); err != nil {
		return nil, err
	}
	pairs = slices.DeleteFunc(pairs, func(p pair) bool {
		return !slices.ContainsFunc(to, func(r ring.Range) bool { return r.Contains(tokenOf(p.Key)) })
	})
	if len(pairs) == 0 {
		return nil, nil
	}
	return json.Marshal(pairs)
}

func (f *memoryFeed) Close() {
	f.SetRanges(nil)
	f.broken = errMemoryClosed
}

// TestMemoryIsFollowedAsAStoreIs: what other tests take for granted.
func TestMemoryIsFollowedAsAStoreIs(t *testing.T) {
	m := newMemory(func() {})
	var got []string
	follow := func(name string) feed.Tap {
		return m.NewTap(func(n uint64, batch []byte) { got = append(got, name+string(rune('0'+n))) }, nil)
	}
	a, b := follow("a"), follow("b")
	var told []string
	tell := func(name string) func(error) { return func(error) { told = append(told, name) } }
	m.write("k", 1, tell("none"))
	if err := m.Retap([]feed.TapMove{{Range: ring.Whole, To: a}}, nil, func() { got = append(got, "at") }); err != nil {
		t.Fatal(err)
	}
	m.write("k", 2, tell("first"))
	if err := m.Retap([]feed.TapMove{{Range: ring.Range{Start: tokenOf("k"), End: tokenOf("k") + 1}, To: b}}, nil, nil); err != nil {
		t.Fatal(err)
	}
	m.write("other", 2, tell("other"))
	m.read("k", tell("read"))
	m.write("k", 3, tell("second"))
	b.Acked(b.Last())
	m.read("k", tell("read again"))
	a.Acked(1)
	a.Close(errors.New("gone"))
	if err := m.Retap([]feed.TapMove{{Range: ring.Whole, To: a}}, nil, nil); err == nil {
		t.Error("who is closed follows")
	}
	if want := "at a1 a2 b3"; strings.Join(got, " ") != want {
		t.Errorf("given %q, want %q", got, want)
	}
	if want := "none,second,read again,first,read,other"; strings.Join(told, ",") != want {
		t.Errorf("told %q, want %q", told, want)
	}
}
