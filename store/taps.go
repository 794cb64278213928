package store

import (
	"time"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/latch"
	"github.com/ringside-kv/ringside/store/internal/tap"
)

// A Tap hands over every change of its ranges, in the order of the commits of each key:
// commands, expiry, Clear, parts of long values as they are written. What one commit
// changed is one change, whatever ranges it lies in.
//
// What a holding tap has handed over is held: the replies of units that wrote or read
// it wait until Acked says that it is acknowledged. A range has one holding tap at most. Nothing
// waits for a listening tap, of which a range may have any number.
type Tap = tap.Tap

// A Change is what a Tap hands over: that part of one commit which lies in its ranges.
type Change = tap.Change

// A Move gives a range to a holding tap; nil: to none.
type Move = tap.Move

// Tap returns a holding tap of some ranges, which no other may hold: ErrOverlap. Without
// any it has none until [Store.Retap]. Every commit that begins after Tap returns is
// handed over; of those before, none.
//
// sink is called for one change of all holding taps at a time, after the change can be
// seen by other units and before any reply that tells of it may leave, by whoever
// commits, with the latches of the keys held. It must not block nor call the store,
// except for Acked: what is under way is limited before a unit begins.
func (s *Store) Tap(sink func(Change), ranges ...ring.Range) (*Tap, error) {
	return s.taps.Hold(sink, ranges...)
}

// ListenEach returns a listening tap for each range, all made at one moment, which is far cheaper than
// one after the other. sink is called with the index of the range, for one change of a tap at a time,
// whatever those of other taps do.
func (s *Store) ListenEach(ranges []ring.Range, sink func(i int, c Change)) []*Tap {
	return s.taps.ListenEach(ranges, sink)
}

// CloseTaps ends taps of one store without an error, as [Tap.Close] does, all at one moment.
func CloseTaps(taps []*Tap) { tap.CloseAll(taps) }

// Retap gives ranges to other holding taps than before, in order if they overlap, and
// takes all theirs from listening ones that end, at one moment in which at is called:
// no commit lies within. at must not block nor call the store, except for Acked.
//
// Of a long value under way, whose first parts have been handed to another tap, the new one
// is handed all parts before the header.
//
// What was handed over before stays held by the tap that it was handed to. With an error, ErrClosed for a tap that has been closed,
// nothing has changed and at was not called.
func (s *Store) Retap(moves []Move, end []*Tap, at func()) error { return s.taps.Move(moves, end, at) }

// heldAcks is what a unit's replies wait for beside their durability: the word of taps.
type heldAcks struct {
	u *Unit
	// unacked is what the unit has read, or written, that a Tap holds.
	unacked tap.Seen
	// skipsAcks and ignoresReads: see SkipAcks and IgnoreReads.
	skipsAcks, ignoresReads bool
}

// noteUnacked notes that something at p was read under the latch l, which names the newest
// change that it may stem from. A change under the same latch in another range is
// taken for one: that only waits longer.
func (a *heldAcks) noteUnacked(taps *tap.Set, l *latch.Latch, p Place) {
	number := l.LastTapped()
	if number == 0 || a.u.following || a.skipsAcks && a.ignoresReads {
		return
	}
	a.unacked.See(taps, p.Token(), number)
}

// noteHandedOver notes that the unit's own change was handed over, or was not, since the
// tap has been closed.
func (a *heldAcks) noteHandedOver(tap *Tap, number uint64) {
	if number == 0 {
		a.unacked.Add(tap, ^uint64(0))
		return
	}
	if !a.skipsAcks {
		a.unacked.Add(tap, number)
	}
	for _, n := range a.u.latched {
		l := &a.u.s.latches[n]
		l.NoteTapped(number)
	}
}

// isHeld reports whether a tap holds the unit's replies.
func (a *heldAcks) isHeld() bool { return a.unacked.Held() }

// EachAwaited calls visit for each tap whose acknowledgement the unit's replies have waited for, with the number of
// the newest change.
func (a *heldAcks) EachAwaited(visit func(tap *Tap, number uint64)) { a.unacked.Each(visit) }

// awaitAcks returns what the sync queue is given in place of w: it passes its word on when
// the taps have given theirs.
func (a *heldAcks) awaitAcks(w Waiter) Waiter {
	if w == nil || !a.isHeld() {
		return w
	}
	return a.unacked.Gate(w)
}

// SkipAcks says whether replies to the unit's changes leave without the word of the holding
// taps that these were handed to, once they are durable here. What the unit has read is
// waited for all the same, and so does everybody else wait who reads what it wrote. It
// holds until the next call.
func (a *heldAcks) SkipAcks(on bool) { a.skipsAcks = on }

// IgnoreReads says that what is read from here on is not told, nor anything that follows from
// it: where the unit is early, nothing is waited for on its account. It holds until the
// next call, or the next Begin.
func (a *heldAcks) IgnoreReads(on bool) { a.ignoresReads = on }

// AwaitAcks tells w once all that was handed over of some ranges so far, by holding taps, has
// been acknowledged, with an error that wraps ErrUnknown if a tap was closed before that.
// It may do so at once.
func (s *Store) AwaitAcks(w Waiter, ranges ...ring.Range) {
	var open tap.Seen
	if taps := s.taps.Current(); taps != nil && len(ranges) > 0 {
		open.SeeAll(taps, ranges)
	}
	open.Gate(w).Settled(nil)
}

// FailUnacked fails all replies that a tap has held for longer than a limit, with ErrUnacked. Call it
// periodically; the limit is only as precise as the interval.
func (s *Store) FailUnacked(limit time.Duration) { s.taps.FailUnacked(limit) }
