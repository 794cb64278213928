package result

import (
	"sync"
	"time"
)

// maxShards is how many recorders have memory of their own. Clients beyond that share it
// with others, so that as many as there may be do not take gigabytes.
const maxShards = 64

// A Recorder takes what one client saw. It belongs to one goroutine; those of different
// clients rarely meet.
type Recorder struct {
	s      *Series
	shard  *shard
	failed pause // the last operations, one after the other; zero: the last did not fail
}

// A shard is what some clients saw that is not in the series yet: of one window, and of one
// phase.
type shard struct {
	mu     sync.Mutex
	window window
	at     int64 // which window
	phase  phase
	number int // which phase
}

// Add takes operations that ended at one time.
func (r *Recorder) Add(end time.Duration, ops []Op) {
	s, d := r.s, r.shard
	d.mu.Lock()
	defer d.mu.Unlock()
	if at := int64(end / s.cfg.Window); at != d.at {
		s.takeWindow(d)
		d.at = at
	}
	if number := int(s.phase.Load()); number != d.number {
		s.takePhase(d)
		d.number = number
	}
	for i := range ops {
		op := &ops[i]
		d.window.counts.add(op)
		d.phase.counts.add(op)
		c := &d.phase.commands[op.Command]
		c.operations++
		if op.Outcome.Failed() {
			c.failed++
		}
		// A quick refusal says nothing of how long service takes; somebody who waits in
		// vain does wait.
		if !op.Outcome.Failed() || !op.Answered {
			v := micros(end - op.Begin)
			d.window.latency.add(v, 1)
			c.latency.add(v, 1)
			if s.cfg.Open {
				d.phase.service.add(micros(end-op.Sent), 1)
			}
		}
		p := s.failing.note(op, end)
		p.widen(r.note(op, end))
		d.window.counts.pause.widen(p)
		d.phase.counts.pause.widen(p)
	}
}

// note takes in an operation of the client, and returns the pause of the client so far, zero if it has none.
func (r *Recorder) note(op *Op, end time.Duration) pause {
	fails := op.Outcome.unserved()
	if r.failed == (pause{}) && fails && len(op.Keys) > 0 {
		r.failed = pause{op.Keys[0], op.Begin, end}
	}
	if r.failed == (pause{}) {
		return pause{}
	}
	p := r.failed.with(op, end)
	if r.failed = p; !fails {
		r.failed = pause{}
	}
	return p
}
