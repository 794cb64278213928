package resp

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/script"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

// scripts are those that the server knows, and those that run.
type scripts struct {
	limit  func() int64 // bytes of scripts that are kept
	mu     sync.RWMutex
	byBody map[string]*knownScript
	bySHA  map[string]*knownScript
	// evaluated are those that only EVAL has brought, oldest first: they are forgotten where
	// there is no room.
	evaluated []*knownScript
	bytes     int64

	running sync.Mutex // guards what follows
	runs    map[*scriptRun]struct{}
	free    []*script.Runtime
	ended   bool
	// overdue is how many scripts have run for longer than settings.busyAfter.
	overdue atomic.Int32
}

type knownScript struct {
	*script.Script
	// astray: it has once needed a key that it had not declared.
	astray atomic.Bool
	loaded bool // by SCRIPT LOAD; under scripts.mu
}

// A scriptRun is a script that runs.
type scriptRun struct {
	start   time.Duration // on the server's clock
	conn    *conn
	runtime *script.Runtime
	cause   error         // why it was stopped; guarded by scripts.running
	places  []store.Place // whose latches it holds
	every   bool
	late    bool
	broken  bool // its runtime cannot be used again
	wrote   atomic.Bool
}

// stop ends the script. The caller holds scripts.running.
func (run *scriptRun) stop(cause error) {
	if run.cause == nil {
		run.cause = cause
		run.runtime.Stop(cause)
	}
}

const (
	keepRuntimes = 16
	msgNoScript  = "NOSCRIPT No matching script. Please use EVAL."
	msgBusy      = "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."
	msgNotBusy   = "NOTBUSY No scripts in execution right now."
)

const (
	errKilled      command.ReplyError = "ERR Script killed by user with SCRIPT KILL."
	errScriptsEnd  command.ReplyError = "UNKNOWN the server closes: the script was ended"
	errClientGone  command.ReplyError = "ERR the client has gone: its script was ended"
	errScriptsFull command.ReplyError = "ERR the script cache is full: use SCRIPT FLUSH"
)

// init is called once; limit may be called from any goroutine.
func (s *scripts) init(limit func() int64) {
	s.limit = limit
	s.byBody, s.bySHA = make(map[string]*knownScript), make(map[string]*knownScript)
	s.runs = make(map[*scriptRun]struct{})
}

// find returns the script with a certain body, or nil.
func (s *scripts) find(body []byte) *knownScript {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.byBody[string(body)]
}

// called returns the script with a SHA-1, in hex digits of any case, or nil.
func (s *scripts) called(sha []byte) *knownScript {
	if len(sha) != 40 {
		return nil
	}
	var low [40]byte
	for i, c := range sha {
		low[i] = wire.Lower(c)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.bySHA[string(low[:])]
}

// compile returns the script with a certain body, which it remembers: for good if it is
// loaded.
func (s *scripts) compile(body []byte, loaded bool) (*knownScript, error) {
	if k := s.find(body); k != nil && !loaded {
		return k, nil
	}
	compiled, err := script.Compile(string(body))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.byBody[compiled.Body]
	if k == nil {
		k = &knownScript{Script: compiled}
		s.makeRoom(cost(k))
		if s.bytes+cost(k) > s.limit() {
			if loaded {
				return nil, errScriptsFull
			}
			return k, nil // it is run all the same
		}
		s.byBody[k.Body], s.bySHA[k.SHA] = k, k
		s.bytes += cost(k)
		if !loaded {
			s.evaluated = append(s.evaluated, k)
		}
	}
	if loaded && !k.loaded {
		k.loaded = true
		s.evaluated = slices.DeleteFunc(s.evaluated, func(other *knownScript) bool { return other == k })
	}
	return k, nil
}

// cost is about what a script takes, compiled.
func cost(k *knownScript) int64 { return int64(k.Size()) + 1<<10 }

// makeRoom forgets scripts that were not loaded, as far as that is needed.
func (s *scripts) makeRoom(n int64) {
	for len(s.evaluated) > 0 && s.bytes+n > s.limit() {
		k := s.evaluated[0]
		s.evaluated = s.evaluated[1:]
		delete(s.byBody, k.Body)
		delete(s.bySHA, k.SHA)
		s.bytes -= cost(k)
	}
}

// kept returns how many scripts are kept, and about how many bytes they take.
func (s *scripts) kept() (n int, bytes int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.bySHA), s.bytes
}

func (s *scripts) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.byBody)
	clear(s.bySHA)
	s.evaluated, s.bytes = nil, 0
}

// begin notes that a script runs. Its runtime lets it take memory bytes.
func (s *scripts) begin(now time.Duration, c *conn, memory int64) *scriptRun {
	run := &scriptRun{start: now, conn: c, places: slices.Clone(c.places), every: c.every}
	s.running.Lock()
	defer s.running.Unlock()
	if n := len(s.free); n > 0 {
		run.runtime = s.free[n-1]
		s.free = s.free[:n-1]
	} else {
		run.runtime = script.NewRuntime()
	}
	// Nobody else knows the runtime: a Stop that was meant for another run cannot follow.
	run.runtime.Begin(int(memory))
	s.runs[run] = struct{}{}
	if s.ended {
		run.stop(errScriptsEnd)
	}
	return run
}

// causeOf returns why a run was stopped, or nil.
func (s *scripts) causeOf(run *scriptRun) error {
	s.running.Lock()
	defer s.running.Unlock()
	return run.cause
}

// done ends a run and takes the runtime back.
func (s *scripts) done(run *scriptRun) {
	s.running.Lock()
	defer s.running.Unlock()
	delete(s.runs, run)
	if run.late {
		s.overdue.Add(-1)
	}
	if !run.broken && len(s.free) < keepRuntimes && !s.ended {
		s.free = append(s.free, run.runtime)
	}
}

// leave ends the scripts of a client that has gone.
func (s *scripts) leave(c *conn) {
	s.running.Lock()
	defer s.running.Unlock()
	for run := range s.runs {
		if run.conn == c {
			run.stop(errClientGone)
		}
	}
}

// look notes which scripts have run for longer than most; 0: none has.
func (s *scripts) look(now, most time.Duration) {
	s.running.Lock()
	defer s.running.Unlock()
	for run := range s.runs {
		if !run.late && most > 0 && now-run.start > most {
			run.late = true
			s.overdue.Add(1)
		}
	}
}

// blocked tells whether a script that has run for too long holds a latch of some places.
func (s *scripts) blocked(places []store.Place) bool {
	s.running.Lock()
	defer s.running.Unlock()
	for run := range s.runs {
		if run.late && (run.every || slices.ContainsFunc(places, func(p store.Place) bool {
			return slices.ContainsFunc(run.places, func(q store.Place) bool { return store.SameLatch(p, q) })
		})) {
			return true
		}
	}
	return false
}

// kill ends all scripts and returns how many. The unit of a script that has written is
// dropped: nothing of it is committed before the script ends, so nobody has seen it.
func (s *scripts) kill() (killed int) {
	s.running.Lock()
	defer s.running.Unlock()
	for run := range s.runs {
		run.stop(errKilled)
	}
	return len(s.runs)
}

// end ends all scripts, whatever they have done: their units fail.
func (s *scripts) end() {
	s.running.Lock()
	defer s.running.Unlock()
	s.ended = true
	for run := range s.runs {
		run.stop(errScriptsEnd)
	}
	s.free = nil
}

// refuseBusy refuses the requests of a unit that would have to wait for a script which has
// run for too long.
func (c *conn) refuseBusy(reqs []request) {
	s := &c.srv.scripts
	if s.overdue.Load() == 0 || len(c.places) == 0 && !c.every || !s.blocked(c.places) {
		return
	}
	for i := range reqs {
		if r := &reqs[i]; r.msg == "" && r.cmd.Keyed {
			r.msg = msgBusy
		}
	}
	c.places, c.every = c.places[:0], false
}

// shaOf is the script that a request names by its SHA-1.
func (c *conn) shaOf(r *request) []byte {
	if r.msg != "" || !r.cmd.BySHA {
		return nil
	}
	return c.args[r.first+1]
}

// goesAstray tells whether a script is known to need keys that it does not declare, or could
// not be run again if it does.
func (c *conn) goesAstray(r *request) bool {
	if c.session.replies == replySkip || c.session.replies == replySkipNext {
		return true
	}
	var k *knownScript
	if sha := c.shaOf(r); sha != nil {
		k = c.srv.scripts.called(sha)
	} else {
		k = c.srv.scripts.find(c.args[r.first+1])
	}
	return k != nil && k.astray.Load()
}
