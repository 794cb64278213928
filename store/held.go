package store

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/store/internal/latch"
)

// A heldChange is something that a unit wrote, or may have read, and that leaves no
// sooner than its tap has been told that it may.
type heldChange struct {
	tap    *Tap
	number uint64
}

// see notes that something at p was read under the latch l, which names the newest
// change that it may stem from. A change under the same latch in another range is
// taken for one: that only waits longer.
func (u *Unit) see(ts *tapSet, l *latch.Latch, p Place) {
	number := l.LastTapped()
	if number == 0 || u.following || u.early && u.blind {
		return
	}
	piece := ts.find(p.Token())
	if piece == nil {
		return
	}
	if tap := piece.tap; tap != nil {
		// What another tap was handed later has no acknowledgement here.
		if n := min(number, tap.last.Load()); !tap.held.acked(n) {
			u.addSeen(tap, n)
		}
	}
	for _, o := range piece.open {
		if n := min(number, o.number); !o.tap.held.acked(n) {
			u.addSeen(o.tap, n)
		}
	}
}

func (u *Unit) addSeen(tap *Tap, number uint64) {
	for i := range u.seen {
		if h := &u.seen[i]; h.tap == tap {
			h.number = max(h.number, number)
			return
		}
	}
	u.seen = append(u.seen, heldChange{tap, number})
}

// handed notes that the unit's own change was handed over, or was not, since the
// tap has been closed.
func (u *Unit) handed(tap *Tap, number uint64) {
	if number == 0 {
		u.addSeen(tap, ^uint64(0))
		return
	}
	if !u.early {
		u.addSeen(tap, number)
	}
	for _, n := range u.latched {
		l := &u.s.latches[n]
		l.NoteTapped(number)
	}
}

// held reports whether a tap holds the unit's replies.
func (u *Unit) held() bool {
	for _, h := range u.seen {
		if !h.tap.held.acked(h.number) {
			return true
		}
	}
	return false
}

// gated returns what the sync queue is given in place of w: it passes its word on when
// the taps have given theirs.
func (u *Unit) gated(w Waiter) Waiter {
	if w == nil || !u.held() {
		return w
	}
	return gate(w, u.seen)
}

func gate(w Waiter, seen []heldChange) Waiter {
	g := &heldReply{waiter: w}
	g.left.Store(int32(1 + len(seen))) // one is the sync queue's
	for _, h := range seen {
		if waits, err := h.tap.held.wait(h.number, g); !waits {
			g.Settled(err)
		}
	}
	return g
}

// A heldReply waits for the sync queue and for taps; the last of them tells its waiter.
type heldReply struct {
	waiter Waiter
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

// A holding is what waits for one tap.
type holding struct {
	upTo atomic.Uint64 // what has been acknowledged

	mu      sync.Mutex
	waiting []heldWaiter // by number
	err     error        // once the tap has been closed with one
}

func (h *holding) acked(number uint64) bool { return h.upTo.Load() >= number }

// failed reports whether the tap has been closed with an error.
func (h *holding) failed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err != nil
}

// wait lets w be told when a number has been acknowledged. If it has been, or never
// will be, wait says so instead.
func (h *holding) wait(number uint64, w Waiter) (waits bool, err error) {
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
func (h *holding) release(number uint64) {
	var room [16]Waiter
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
func (h *holding) fail(err error) {
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

// take removes those who wait for numbers up to one, and appends them to free.
func (h *holding) take(number uint64, free []Waiter) []Waiter {
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
	waiter Waiter
	since  time.Time
}
