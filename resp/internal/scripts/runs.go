package scripts

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/script"
	"github.com/ringside-kv/ringside/store"
)

// Runs are the scripts that run on a server. The zero value has none. Any goroutine may use it.
type Runs struct {
	mu    sync.Mutex // guards what follows, and what is said so of runs
	runs  map[*Run]struct{}
	free  []*script.Runtime
	ended bool
	// overdue is how many scripts have run for longer than Look was told.
	overdue atomic.Int32
}

// A Run is a script that runs.
type Run struct {
	// Runtime runs it.
	Runtime *script.Runtime
	// Wrote: it has called a command that writes.
	Wrote atomic.Bool
	// Broken: its runtime cannot be used again. The goroutine of the run sets it.
	Broken bool

	start  time.Duration
	owner  any
	cause  error         // why it was stopped; under Runs.mu
	places []store.Place // whose latches it holds
	every  bool
	late   bool // under Runs.mu
}

// Why scripts were stopped.
const (
	ErrKilled command.ReplyError = "ERR Script killed by user with SCRIPT KILL."
	ErrEnd    command.ReplyError = "UNKNOWN the server closes: the script was ended"
	ErrGone   command.ReplyError = "ERR the client has gone: its script was ended"
)

const (
	// MsgBusy refuses a request that would have to wait for a script which has run for too long.
	MsgBusy = "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."
	// MsgNotBusy is the reply of SCRIPT KILL if there is no script to end.
	MsgNotBusy = "NOTBUSY No scripts in execution right now."
)

const keepRuntimes = 16

// stop ends the script. The caller holds Runs.mu.
func (run *Run) stop(cause error) {
	if run.cause == nil {
		run.cause = cause
		run.Runtime.Stop(cause)
	}
}

// Begin notes that a script runs since now, which is on the server's clock, for an owner with the latches of
// some places, or of every one. Its runtime lets it take memory bytes.
func (s *Runs) Begin(now time.Duration, owner any, places []store.Place, every bool, memory int64) *Run {
	run := &Run{start: now, owner: owner, places: slices.Clone(places), every: every}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.free); n > 0 {
		run.Runtime = s.free[n-1]
		s.free = s.free[:n-1]
	} else {
		run.Runtime = script.NewRuntime()
	}
	// Nobody else knows the runtime: a Stop that was meant for another run cannot follow.
	run.Runtime.Begin(int(memory))
	if s.runs == nil {
		s.runs = make(map[*Run]struct{})
	}
	s.runs[run] = struct{}{}
	if s.ended {
		run.stop(ErrEnd)
	}
	return run
}

// Cause returns why a run was stopped, or nil.
func (s *Runs) Cause(run *Run) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return run.cause
}

// Done ends a run and takes the runtime back.
func (s *Runs) Done(run *Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.runs, run)
	if run.late {
		s.overdue.Add(-1)
	}
	if !run.Broken && len(s.free) < keepRuntimes && !s.ended {
		s.free = append(s.free, run.Runtime)
	}
}

// Leave ends the scripts of an owner that has gone.
func (s *Runs) Leave(owner any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for run := range s.runs {
		if run.owner == owner {
			run.stop(ErrGone)
		}
	}
}

// Look notes which scripts have run for longer than most; 0: none has.
func (s *Runs) Look(now, most time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for run := range s.runs {
		if !run.late && most > 0 && now-run.start > most {
			run.late = true
			s.overdue.Add(1)
		}
	}
}

// Overdue returns how many scripts have run for too long, as Look found.
func (s *Runs) Overdue() int { return int(s.overdue.Load()) }

// Blocked tells whether a script that has run for too long holds a latch of some places.
func (s *Runs) Blocked(places []store.Place) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for run := range s.runs {
		if run.late && (run.every || slices.ContainsFunc(places, func(p store.Place) bool {
			return slices.ContainsFunc(run.places, func(q store.Place) bool { return store.SameLatch(p, q) })
		})) {
			return true
		}
	}
	return false
}

// Any reports whether a script runs of which holds is true.
func (s *Runs) Any(holds func(*Run) bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for run := range s.runs {
		if holds(run) {
			return true
		}
	}
	return false
}

// Kill ends all scripts and returns how many. The unit of a script that has written is
// dropped: nothing of it is committed before the script ends, so nobody has seen it.
func (s *Runs) Kill() (killed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for run := range s.runs {
		run.stop(ErrKilled)
	}
	return len(s.runs)
}

// End ends all scripts, whatever they have done, and those that begin from now on: their units fail.
func (s *Runs) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for run := range s.runs {
		run.stop(ErrEnd)
	}
	s.free = nil
}
