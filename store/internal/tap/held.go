package tap

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/syncqueue"
)

// A change is something that a unit wrote, or may have read, and that leaves no
// sooner than its tap has been told that it may.
type change struct {
	tap    *Tap
	number uint64
}

// A heldReply waits for the sync queue and for taps; the last of them tells its waiter.
type heldReply struct {
	waiter syncqueue.Waiter
	left   atomic.Int32
	mu     sync.Mutex
	err    error
}

// Settled implements Waiter.
func (g *heldReply) Settled(err error) {
	if err != nil {
		g.mu.Lock()
		g.err = errors.Join(g.err, err)
		g.mu.Unlock()
	}
	if g.left.Add(-1) == 0 {
		g.waiter.Settled(g.err)
	}
}

// A acks is what waits for one tap.
type acks struct {
	upTo atomic.Uint64 // what has been acknowledged

	mu      sync.Mutex
	waiting []heldWaiter // by number
	err     error        // once the tap has been closed with one
}

func (h *acks) acked(number uint64) bool { return h.upTo.Load() >= number }

// failed reports whether the tap has been closed with an error.
func (h *acks) failed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err != nil
}

// wait lets w be told when a number has been acknowledged. If it has been, or never
// will be, wait says so instead.
func (h *acks) wait(number uint64, w syncqueue.Waiter) (waits bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.acked(number) {
		return false, nil
	}
	if h.err != nil {
		return false, h.err
	}
	// Most come in the order of their numbers, or nearly.
	h.waiting = append(h.waiting, heldWaiter{number, w, time.Now()})
	for i := len(h.waiting) - 1; i > 0 && h.waiting[i-1].number > number; i-- {
		h.waiting[i-1], h.waiting[i] = h.waiting[i], h.waiting[i-1]
	}
	return true, nil
}

// release acknowledges everything up to a number.
func (h *acks) release(number uint64) {
	var room [16]syncqueue.Waiter
	h.mu.Lock()
	if number > h.upTo.Load() {
		h.upTo.Store(number)
	}
	free := h.take(number, room[:0])
	h.mu.Unlock()
	for _, w := range free {
		w.Settled(nil)
	}
}

// fail lets all that is not acknowledged fail, now and until it is.
func (h *acks) fail(err error) {
	h.mu.Lock()
	if h.err == nil {
		h.err = err
	}
	free := h.take(^uint64(0), nil)
	h.mu.Unlock()
	for _, w := range free {
		w.Settled(err)
	}
}

// take removes the waiters for numbers up to one, and appends them to free.
func (h *acks) take(number uint64, free []syncqueue.Waiter) []syncqueue.Waiter {
	n := 0
	for n < len(h.waiting) && h.waiting[n].number <= number {
		free = append(free, h.waiting[n].waiter)
		n++
	}
	if n > 0 {
		h.waiting = slices.Delete(h.waiting, 0, n)
	}
	return free
}

type heldWaiter struct {
	number uint64
	waiter syncqueue.Waiter
	since  time.Time
}

// Seen are what a unit wrote or may have read, one for each tap: the newest.
type Seen []change

// Add notes a change.
func (sc *Seen) Add(tap *Tap, number uint64) {
	for i := range *sc {
		if h := &(*sc)[i]; h.tap == tap {
			h.number = max(h.number, number)
			return
		}
	}
	*sc = append(*sc, change{tap, number})
}

// See notes what may have been read at a token where the newest change has a number.
func (sc *Seen) See(ts *Set, t ring.Token, number uint64) {
	piece := ts.Find(t)
	if piece == nil {
		return
	}
	if tap := piece.tap; tap != nil {
		// What another tap was handed later has no acknowledgement here.
		if n := min(number, tap.last.Load()); !tap.held.acked(n) {
			sc.Add(tap, n)
		}
	}
	for _, o := range piece.open {
		if n := min(number, o.number); !o.tap.held.acked(n) {
			sc.Add(o.tap, n)
		}
	}
}

// SeeAll notes all that was handed over of some ranges, or of all with none.
func (sc *Seen) SeeAll(ts *Set, ranges []ring.Range) {
	for i := range ts.pieces {
		p := &ts.pieces[i]
		if len(ranges) > 0 && !slices.ContainsFunc(ranges, p.overlaps) {
			continue
		}
		if p.tap != nil {
			sc.Add(p.tap, p.tap.last.Load())
		}
		for _, o := range p.open {
			sc.Add(o.tap, o.number)
		}
	}
}

// Each calls visit for each of them.
func (sc Seen) Each(visit func(tap *Tap, number uint64)) {
	for _, h := range sc {
		visit(h.tap, h.number)
	}
}

// Held reports whether one of them has not been acknowledged.
func (sc Seen) Held() bool {
	for _, h := range sc {
		if !h.tap.held.acked(h.number) {
			return true
		}
	}
	return false
}

// Gate returns a waiter that tells w once it is told itself and all changes are acknowledged.
func (sc Seen) Gate(w syncqueue.Waiter) syncqueue.Waiter {
	g := &heldReply{waiter: w}
	g.left.Store(int32(1 + len(sc))) // one is that of the sync queue
	for _, h := range sc {
		if waits, err := h.tap.held.wait(h.number, g); !waits {
			g.Settled(err)
		}
	}
	return g
}

func (p *Piece) overlaps(r ring.Range) bool {
	return slices.ContainsFunc(layout.PiecesOf(r), func(st layout.Interval) bool { return st.First <= p.Last && st.Last >= p.First })
}

// giveUp fails the waiters that have waited since before a time.
func (h *acks) giveUp(before time.Time) {
	var late []syncqueue.Waiter
	h.mu.Lock()
	h.waiting = slices.DeleteFunc(h.waiting, func(w heldWaiter) bool {
		if w.since.Before(before) {
			late = append(late, w.waiter)
			return true
		}
		return false
	})
	h.mu.Unlock()
	for _, w := range late {
		w.Settled(ErrUnacked)
	}
}
