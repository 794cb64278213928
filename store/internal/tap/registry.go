package tap

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// A Registry is the taps of a store.
type Registry struct {
	// commits is held for reading by each commit, from the look at the taps until the change has
	// been handed over; the registry locks it to change the taps.
	commits *sync.RWMutex
	set     atomic.Pointer[Set] // nil when there are none

	mu      sync.Mutex // serializes changes
	turn    uint64     // number of the last change; guarded by mu
	handing handing
}

// SetCommits says which lock commits hold for reading. It is called before all else.
func (r *Registry) SetCommits(commits *sync.RWMutex) { r.commits = commits }

// Current returns all taps, nil if there are none. They do not change while commits is held.
func (r *Registry) Current() *Set { return r.set.Load() }

// Holder returns the tap that holds a place. It does not change while commits is held.
func (r *Registry) Holder(p layout.Place) (h Holder) {
	if taps := r.set.Load(); taps != nil {
		if piece := taps.Find(p.Token()); piece != nil {
			h = piece.Holder()
		}
	}
	return h
}

// ListenEach returns a listening tap for each range, all made at one moment. sink is called with the
// index of the range.
func (r *Registry) ListenEach(ranges []ring.Range, sink func(i int, c Change)) (taps []*Tap) {
	_ = r.change(nil, func(c *cells) error {
		for i, span := range ranges {
			t := &Tap{reg: r, sink: func(c Change) { sink(i, c) }}
			taps = append(taps, t)
			c.listen(span, t)
		}
		return nil
	})
	return taps
}

// CloseAll ends taps of one registry without an error, as [Tap.Close] does, all at one moment.
func CloseAll(taps []*Tap) {
	if len(taps) == 0 {
		return
	}
	for _, t := range taps {
		t.held.release(^uint64(0))
	}
	_ = taps[0].reg.change(nil, func(c *cells) error {
		c.forget(taps...)
		return nil
	})
	for _, t := range taps {
		m := t.handing()
		m.Lock()
		t.closed = true
		m.Unlock()
	}
}

// FailUnacked fails all replies that a tap has held for longer than a limit.
func (r *Registry) FailUnacked(limit time.Duration) {
	set := r.set.Load()
	if set == nil {
		return
	}
	taps := set.All()
	for i := range set.pieces {
		for _, o := range set.pieces[i].open {
			if !slices.Contains(taps, o.tap) {
				taps = append(taps, o.tap)
			}
		}
	}
	before := time.Now().Add(-limit)
	for _, t := range taps {
		t.held.giveUp(before)
	}
}

// A Holder is the tap that holds a place, if there is one, and since when: one that was given
// the place again is another holder.
type Holder struct {
	Tap   *Tap
	since uint64 // the change of taps, see tapCells
}
