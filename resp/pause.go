package resp

import (
	"sync"
	"sync/atomic"
	"time"
)

// pause holds commands back: CLIENT PAUSE.
type pause struct {
	active atomic.Bool
	mu     sync.Mutex
	until  time.Time
	all    bool          // not only writes
	over   chan struct{} // closed by the end of the pause
	ended  bool          // the server closes
}

func (p *pause) init() {
	p.over = make(chan struct{})
	close(p.over)
}

// start pauses until then; a pause that is under way is never shortened.
func (p *pause) start(until time.Time, all bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	if p.active.Load() {
		all = all || p.all
		if until.Before(p.until) {
			until = p.until
		}
	} else {
		p.over = make(chan struct{})
	}
	p.until, p.all = until, all
	p.active.Store(true)
}

// finish ends the pause.
func (p *pause) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.active.Swap(false) {
		close(p.over)
	}
}

func (p *pause) end() {
	p.finish()
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
}

// applies reports whether a command is held back now.
func (p *pause) applies(cmd *command) bool {
	if !p.active.Load() || cmd == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.active.Load() {
		return false
	}
	if p.all {
		// The way out must stay open.
		return cmd.flags&flagAdmin == 0 && cmd.group != "connection"
	}
	return cmd.flags&(flagWrite|flagMayReplicate) != 0
}

// wait returns when the command may run, or the connection is closed.
func (p *pause) wait(c *conn, cmd *command) {
	for p.applies(cmd) && !c.closed.Load() {
		p.mu.Lock()
		left, over := time.Until(p.until), p.over
		p.mu.Unlock()
		if left <= 0 {
			p.finish()
			return
		}
		timer := time.NewTimer(left)
		select {
		case <-over:
		case <-timer.C:
		case <-c.srv.stop:
		}
		timer.Stop()
	}
}
