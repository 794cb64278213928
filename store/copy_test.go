package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/latch"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// content is what a store holds of a range, but for generations; live leaves out what
// has expired.
func (s *Store) content(t testing.TB, r ring.Range, live bool) map[string]string {
	t.Helper()
	m := map[string]string{}
	for _, st := range layout.PiecesOf(r) {
		w, err := s.walk(st, nil)
		if err != nil {
			t.Fatal(err)
		}
		for w.Next() {
			if live && w.IsDead(s.now()) {
				w.SkipKey()
				continue
			}
			value := w.Value
			if w.IsHeader() {
				h := w.Head
				h.Gen = min(h.Gen, 1)
				value = h.Append(nil)
			}
			m[string(w.AppendPosition(nil))] = string(value)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func describe(pos string) string {
	key, sub := Position(pos).Split()
	return fmt.Sprintf("%q/%x", key, sub)
}

// mustEqual compares what two stores hold of a range.
func mustEqual(t testing.TB, r ring.Range, want, got *Store) {
	t.Helper()
	a, b := want.content(t, r, true), got.content(t, r, true)
	faults := 0
	for pos, v := range a {
		if w, ok := b[pos]; !ok || w != v {
			t.Errorf("%s: %.40q (%d bytes) has arrived as %.40q (%d bytes), %t", describe(pos), v, len(v), w, len(w), ok)
			faults++
		}
		delete(b, pos)
		if faults > 5 {
			t.FailNow()
		}
	}
	for pos := range b {
		t.Errorf("%s should not be there", describe(pos))
		if faults++; faults > 5 {
			t.FailNow()
		}
	}
}

// A link is a stream from one store's range to another's, as an engine has it.
type link struct {
	src, dst *Store
	r        ring.Range
	tap      *Tap
	rc       *Receiver
	copy     *Copy

	mu     sync.Mutex
	more   sync.Cond
	queue  [][]byte
	acks   []uint64 // of each batch in the queue; 0: none
	cursor Position
	closed bool
	bytes  int
	err    error
	done   chan struct{}
	// drained are closed once the queue has been worked off.
	drained []chan struct{}
}

func newLink(t testing.TB, src, dst *Store, r ring.Range) *link {
	t.Helper()
	l := &link{src: src, dst: dst, r: r, rc: dst.NewReceiver(r), done: make(chan struct{})}
	l.more.L = &l.mu
	var err error
	if l.copy, err = src.NewCopy(r, nil); err != nil {
		t.Fatal(err)
	}
	l.cursor = l.copy.Position()
	if l.tap, err = src.Tap(l.sink, r); err != nil {
		t.Fatal(err)
	}
	go l.run()
	return l
}

func (l *link) push(batch []byte, ack uint64) {
	l.queue = append(l.queue, batch)
	l.acks = append(l.acks, ack)
	l.bytes += len(batch)
	l.more.Broadcast()
}

func (l *link) sink(c Change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b, err := l.src.CutBatch(c.Batch, l.r, l.cursor)
	if err != nil {
		l.err = err
	}
	l.push(b, c.Number)
}

func (l *link) run() {
	defer close(l.done)
	for {
		l.mu.Lock()
		for len(l.queue) == 0 && !l.closed {
			for _, done := range l.drained {
				close(done)
			}
			l.drained = nil
			l.more.Wait()
		}
		queue, acks := l.queue, l.acks
		l.queue, l.acks = nil, nil
		end := len(queue) == 0
		l.mu.Unlock()
		if end {
			return
		}
		for i, b := range queue {
			if len(b) > 0 {
				var done Signal
				wait, err := l.rc.Apply(b, &done)
				if err == nil && wait {
					err = done.Wait()
				}
				if err != nil {
					l.mu.Lock()
					if l.err == nil {
						l.err = err
					}
					l.mu.Unlock()
				}
			}
			if acks[i] != 0 {
				l.tap.Acked(acks[i])
			}
		}
	}
}

// chunk copies one chunk; n is how many entries the digests are of, 0 for none.
func (l *link) chunk(limit, n int, detail bool) error {
	var d *Digests
	if n > 0 {
		their, err := l.dst.Digest(l.r, l.copy.Position(), n)
		if err != nil {
			return err
		}
		text := their.Append(nil)
		l.count(text)
		if d, err = ParseDigests(text); err != nil {
			return err
		}
		if detail {
			groups, err := l.src.DifferingGroups(l.r, d)
			if err != nil {
				return err
			}
			for _, i := range groups {
				g := &their.Groups[i]
				if g.Entries, g.Detailed, err = l.dst.DigestEntries(l.r, g.Start, their.GroupEnd(i), 100); err != nil {
					return err
				}
			}
			text = their.AppendEntries(nil, groups)
			l.count(text)
			if err := l.src.TakeEntries(d, text); err != nil {
				return err
			}
		}
	}
	return putOff(func() error { return l.copy.Chunk(limit, d, l.emit) })
}

// count counts what the receiver has answered.
func (l *link) count(text []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bytes += len(text)
}

func (l *link) emit(b []byte, next Position) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.push(b, 0)
	l.cursor = next
}

// drain waits until what was put on the stream has been applied.
func (l *link) drain(t testing.TB) {
	t.Helper()
	done := make(chan struct{})
	l.mu.Lock()
	l.drained = append(l.drained, done)
	l.more.Broadcast()
	l.mu.Unlock()
	<-done
}

func (l *link) close(t testing.TB) {
	t.Helper()
	l.tap.Close(nil)
	l.mu.Lock()
	l.closed = true
	l.more.Broadcast()
	l.mu.Unlock()
	<-l.done
	l.rc.Close()
	if l.err != nil {
		t.Fatal(l.err)
	}
}

func randomRange(rnd *rand.Rand) ring.Range {
	switch rnd.IntN(4) {
	case 0:
		return ring.Whole
	case 1: // wraps, whatever it is
		return ring.Range{Start: 0xc0000000, End: 0x60000000}
	}
	return ring.Range{Start: ring.Token(rnd.Uint32()), End: ring.Token(rnd.Uint32())}
}

// TestCopyWithLiveWrites: whatever is written meanwhile, and whatever the target had
// before, in the end it holds what the source does.
func TestCopyWithLiveWrites(t *testing.T) {
	rnd := seeded(t)
	for round := range lives(5) {
		t.Run(fmt.Sprint(round), func(t *testing.T) { copyWithLiveWrites(t, rnd, randomRange(rnd)) })
	}
}

func copyWithLiveWrites(t *testing.T, rnd *rand.Rand, r ring.Range) {
	src := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer src.mustClose(t)
	dst := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer dst.mustClose(t)
	dst.SetActive()
	// Both have had something in common, and have parted since.
	churnAll(t, src, rnd, 60)
	if rnd.IntN(3) > 0 {
		l := newLink(t, src, dst, ring.Whole)
		for !l.copy.Done() {
			if err := l.chunk(ChunkSize, 0, false); err != nil {
				t.Fatal(err)
			}
		}
		l.close(t)
		mustEqual(t, ring.Whole, src, dst)
		dst.SetActive(ring.Whole)
		churnAll(t, dst, rnd, 20)
		dst.SetActive()
	}
	outside := ring.Range{Start: r.End, End: r.Start}
	before := dst.content(t, outside, false)

	l := newLink(t, src, dst, r)
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for i := range 3 {
		c := &churner{rand.New(rand.NewPCG(rnd.Uint64(), 1)), src, []string{"a", "ab", "x"}[i], 60, i == 2}
		writers.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				c.run(t)
				if n%40 == 39 && c.IntN(3) == 0 {
					src.skew.Add(3_600_500) // what has been set with an expiry so far goes
				}
				if n%100 == 99 && i == 0 {
					clear := func() error { return src.Clear(nil, nil) }
					if c.IntN(2) == 0 {
						clear = func() error { return src.ClearRanges(nil, nil, r) }
					}
					if err := clear(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	for !l.copy.Done() {
		limit := []int{1, 500, 100_000, ChunkSize}[rnd.IntN(4)]
		if err := l.chunk(limit, []int{0, 1, 30, 200}[rnd.IntN(4)], rnd.IntN(2) == 0); err != nil {
			t.Error(err)
			break
		}
		if rnd.IntN(20) == 0 { // begun anew from where it was
			c, err := src.NewCopy(r, l.copy.Position())
			if err != nil {
				t.Fatal(err)
			}
			l.copy = c
		}
	}
	for range 20 {
		(&churner{rnd, src, "a", 60, false}).run(t)
	}
	close(stop)
	writers.Wait()
	src.skew.Add(3_602_000) // all that will expire does so now
	resptest.WaitFor(t, "expired keys vanish", func() bool {
		return len(src.content(t, ring.Whole, false)) == len(src.content(t, ring.Whole, true))
	})
	src.latches.Lock(latch.All()) // what has just vanished is handed over before its latch is let go
	src.latches.Unlock(latch.All())
	l.close(t)
	dst.skew.Store(src.skew.Load())
	mustEqual(t, r, src, dst)
	if a, b := len(src.content(t, r, false)), len(dst.content(t, r, false)); a != b {
		t.Errorf("%d entries have become %d, expired ones included", a, b)
	}
	if r.Start != r.End {
		after := dst.content(t, outside, false)
		for pos, v := range before {
			if after[pos] != v {
				t.Errorf("%s, outside the range, has changed", describe(pos))
			}
		}
		if len(after) != len(before) {
			t.Errorf("%d entries outside the range have become %d", len(before), len(after))
		}
	}
	sweepAll(t, src)
	sweepAll(t, dst)
	src.audit(t)
	dst.audit(t)
	dst.collectAll(t)
	if a := dst.audit(t); a.garbage != 0 {
		t.Errorf("%d values of garbage are left", a.garbage)
	}
	mustEqual(t, r, src, dst)
	checkCache(t, dst)
}

// sweepAll removes what dropped ranges have left.
func sweepAll(t testing.TB, s *Store) {
	t.Helper()
	if err := s.expirer.sweepDropped(); err != nil {
		t.Fatal(err)
	}
	if err := s.expirer.sweepDropped(); err != nil {
		t.Fatal(err)
	}
}

// checkCache compares what commands see with what lies in Pebble.
func checkCache(t *testing.T, s *Store) {
	t.Helper()
	s.skew.Store(-1 << 40) // nothing expires
	for pos, line := range s.content(t, ring.Whole, false) {
		key, sub := Position(pos).Split()
		if len(sub) > 0 {
			continue
		}
		u := s.NewUnit()
		u.Begin(s.now(), nil)
		v, err := u.Get(key)
		h := v.header()
		h.Gen = min(h.Gen, 1)
		if err != nil || !bytes.Equal(h.Append(nil), []byte(line)) {
			t.Errorf("%q is seen as %v, %v", key, v, err)
		}
		u.Abort()
	}
}

// The memory of a chunk follows the keys in it, not the largest chunk there may be.
func TestChunkOfFewKeysTakesLittleMemory(t *testing.T) {
	s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer s.mustClose(t)
	s.set(t, "k", "v", 0)
	const limit = 16 << 20
	least := uint64(limit)
	for range 5 { // the store does other things, too
		c, err := s.NewCopy(ring.Whole, nil)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err = c.Chunk(limit, nil, func([]byte, Position) {})
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	if least > limit/16 {
		t.Errorf("a chunk of one key takes %d bytes", least)
	}
}

// TestCopyOfAValueThatIsReplacedHalfWay: what digests said of the old value's remainder is
// not true of the new one, which the stream has begun.
func TestCopyOfAValueThatIsReplacedHalfWay(t *testing.T) {
	for _, detail := range []bool{false, true} {
		for _, again := range []bool{false, true} {
			rest := strings.Repeat("r", 4*pieceSize)
			src := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
			dst := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
			src.set(t, "k", strings.Repeat("a", pieceSize)+rest, 0)
			copyAll(t, src, dst, ring.Whole, 0)
			l := newLink(t, src, dst, ring.Whole)
			for range 2 { // the header, and a piece
				if err := l.chunk(1, 0, false); err != nil {
					t.Fatal(err)
				}
			}
			if _, sub := l.copy.Position().Split(); len(sub) == 0 {
				t.Fatalf("the cursor is at %x", l.copy.Position())
			}
			l.drain(t)
			d, err := dst.Digest(ring.Whole, l.copy.Position(), 100)
			if err != nil {
				t.Fatal(err)
			}
			if detail {
				g := &d.Groups[0]
				if g.Entries, g.Detailed, err = dst.DigestEntries(ring.Whole, g.Start, d.GroupEnd(0), 100); err != nil {
					t.Fatal(err)
				}
			}
			if again { // begun anew, it cannot know whether it is the same value
				if l.copy, err = src.NewCopy(ring.Whole, l.copy.Position()); err != nil {
					t.Fatal(err)
				}
			}
			src.set(t, "k", strings.Repeat("b", pieceSize)+rest, 0)
			if err := putOff(func() error { return l.copy.Chunk(ChunkSize, d, l.emit) }); err != nil {
				t.Fatal(err)
			}
			for !l.copy.Done() {
				if err := l.chunk(ChunkSize, 0, false); err != nil {
					t.Fatal(err)
				}
			}
			l.close(t)
			mustEqual(t, ring.Whole, src, dst)
			dst.audit(t)
			src.mustClose(t)
			dst.mustClose(t)
		}
	}
}
