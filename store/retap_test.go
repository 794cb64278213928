package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/latch"
	"github.com/ringside-kv/ringside/store/internal/ops"
)

// keyIn returns a key in a range, other than those with a lower number.
func keyIn(r ring.Range, from int) string {
	for i := from; ; i++ {
		if k := "key" + strconv.Itoa(i); r.Contains(testToken([]byte(k))) {
			return k
		}
	}
}

// TestMovedChangesStayHeld by the tap that was handed it: what the next one has
// acknowledged says nothing of it.
func TestMovedChangesStayHeld(t *testing.T) {
	s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer s.mustClose(t)
	r := ring.Range{Start: 0, End: 1 << 30}
	key, other := keyIn(r, 0), keyIn(ring.Range{Start: 1 << 30, End: 0}, 0)
	first := mustTap(t, s, r, func(Change) {})
	var second *Tap
	acks := true
	second = mustTap(t, s, ring.Range{Start: 1 << 30, End: 0}, func(c Change) {
		if acks {
			second.Acked(c.Number)
		}
	})
	w := start(t, s, "1", key)
	// As if they shared a latch.
	s.latches[latch.Of(PlaceOf(s.token, []byte(other)))].NoteTapped(1)
	mustRetap(t, s, nil, Move{Range: r, To: second})
	x := start(t, s, "2", other)
	if <-x.ch; x.err != nil || second.Last() < 2 {
		t.Fatal(x.err, second.Last())
	}
	seen := look(t, s, key)
	if seen == nil {
		t.Fatal("what is not acknowledged is shown")
	}
	// Who overwrites it has read it.
	over := start(t, s, "3", key)
	all := newTold()
	if !s.AwaitAll(all) {
		t.Fatal("a scan shows what is not acknowledged")
	}
	settleAll(s)
	for _, x := range []*told{w, seen, over, all} {
		if x.done.Load() {
			t.Fatal("a reply left before the change was acknowledged")
		}
	}
	if look(t, s, other) != nil {
		t.Error("what was never the first tap's waits for it")
	}
	first.Acked(first.Last())
	for _, x := range []*told{w, seen, over, all} {
		if <-x.ch; x.err != nil {
			t.Error(x.err)
		}
	}
	if look(t, s, key) != nil {
		t.Error("what is acknowledged waits")
	}
	// The promise has been kept and is forgotten with the next change.
	mustRetap(t, s, nil)
	if s.taps.Current().HasOpen() {
		t.Error("something is still held by a tap that held it before")
	}
	// To nobody: what is open stays so.
	acks = false
	w = start(t, s, "4", key)
	mustRetap(t, s, nil, Move{Range: r, To: nil})
	if seen = look(t, s, key); seen == nil {
		t.Fatal("what is not acknowledged is shown, of a range that nobody holds")
	}
	free := start(t, s, "5", keyIn(r, 1000))
	if <-free.ch; free.err != nil {
		t.Error(free.err)
	}
	second.Acked(second.Last())
	<-w.ch
	<-seen.ch
	first.Close(nil)
	second.Close(nil)
	if s.taps.Current() != nil {
		t.Error("taps are left")
	}
}

func mustRetap(t *testing.T, s *Store, at func(), moves ...Move) {
	t.Helper()
	if err := s.Retap(moves, nil, at); err != nil {
		t.Fatal(err)
	}
}

// TestFailedChangesStayUnseen where another tap holds it, until it is nobody's.
func TestFailedChangesStayUnseen(t *testing.T) {
	s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer s.mustClose(t)
	r := ring.Range{Start: 0, End: 1 << 30}
	moved, stayed := keyIn(r, 0), keyIn(ring.Range{Start: 1 << 30, End: 0}, 0)
	first := mustTap(t, s, ring.Whole, func(Change) {})
	second, err := s.Tap(func(Change) {})
	if err != nil {
		t.Fatal(err)
	}
	w := start(t, s, "1", moved)
	x := start(t, s, "1", stayed)
	mustRetap(t, s, nil, Move{Range: r, To: second})
	first.Close(errors.New("lost"))
	for _, x := range []*told{w, x} {
		if <-x.ch; !errors.Is(x.err, ErrUnknown) {
			t.Errorf("told %v", x.err)
		}
	}
	if look(t, s, stayed) != nil {
		t.Error("what is nobody's waits")
	}
	seen := look(t, s, moved)
	if seen == nil {
		t.Fatal("what was never acknowledged is shown")
	}
	if <-seen.ch; !errors.Is(seen.err, ErrUnknown) {
		t.Errorf("told %v", seen.err)
	}
	mustRetap(t, s, nil, Move{Range: r, To: nil})
	if look(t, s, moved) != nil {
		t.Error("what is nobody's waits")
	}
	if err := s.Retap([]Move{{Range: r, To: first}}, nil, func() { t.Error("at was called") }); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed tap: %v", err)
	}
	listening := s.ListenEach([]ring.Range{r}, func(int, Change) {})[0]
	if err := s.Retap([]Move{{Range: r, To: listening}}, nil, nil); err == nil {
		t.Error("a listening tap holds")
	}
	second.Close(nil)
}

// TestListeningTapsHoldNothing and may overlap with each other and with one that holds.
func TestListeningTapsHoldNothing(t *testing.T) {
	s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer s.mustClose(t)
	var a, b, h recorder
	low := ring.Range{Start: 0, End: 1 << 31}
	listening := s.ListenEach([]ring.Range{ring.Whole, low}, func(i int, c Change) { []*recorder{&a, &b}[i].sink(c) })
	la, lb := listening[0], listening[1]
	hold := mustTap(t, s, ring.Range{Start: 1 << 30, End: 3 << 30}, h.sink)
	defer hold.Close(nil)
	keys := []string{
		keyIn(ring.Range{Start: 0, End: 1 << 30}, 0), keyIn(ring.Range{Start: 1 << 30, End: 1 << 31}, 0),
		keyIn(ring.Range{Start: 1 << 31, End: 3 << 30}, 0), keyIn(ring.Range{Start: 3 << 30, End: 0}, 0),
	}
	w := start(t, s, "v", keys[0], keys[3])
	if <-w.ch; w.err != nil {
		t.Error(w.err)
	}
	w = start(t, s, "v", keys...)
	settleAll(s)
	if w.done.Load() {
		t.Error("a reply left early")
	}
	if look(t, s, keys[0]) != nil && s.latches[latch.Of(PlaceOf(s.token, []byte(keys[0])))].LastTapped() == 0 {
		t.Error("it waits for a listening tap")
	}
	hold.Acked(hold.Last())
	<-w.ch
	ended := false
	if err := s.Retap(nil, []*Tap{la}, func() { ended = a.count() == 2 }); err != nil || !ended {
		t.Error(ended, err)
	}
	w = start(t, s, "v", keys...)
	hold.Acked(hold.Last())
	<-w.ch
	for name, c := range map[string]struct {
		got  []Change
		want string
	}{
		"all":  {a.changes, "03 0123"},
		"low":  {b.changes, "0 01 01"},
		"held": {h.changes, "12 12"},
	} {
		var batches []string
		for _, change := range c.got {
			got := ""
			if _, err := ops.Each(change.Batch, func(o *ops.Op) error {
				for i, k := range keys {
					if k == string(o.Key) {
						got += strconv.Itoa(i)
					}
				}
				return nil
			}); err != nil {
				t.Error(err)
			}
			batches = append(batches, got)
		}
		if got := strings.Join(batches, " "); got != c.want {
			t.Errorf("%s was given %q, want %q", name, got, c.want)
		}
	}
	la.Close(nil)
	lb.Close(nil)
}

// A ledger knows which changes of each key were handed over, and which of them have been
// acknowledged: a key's values are numbered by the changes of it.
type ledger struct {
	mu     sync.Mutex
	handed map[string]int
	acked  map[string]map[int]bool
	newest uint64
	owner  map[ring.Token]int // by a range's first token
	queue  []entrusted
	closed bool
	faults []string
}

// entrusted is a change on its way.
type entrusted struct {
	tap    int
	number uint64
	batch  []byte
	keys   []string
	values []int
}

func (l *ledger) fault(format string, args ...any) {
	if len(l.faults) < 5 {
		l.faults = append(l.faults, fmt.Sprintf(format, args...))
	}
}

func (l *ledger) shown(key string, value int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if value > 0 && !l.acked[key][value] {
		l.fault("%s = %d was shown, which is not acknowledged", key, value)
	}
}

const retapRows = 24

func retapRow(n int) ring.Range {
	const step = 1<<32/retapRows + 1
	end := uint64(n+1) * step
	if n == retapRows-1 {
		end = 0
	}
	return ring.Range{Start: ring.Token(n * step), End: ring.Token(end)}
}

func (l *ledger) sink(tap int) func(Change) {
	return func(c Change) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if c.Number <= l.newest {
			l.fault("number %d came after %d", c.Number, l.newest)
		}
		l.newest = c.Number
		e := entrusted{tap: tap, number: c.Number, batch: c.Batch}
		_, err := ops.Each(c.Batch, func(o *ops.Op) error {
			if o.Kind == ops.Drop {
				return nil
			}
			k := string(o.Key)
			for n := range retapRows {
				if r := retapRow(n); r.Contains(testToken(o.Key)) && l.owner[r.Start] != tap {
					l.fault("tap %d was given a change of %s, which is tap %d's", tap, k, l.owner[r.Start])
				}
			}
			switch o.Kind {
			case ops.Put, ops.PutNew, ops.PutStaged, ops.Remove:
				l.handed[k]++
				e.keys, e.values = append(e.keys, k), append(e.values, l.handed[k])
			}
			return nil
		})
		if err != nil {
			l.fault("%v", err)
		}
		l.queue = append(l.queue, e)
	}
}

// take returns some of what is on its way, at least one; false at the end.
func (l *ledger) take(rnd *rand.Rand) (some []entrusted, ok bool) {
	for {
		l.mu.Lock()
		if n := len(l.queue); n > 0 {
			n = 1 + rnd.IntN(n)
			some, l.queue = l.queue[:n:n], l.queue[n:]
		}
		closed := l.closed
		l.mu.Unlock()
		if len(some) > 0 || closed {
			return some, len(some) > 0
		}
		time.Sleep(time.Millisecond) // what comes then is more than one
	}
}

// TestRangesMoveBetweenTaps at random, under load: each change goes to the tap that its
// range has at its moment, nobody is shown what its tap has not acknowledged, whichever
// has the range since, no value is parted, and who follows the taps is equal in the end.
func TestRangesMoveBetweenTaps(t *testing.T) {
	rnd := seeded(t)
	s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer s.mustClose(t)
	mirror := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer mirror.mustClose(t)
	mirror.SetActive()
	l := &ledger{handed: map[string]int{}, acked: map[string]map[int]bool{}, owner: map[ring.Token]int{}}
	const taps = 4
	var tap [taps]*Tap
	var receiver [taps]*Receiver
	for i := range taps {
		var ranges []ring.Range
		for n := i; n < retapRows; n += taps {
			ranges = append(ranges, retapRow(n))
			l.owner[retapRow(n).Start] = i
		}
		var err error
		if tap[i], err = s.Tap(l.sink(i), ranges...); err != nil {
			t.Fatal(err)
		}
		receiver[i] = mirror.NewReceiver(ring.Whole)
	}
	var writers, others, last sync.WaitGroup
	var over atomic.Bool
	mirroring := rnd.Uint64()
	last.Go(func() { mirrored(t, l, tap[:], receiver[:], rand.New(rand.NewPCG(mirroring, 1))) })
	for i := range 4 {
		seed := rnd.Uint64()
		writers.Go(func() { scribble(t, s, l, i, rand.New(rand.NewPCG(seed, 1))) })
	}
	seed := rnd.Uint64()
	others.Go(func() { // readers
		rnd := rand.New(rand.NewPCG(seed, 1))
		var wait sync.WaitGroup
		for n := 0; !over.Load(); n++ {
			readNumbered(t, s, l, rnd, &wait)
			if n%32 == 0 {
				time.Sleep(time.Millisecond) // the others are to get on
			}
		}
		wait.Wait()
	})
	others.Go(func() { // who clears
		rnd := rand.New(rand.NewPCG(seed, 3))
		for !over.Load() {
			if err := s.ClearRanges(nil, nil, retapRow(rnd.IntN(retapRows))); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Duration(rnd.IntN(40)) * time.Millisecond)
		}
	})
	others.Go(func() { // who moves
		rnd := rand.New(rand.NewPCG(seed, 2))
		for !over.Load() {
			to := rnd.IntN(taps)
			var moves []Move
			for range 1 + rnd.IntN(4) {
				moves = append(moves, Move{Range: retapRow(rnd.IntN(retapRows)), To: tap[to]})
			}
			if err := s.Retap(moves, nil, func() {
				l.mu.Lock()
				defer l.mu.Unlock()
				for _, m := range moves {
					l.owner[m.Range.Start] = to
				}
			}); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Duration(rnd.IntN(3)) * time.Millisecond)
		}
	})
	writers.Wait()
	over.Store(true)
	others.Wait()
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	last.Wait()
	for _, f := range l.faults {
		t.Error(f)
	}
	for i := range taps {
		tap[i].Close(nil)
		receiver[i].Close() // what it has of values that went on at another is garbage
	}
	mustEqual(t, ring.Whole, s, mirror)
	checkCache(t, mirror)
	sweepAll(t, mirror)
	mirror.collectAll(t)
	if a := mirror.audit(t); a.garbage != 0 {
		t.Errorf("%d values of garbage are left", a.garbage)
	}
}

// TestRetapDoesNotWaitForLongValues that units have begun: the receivers of the tap that has
// the range when the header comes get all of it, and the other one is left with garbage.
func TestRetapDoesNotWaitForLongValues(t *testing.T) {
	const key = "key"
	text := strings.Repeat("0123456789", pieceSize/2)
	for name, turns := range map[string][]int{ // which tap has the range after each part
		"to another":        {1},
		"there and back":    {1, 0},
		"to none":           {-1},
		"to none and back":  {-1, 0},
		"between the parts": {-1, 1, 0, 1},
	} {
		for _, aborts := range []bool{false, true} {
			if testing.Short() && rand.IntN(2) > 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s/aborts=%v", name, aborts), func(t *testing.T) {
				s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
				defer s.mustClose(t)
				var taps [2]*Tap
				var mirrors [2]*Store
				var receivers [2]*Receiver
				owner := 0
				for i := range taps {
					mirrors[i] = openTest(t, memConfig(vfs.NewMem(), FsyncNo))
					defer mirrors[i].mustClose(t)
					receivers[i] = mirrors[i].NewReceiver(ring.Whole)
					var err error
					taps[i], err = s.Tap(func(c Change) {
						if i != owner {
							t.Errorf("tap %d was handed a change of a range that it does not hold", i)
						}
						if _, err := receivers[i].Apply(c.Batch, nil); err != nil {
							t.Error(err)
						}
						taps[i].Acked(c.Number)
					})
					if err != nil {
						t.Fatal(err)
					}
				}
				mustRetap(t, s, nil, Move{Range: ring.Whole, To: taps[0]})
				turn := func(to int) {
					var tap *Tap
					if to >= 0 {
						tap = taps[to]
					}
					if err := s.Retap([]Move{{Range: ring.Whole, To: tap}}, nil, func() { owner = to }); err != nil {
						t.Fatal(err)
					}
				}
				u := s.NewUnit()
				u.Begin(s.now(), []Place{PlaceOf(testToken, []byte(key))})
				v, err := u.Get([]byte(key))
				if err != nil {
					t.Fatal(err)
				}
				if err := u.Construct([]byte(key), &v, Hash, nil, func(set func(sub, value []byte) error) (count, size int64, err error) {
					for i, to := range turns {
						for n := range byte(4) { // of more than stageSize together
							value := []byte(text)
							if err := set([]byte{FieldKind, byte(i), n}, value); err != nil {
								return 0, 0, err
							}
							count++
							size += int64(len(value))
						}
						turn(to)
					}
					return count, size, nil
				}); err != nil {
					t.Fatal(err)
				}
				if aborts {
					u.Abort()
				} else if _, err := u.Commit(nil); err != nil {
					t.Fatal(err)
				}
				for i := range taps {
					taps[i].Close(nil)
					receivers[i].Close()
					if i == owner {
						mustEqual(t, ring.Whole, s, mirrors[i])
					}
					mirrors[i].collectAll(t)
					if a := mirrors[i].audit(t); a.garbage != 0 || i != owner && a.keys != 0 {
						t.Errorf("mirror %d has %d keys, and garbage of %d values", i, a.keys, a.garbage)
					}
				}
			})
		}
	}
}

// mirrored applies what is handed over, some at a time, and acknowledges it later, each
// tap at its own pace.
func mirrored(t *testing.T, l *ledger, taps []*Tap, receivers []*Receiver, rnd *rand.Rand) {
	var all sync.WaitGroup
	defer all.Wait()
	late := make([]chan func(), len(taps))
	for i := range late {
		late[i] = make(chan func(), 1<<12)
		defer close(late[i])
		rnd := rand.New(rand.NewPCG(rnd.Uint64(), 1))
		all.Go(func() {
			for acknowledge := range late[i] {
				time.Sleep(time.Duration(rnd.IntN(5*i+1)) * time.Millisecond) // the first at once
				acknowledge()
			}
		})
	}
	for {
		some, ok := l.take(rnd)
		if !ok {
			return
		}
		for len(some) > 0 {
			n, batches := 0, [][]byte(nil)
			for n < len(some) && some[n].tap == some[0].tap {
				batches = append(batches, some[n].batch)
				n++
			}
			group := some[:n:n]
			some = some[n:]
			if _, err := receivers[group[0].tap].ApplyAll(batches, nil); err != nil {
				t.Error(err)
			}
			acknowledge := func() {
				for _, e := range group {
					l.mu.Lock()
					for i, k := range e.keys {
						if l.acked[k] == nil {
							l.acked[k] = map[int]bool{}
						}
						l.acked[k][e.values[i]] = true
					}
					l.mu.Unlock()
				}
				taps[group[0].tap].Acked(group[n-1].number)
			}
			late[group[0].tap] <- acknowledge
		}
	}
}

// scribble writes keys of its own in units of some.
func scribble(t *testing.T, s *Store, l *ledger, id int, rnd *rand.Rand) {
	numbers := map[string]int{}
	var wait sync.WaitGroup
	defer wait.Wait()
	u := s.NewUnit()
	for n := range lives(300) {
		type write struct {
			key   string
			value int
		}
		var writes []write
		var places []Place
		for range 1 + rnd.IntN(4) {
			k := fmt.Sprintf("w%d:%d", id, rnd.IntN(60))
			if !slices.ContainsFunc(writes, func(w write) bool { return w.key == k }) {
				writes = append(writes, write{k, 0})
				places = append(places, u.Place([]byte(k)))
			}
		}
		u.Begin(s.now(), places)
		for i := range writes {
			w := &writes[i]
			v, err := u.Get([]byte(w.key))
			if err == nil && rnd.IntN(10) == 0 && v.Exists() {
				u.Delete([]byte(w.key), v)
				numbers[w.key]++ // it is handed over, and cannot be told from others that are
				continue
			}
			numbers[w.key]++
			w.value = numbers[w.key]
			value := strconv.Itoa(w.value) + ":"
			if n%20 == 0 && i == 0 {
				value += strings.Repeat("long", rnd.IntN(3*stageSize/2)/4)
			}
			if err == nil {
				err = u.PutString([]byte(w.key), v, []byte(value), 0, false)
			}
			if err != nil {
				t.Error(err)
			}
		}
		wait.Add(1)
		shown := func(err error) {
			if err != nil {
				t.Error(err)
			}
			for _, w := range writes {
				l.shown(w.key, w.value)
			}
			wait.Done()
		}
		if waits, err := u.Commit(settledWith(shown)); err != nil {
			t.Error(err)
		} else if !waits {
			shown(nil)
		}
	}
}

type settledWith func(error)

func (f settledWith) Settled(err error) { f(err) }

// readNumbered reads some key and notes what may be shown.
func readNumbered(t *testing.T, s *Store, l *ledger, rnd *rand.Rand, wait *sync.WaitGroup) {
	u := s.NewUnit()
	u.Begin(s.now(), nil)
	key := fmt.Sprintf("w%d:%d", rnd.IntN(4), rnd.IntN(60))
	v, err := u.Get([]byte(key))
	value := 0
	if err == nil && v.Exists() {
		var b []byte
		if b, err = u.ReadRange([]byte(key), v, 0, min(v.Size, 12), nil); err == nil {
			head, _, _ := strings.Cut(string(b), ":")
			value, err = strconv.Atoi(head)
		}
	}
	if err != nil {
		t.Error(err)
	}
	wait.Add(1)
	shown := func(err error) {
		if err != nil {
			t.Error(err)
		}
		l.shown(key, value)
		wait.Done()
	}
	if waits, err := u.Commit(settledWith(shown)); err != nil {
		t.Error(err)
	} else if !waits {
		shown(nil)
	}
}
