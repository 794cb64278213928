package result

import (
	"sync"
	"sync/atomic"
	"time"
)

// maxFailing is how many keys are followed at a time that cannot be used. Of more, those
// that failed first are, which have the longest pauses.
const maxFailing = 1 << 16

// A pause is a time in which a key was wanted and could not be used. Nothing is known of times in
// which no client asked for it: operations that failed one after the other are one pause, up to
// the end of the last of them, and of that which did not if it was due by then. A client whose
// operations fail one after the other has a pause, too, whichever keys it asked for: among many
// keys, none may be asked for twice while a server is away.
type pause struct {
	key         int64 // of the first operation
	from, until time.Duration
}

func (p pause) length() time.Duration { return p.until - p.from }

// widen makes it the longer of the two.
func (p *pause) widen(o pause) {
	if o.length() > p.length() {
		*p = o
	}
}

// with is the pause after one more operation has ended.
func (p pause) with(op *Op, end time.Duration) pause {
	if op.Outcome.unserved() || op.Begin <= p.until {
		p.until = max(p.until, end)
	}
	return p
}

// failing knows since when keys cannot be used. The usual run has none, and then it costs a
// look at a number.
type failing struct {
	n     atomic.Int64
	mu    sync.Mutex
	since map[int64]pause // so far
}

// note takes in an operation that has ended, and returns the longest pause of its keys so far: the
// operation itself is one.
func (f *failing) note(op *Op, end time.Duration) pause {
	if len(op.Keys) == 0 {
		return pause{}
	}
	longest, fails := pause{op.Keys[0], op.Begin, end}, op.Outcome.unserved()
	if !fails && f.n.Load() == 0 {
		return longest
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, key := range op.Keys {
		p, ok := f.since[key]
		if !ok {
			p = pause{key, op.Begin, end}
		}
		p = p.with(op, end)
		longest.widen(p)
		switch {
		case !fails:
			delete(f.since, key)
		case ok || len(f.since) < maxFailing:
			f.since[key] = p
		}
	}
	f.n.Store(int64(len(f.since)))
	return longest
}
