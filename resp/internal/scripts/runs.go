package scripts

import (
	"bytes"
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

// A Start is what Begin needs to know of a script that begins to run.
type Start struct {
	At     time.Duration // on the server's clock
	Owner  any           // the connection that runs it
	Places []store.Place // whose latches it holds
	Every  bool          // it holds the latches of all places
	Memory int64         // bytes that it may take
	// Function is the name of a function, Runtime runs it, and Args are the words of the call; "" and nil for
	// a script.
	Function string
	Runtime  *script.Runtime
	Args     [][]byte
}

// A Run is a script or a function that runs.
type Run struct {
	// Runtime runs it.
	Runtime *script.Runtime
	// Wrote: it has called a command that writes.
	Wrote atomic.Bool
	// Broken: its runtime cannot be used again. The goroutine of the run sets it.
	Broken bool

	start Start
	cause error // why it was stopped; under Runs.mu
	late  bool  // under Runs.mu
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
	// MsgBusyFunction is that for a function.
	MsgBusyFunction = "BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE."
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

// Begin notes that a script runs.
func (s *Runs) Begin(start Start) *Run {
	start.Places = slices.Clone(start.Places)
	run := &Run{start: start, Runtime: start.Runtime}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.free); n > 0 && run.Runtime == nil {
		run.Runtime = s.free[n-1]
		s.free = s.free[:n-1]
	} else if run.Runtime == nil {
		run.Runtime = script.NewRuntime()
	}
	// Nobody else knows the runtime: a Stop that was meant for another run cannot follow.
	run.Runtime.Begin(int(start.Memory))
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

// Done ends a run and takes the runtime back, unless it is that of a function.
func (s *Runs) Done(run *Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.runs, run)
	if run.late {
		s.overdue.Add(-1)
	}
	if run.start.Runtime == nil && !run.Broken && len(s.free) < keepRuntimes && !s.ended {
		s.free = append(s.free, run.Runtime)
	}
}

// Leave ends the scripts of an owner that has gone.
func (s *Runs) Leave(owner any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for run := range s.runs {
		if run.start.Owner == owner {
			run.stop(ErrGone)
		}
	}
}

// Look notes which scripts have run for longer than most; 0: none has.
func (s *Runs) Look(now, most time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for run := range s.runs {
		if !run.late && most > 0 && now-run.start.At > most {
			run.late = true
			s.overdue.Add(1)
		}
	}
}

// Overdue returns how many scripts have run for too long, as Look found.
func (s *Runs) Overdue() int { return int(s.overdue.Load()) }

// Blocked returns what refuses a request that needs latches of some places, because a script that has run for
// too long holds one; "" if none does.
func (s *Runs) Blocked(places []store.Place) (msg string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for run := range s.runs {
		if run.late && (run.start.Every || slices.ContainsFunc(places, func(p store.Place) bool {
			return slices.ContainsFunc(run.start.Places, func(q store.Place) bool { return store.SameLatch(p, q) })
		})) {
			return busy(run.start.Function != "")
		}
	}
	return ""
}

// Late returns what refuses a request, whatever it needs, because a script has run for longer than most; "" if
// none has.
func (s *Runs) Late(now, most time.Duration) (msg string) {
	s.Look(now, most)
	s.mu.Lock()
	defer s.mu.Unlock()
	for run := range s.runs {
		if run.late {
			return busy(run.start.Function != "")
		}
	}
	return ""
}

// busy is what Redis says while a script runs, or a function.
func busy(function bool) string {
	if function {
		return MsgBusyFunction
	}
	return MsgBusy
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

// Kill ends all scripts, or all functions, and returns the reply: "" if it has ended any. The unit of one that has
// written is dropped: nothing of it is committed before it ends, so nobody has seen it.
func (s *Runs) Kill(functions bool) (msg string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	killed := false
	for run := range s.runs {
		if (run.start.Function != "") == functions {
			run.stop(ErrKilled)
			killed = true
		}
	}
	switch {
	case killed:
		return ""
	case len(s.runs) > 0:
		return busy(!functions)
	}
	return MsgNotBusy
}

// shownArgs and shownBytes are how much Function returns of a call: that many words of that many bytes.
const shownArgs, shownBytes = 128, 1 << 10

// Function returns the function that has run for longest, the first words of its call, and since when it runs;
// "" if none runs.
func (s *Runs) Function() (name string, args [][]byte, since time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var longest *Start
	for run := range s.runs {
		if of := &run.start; of.Function != "" && (longest == nil || of.At < longest.At) {
			longest = of
		}
	}
	if longest == nil {
		return "", nil, 0
	}
	for _, arg := range longest.Args[:min(len(longest.Args), shownArgs)] {
		args = append(args, bytes.Clone(arg[:min(len(arg), shownBytes)])) // the connection's, once the function ends
	}
	return longest.Function, args, longest.At
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
