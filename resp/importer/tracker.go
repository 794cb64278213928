package importer

import (
	"context"
	"sync"
	"time"
)

// A place is a key of the source.
type place struct {
	database int
	key      string
}

// A tracker knows which keys have changed at the source and have not been read again, and so up to where
// the stream of the source has been applied. Its methods may be called from any number of goroutines; touch
// and advance are for the one that reads the stream.
//
// Invariant: marks lie in the list in the order of their offsets, since each is added when its change is
// read. So the first one is where the stream has to be read again from after a crash.
type tracker struct {
	most int // keys

	mu          sync.Mutex
	filled      *sync.Cond // ready has got a key
	emptied     *sync.Cond // keys has lost one
	keys        map[place]*tracked
	ready       []*tracked // to be taken, from head on
	head        int
	first, last *mark
	marks       uint64   // made so far
	at          position // of what comes next in the stream
}

// A position is one in the stream of the source: the offset, and the database in which the next command works.
type position struct {
	offset   int64
	database int
}

// A mark is a change that has not been applied: the position before it, and when it was read.
type mark struct {
	position
	when       time.Time
	number     uint64 // 1 for the first
	prev, next *mark
}

// A tracked key has changed. While it is being read again it may change once more.
type tracked struct {
	place
	mark  *mark
	again *mark // of the first change since it was taken
	taken bool
}

func newTracker(most int) *tracker {
	t := &tracker{most: most, keys: make(map[place]*tracked)}
	t.filled, t.emptied = sync.NewCond(&t.mu), sync.NewCond(&t.mu)
	return t
}

// wait waits under the lock until something holds. cond tells when to look again.
func (t *tracker) wait(ctx context.Context, cond *sync.Cond, holds func() bool) error {
	if holds() {
		return nil
	}
	stop := context.AfterFunc(ctx, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		cond.Broadcast()
	})
	defer stop()
	for !holds() {
		if ctx.Err() != nil {
			cond.Broadcast() // another one may have been meant
			return context.Cause(ctx)
		}
		cond.Wait()
	}
	return nil
}

// begin sets the position. Nothing is tracked.
func (t *tracker) begin(at position) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at = at
}

// advance says that all before a position has been read, and its keys touched.
func (t *tracker) advance(at position) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at = at
}

// touch notes that the command at the present position changes a key. It waits while there are too many.
func (t *tracker) touch(ctx context.Context, database int, key []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.keys[place{database, string(key)}]
	if k == nil {
		if len(t.keys) >= t.most {
			if err := t.wait(ctx, t.emptied, func() bool { return len(t.keys) < t.most }); err != nil {
				return err
			}
		}
		k = &tracked{place: place{database, string(key)}, mark: t.addMark()}
		t.keys[k.place] = k
		t.ready = append(t.ready, k)
		t.filled.Signal()
	} else if k.taken && k.again == nil {
		k.again = t.addMark()
	}
	return nil
}

func (t *tracker) addMark() *mark {
	t.marks++
	m := &mark{position: t.at, when: time.Now(), number: t.marks, prev: t.last}
	if t.last == nil {
		t.first = m
	} else {
		t.last.next = m
	}
	t.last = m
	return m
}

func (t *tracker) dropMark(m *mark) {
	if m.prev == nil {
		t.first = m.next
	} else {
		m.prev.next = m.next
	}
	if m.next == nil {
		t.last = m.prev
	} else {
		m.next.prev = m.prev
	}
}

// take waits for keys of one database, at most n, and takes them. Nobody else gets them until they are done.
func (t *tracker) take(ctx context.Context, n int, into []*tracked) ([]*tracked, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.wait(ctx, t.filled, func() bool { return t.head < len(t.ready) }); err != nil {
		return nil, err
	}
	into = into[:0]
	for t.head < len(t.ready) && len(into) < n {
		k := t.ready[t.head]
		if len(into) > 0 && k.database != into[0].database {
			break
		}
		k.taken = true
		into = append(into, k)
		t.ready[t.head] = nil
		t.head++
	}
	if t.head == len(t.ready) || t.head > 1<<16 {
		t.ready = append(t.ready[:0], t.ready[t.head:]...)
		t.head = 0
	}
	return into, nil
}

// done says that the target has acknowledged what the keys were when they had been taken.
func (t *tracker) done(keys []*tracked) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range keys {
		t.dropMark(k.mark)
		if k.again == nil {
			delete(t.keys, k.place)
			continue
		}
		k.mark, k.again, k.taken = k.again, nil, false
		t.ready = append(t.ready, k)
		t.filled.Signal()
	}
	t.emptied.Broadcast()
}

// drain waits until all that has been touched before has been applied. It does not wait for what is touched
// meanwhile.
func (t *tracker) drain(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := t.marks
	return t.wait(ctx, t.emptied, func() bool { return t.first == nil || t.first.number > last })
}

// A lag is how far the target is behind what has been read of the stream.
type lag struct {
	received position
	applied  position // all before it has been applied
	keys     int
	oldest   time.Time // zero: nothing waits
}

func (t *tracker) lag() lag {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := lag{received: t.at, applied: t.at, keys: len(t.keys)}
	if t.first != nil {
		l.applied, l.oldest = t.first.position, t.first.when
	}
	return l
}
