package series

import (
	"sync"
	"sync/atomic"
	"time"
)

// maxFailing is how many keys are followed at a time that cannot be used. Of more, those
// that failed first are, which have the longest pauses.
const maxFailing = 1 << 16

// A pause is a time in which somebody waited until a key could be used.
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
	since map[int64]time.Duration
}

// note takes in an operation that has ended, and returns the longest pause that ended with
// it: the operation itself was one.
func (f *failing) note(op *Op, end time.Duration) pause {
	switch {
	case len(op.Keys) == 0:
		return pause{}
	case op.Outcome == Refused || op.Outcome == Unknown:
		f.fail(op)
		return pause{}
	}
	p := pause{op.Keys[0], op.Sent, end}
	if f.n.Load() == 0 {
		return p
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, key := range op.Keys {
		if since, ok := f.since[key]; ok {
			delete(f.since, key)
			p.widen(pause{key, since, end})
		}
	}
	f.n.Store(int64(len(f.since)))
	return p
}

func (f *failing) fail(op *Op) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, key := range op.Keys {
		if _, ok := f.since[key]; !ok && len(f.since) < maxFailing {
			f.since[key] = op.Sent
		}
	}
	f.n.Store(int64(len(f.since)))
}

// end is the longest pause that has not ended by then.
func (f *failing) end(at time.Duration) (p pause) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key, since := range f.since {
		p.widen(pause{key, since, at})
	}
	return p
}
