package tap

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/syncqueue"
)

// A Change is what a Tap hands over: that part of one commit which lies in its
// ranges. A [Receiver] of another store applies the batch.
type Change struct {
	// Number grows from change to change of all holding taps of a store, though not by
	// one. A listening tap is given none.
	Number uint64
	// Batch is the receiver's to keep, but not to change, nor to append to.
	Batch []byte
}

// A Tap hands over every change of its ranges, in the order of the commits of each key:
// commands, expiry, Clear, parts of long values as they are written. What one commit
// changed is one change, whatever ranges it lies in.
//
// What a holding tap has handed over is held: the replies of units that wrote or read
// it wait until Acked says that it is wherever it must be. So whoever taps must call
// Acked. A range has one holding tap at most. Nobody waits for a listening tap, of which
// a range may have any number.
type Tap struct {
	reg   *Registry
	sink  func(Change)
	holds bool

	mu     sync.Mutex // serializes calls of a listening tap's sink; a holding one's: handing.mu
	closed bool       // as sink
	last   atomic.Uint64
	pace   atomic.Pointer[func()]

	held acks
}

// Hold returns a holding tap of some ranges: see Store.Tap.
func (r *Registry) Hold(sink func(Change), ranges ...ring.Range) (*Tap, error) {
	t := &Tap{reg: r, sink: sink, holds: true}
	return t, r.change(nil, func(c *cells) error {
		for _, span := range ranges {
			if !c.each(span, func(p *Piece) bool { return p.tap == nil }) {
				return fmt.Errorf("tap %v: %w", span, ErrOverlap)
			}
			c.hold(span, t)
		}
		return nil
	})
}

// A Move gives a range to a holding tap; nil: to none.
type Move struct {
	Range ring.Range
	To    *Tap
}

// Move gives ranges to other holding taps at one moment: see Store.Retap.
func (r *Registry) Move(moves []Move, end []*Tap, at func()) error {
	return r.change(at, func(c *cells) error {
		for _, m := range moves {
			if m.To != nil && (!m.To.holds || m.To.isClosed()) {
				return fmt.Errorf("tap %v: %w", m.Range, ErrClosed)
			}
			c.hold(m.Range, m.To)
		}
		c.forget(end...)
		return nil
	})
}

// Pace has wait called before a unit begins that may write in the tap's ranges, by the
// goroutine of the unit, which holds no latch then. So whoever taps bounds what it is
// handed; what has begun already, and what the store does by itself, does not wait.
func (t *Tap) Pace(wait func()) { t.pace.Store(&wait) }

// Acked says that everything up to a change's number is wherever it must be. It
// may be called from sink, and by any goroutine; a number below an earlier one says
// nothing.
func (t *Tap) Acked(number uint64) { t.held.release(number) }

// Last returns the number of the newest change that was handed over.
func (t *Tap) Last() uint64 { return t.last.Load() }

// Close ends the tap; sink is not called any more when it returns. Replies that it
// holds leave, or with an error fail with that and ErrUnknown. What such an error left
// open in ranges that another tap holds by then is not shown, until they are given to
// no tap, or it is acknowledged after all, or closed again without an error: who reads it
// before fails likewise.
func (t *Tap) Close(err error) {
	if err != nil {
		// First: no reader may see what fails between the end of the tap and its failure.
		t.held.fail(fmt.Errorf("%w: %w", syncqueue.ErrUnknown, err))
	} else {
		t.held.release(^uint64(0))
	}
	_ = t.reg.change(nil, func(c *cells) error {
		c.forget(t)
		return nil
	})
	m := t.handing()
	m.Lock()
	t.closed = true
	m.Unlock()
}

// handing is what serializes calls of sink.
func (t *Tap) handing() *sync.Mutex {
	if t.holds {
		return &t.reg.handing.mu
	}
	return &t.mu
}

func (t *Tap) isClosed() bool {
	m := t.handing()
	m.Lock()
	defer m.Unlock()
	return t.closed
}

// A handing is what all holding taps share when they hand over.
type handing struct {
	mu     sync.Mutex
	number uint64
	slab   []byte // room for batches
}

const (
	// slabSize is how much room for batches is taken at a time, in bytes. It is freed
	// when the last of them is.
	slabSize = 64 << 10
	// slabBatch is the size of the largest batch in it.
	slabBatch = slabSize / 8
)

// keep returns a copy of a batch.
func (h *handing) keep(batch []byte) []byte {
	n := len(batch)
	if n > slabBatch {
		return append(make([]byte, 0, n), batch...)
	}
	if cap(h.slab)-len(h.slab) < n {
		h.slab = make([]byte, 0, slabSize)
	}
	from := len(h.slab)
	h.slab = append(h.slab, batch...)
	return h.slab[from:len(h.slab):len(h.slab)]
}

// Hand passes a copy of a batch on and returns its number; 0 if the tap is a listening
// one or has been closed.
func (t *Tap) Hand(batch []byte) uint64 {
	m := t.handing()
	m.Lock()
	defer m.Unlock()
	switch {
	case t.closed:
		return 0
	case !t.holds:
		t.sink(Change{Batch: append(make([]byte, 0, len(batch)), batch...)})
		return 0
	}
	h := &t.reg.handing
	h.number++
	number := h.number
	t.last.Store(number)
	t.sink(Change{number, h.keep(batch)})
	return number
}

// IsHolding reports whether the tap is a holding one.
func (t *Tap) IsHolding() bool { return t.holds }

// AllAcked reports whether all that was handed over has been acknowledged.
func (t *Tap) AllAcked() bool { return t.held.acked(t.Last()) }
