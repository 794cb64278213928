package pause

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
)

// A Pause holds commands back. Its methods may be called from any goroutine.
type Pause struct {
	active atomic.Bool
	mu     sync.Mutex
	until  time.Time
	all    bool          // not only writes
	over   chan struct{} // closed by the end of the pause
	ended  bool          // the server closes
}

// Init has to be called first.
func (p *Pause) Init() {
	p.over = make(chan struct{})
	close(p.over)
}

// Start pauses until then; a pause that is under way is never shortened.
func (p *Pause) Start(until time.Time, all bool) {
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

// Finish ends the pause.
func (p *Pause) Finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.active.Swap(false) {
		close(p.over)
	}
}

// End ends the pause, for good.
func (p *Pause) End() {
	p.Finish()
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
}

// Active reports whether there is a pause at all.
func (p *Pause) Active() bool { return p.active.Load() }

// Applies reports whether a command is held back now.
func (p *Pause) Applies(cmd *command.Row) bool {
	if !p.active.Load() || cmd == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.active.Load() {
		return false
	}
	if p.all {
		// Unlike in Redis, the way out stays open: AUTH, CLIENT UNPAUSE, SHUTDOWN and
		// their like run.
		return cmd.Flags&(command.FlagAdmin|command.FlagNoAuth) == 0 && !cmd.AboutClients
	}
	return cmd.MayWrite || cmd.Flags&command.FlagMayReplicate != 0
}

// Left returns for how long the pause lasts, and what is closed if it ends early. A
// pause whose time has come is over.
func (p *Pause) Left() (time.Duration, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	left := time.Until(p.until)
	if left <= 0 && p.active.Swap(false) {
		close(p.over)
	}
	return left, p.over
}
