package result

import (
	"sync"
	"sync/atomic"
	"time"
)

// maxFailing is how many keys are followed at a time that cannot be used. Of more, those
// that failed first are, which have the longest pauses.
const maxFailing = 1 << 16

// A pause is a time in which somebody wanted a key and could not use it. Of times in which
// nobody asked for it nobody knows: operations that failed one after the other are one
// pause, up to the end of the last of them, and of that which did not if it was on its way
// by then.
type pause struct {
	key         int64
	from, until time.Duration
}

func (p pause) length() time.Duration { return p.until - p.from }

// widen makes it the longer of the two.
func (p *pause) widen(o pause) {
	if o.length() > p.length() {
		*p = o
	}
}

// failing knows since when keys cannot be used. The usual run has none, and then it costs a
// look at a number.
type failing struct {
	n     atomic.Int64
	mu    sync.Mutex
	since map[int64]streak
}

// A streak is operations on a key that failed one after the other.
type streak struct {
	first time.Duration // when the first was sent
	last  time.Duration // when the last ended
}

// note takes in an operation that has ended, and returns the longest pause that ended with
// it: the operation itself was one.
func (f *failing) note(op *Op, end time.Duration) pause {
	switch {
	case len(op.Keys) == 0:
		return pause{}
	case op.Outcome == Refused || op.Outcome == Unknown:
		f.fail(op, end)
		return pause{}
	}
	p := pause{op.Keys[0], op.Sent, end}
	if f.n.Load() == 0 {
		return p
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, key := range op.Keys {
		if s, ok := f.since[key]; ok {
			delete(f.since, key)
			if op.Sent <= s.last {
				s.last = end
			}
			p.widen(pause{key, s.first, s.last})
		}
	}
	f.n.Store(int64(len(f.since)))
	return p
}

func (f *failing) fail(op *Op, end time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, key := range op.Keys {
		s, ok := f.since[key]
		if !ok {
			if len(f.since) >= maxFailing {
				continue
			}
			s.first = op.Sent
		}
		s.last = max(s.last, end)
		f.since[key] = s
	}
	f.n.Store(int64(len(f.since)))
}

// end is the longest pause that has not ended.
func (f *failing) end() (p pause) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key, s := range f.since {
		p.widen(pause{key, s.first, s.last})
	}
	return p
}
