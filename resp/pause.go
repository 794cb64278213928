package resp

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
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
func (p *pause) applies(cmd *command.Row) bool {
	if !p.active.Load() || cmd == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.active.Load() {
		return false
	}
	if p.all {
		// Unlike in Redis, the way out stays open: AUTH, CLIENT UNPAUSE, INFO, SHUTDOWN and
		// their like run.
		return cmd.Flags&(command.FlagAdmin|command.FlagNoAuth) == 0 && !cmd.AboutClients
	}
	return cmd.MayWrite || cmd.Flags&command.FlagMayReplicate != 0
}

// wait returns when the command may run, or the connection or the server closes.
// Replies to what came before do not wait with it.
//
// What another node forwards has been held back before (see [conn.postponed]), and
// goes on.
func (p *pause) wait(c *conn, cmd *command.Row) {
	if c.from != nil {
		return
	}
	for held := false; p.applies(cmd); held = true {
		if c.flush() != nil {
			return
		}
		if !held {
			c.srv.stats.Paused.Add(1)
			defer c.srv.stats.Paused.Add(-1)
		}
		left, over := p.left()
		if left > 0 && !c.wait(left, over) {
			return
		}
	}
}

// left returns for how long the pause lasts, and what is closed if it ends early. A
// pause whose time has come is over.
func (p *pause) left() (time.Duration, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	left := time.Until(p.until)
	if left <= 0 && p.active.Swap(false) {
		close(p.over)
	}
	return left, p.over
}
