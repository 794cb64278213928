package table

import (
	"errors"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// After failures the library pauses before it sends a server entries again: twice as long
// each time, up to 10 s. So who was away for half a minute would have to wait for as long
// as that for the table, and without it has no lease. What failed is therefore not told to
// the library, but sent again, as soon as a heartbeat shows that the server is back.

const (
	// firstAgain and longestAgain are the pauses before entries are sent again, as long as
	// no heartbeat says that it is time.
	firstAgain   = 10 * time.Millisecond
	longestAgain = 250 * time.Millisecond
	// insistFor is after how long the library hears of the failure all the same. Only in
	// between it looks at what else it was asked to do; see askAgainAfter.
	insistFor = 30 * time.Second
)

var errAway = errors.New("table: the server does not answer")

// ways are those to other servers, as their heartbeats find them.
type ways struct {
	mu sync.Mutex
	to map[raft.ServerID]*way
}

type way struct {
	lost bool          // the last heartbeat had no answer
	back chan struct{} // closed when one has an answer again
}

func (w *ways) at(id raft.ServerID) *way {
	if w.to == nil {
		w.to = make(map[raft.ServerID]*way)
	}
	if w.to[id] == nil {
		w.to[id] = &way{back: make(chan struct{})}
	}
	return w.to[id]
}

func (w *ways) failed(id raft.ServerID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at(id).lost = true
}

func (w *ways) answered(id raft.ServerID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if at := w.at(id); at.lost {
		close(at.back)
		*at = way{back: make(chan struct{})}
	}
}

// look tells whether a server is out of reach, and what closes when it is back after that,
// or after it was the next time.
func (w *ways) look(id raft.ServerID) (lost bool, back <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.at(id)
	return at.lost, at.back
}

// goesOn tells whether this node still has to send a server what it was to in a term.
func (t *Table) goesOn(id raft.ServerID, term uint64) bool {
	if !t.opened.Load() || t.sending.Err() != nil || t.raft.State() != raft.Leader || t.raft.CurrentTerm() != term {
		return false
	}
	for _, s := range t.servers() {
		if s.ID == id {
			return true
		}
	}
	return false
}

// insist sends entries until the server has answered, or they are not this node's to send
// any more.
func (t *Table) insist(over raft.Transport, id raft.ServerID, target raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	began := time.Now()
	fixed := *args // the library uses its own again, and what is given up may still be sent
	for pause := firstAgain; ; pause = min(2*pause, longestAgain) {
		_, back := t.ways.look(id)
		err := t.once(over, id, target, t.upToDate(fixed), resp, back)
		if err == nil {
			return nil
		}
		if !t.goesOn(id, args.Term) || time.Since(began) > insistFor {
			return err
		}
		if errors.Is(err, errIsBack) {
			pause = firstAgain
			continue
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-back:
			pause = firstAgain
		case <-t.sending.Done():
		}
		timer.Stop()
	}
}

// upToDate returns a request that also tells how much of what it brings is decided by now: a
// server whose answers are not taken in learns by that of its own end, see starts.go. It tells
// of nothing behind the request's own entries, which alone are known to be the same there.
func (t *Table) upToDate(args raft.AppendEntriesRequest) *raft.AppendEntriesRequest {
	if !t.opened.Load() {
		return &args
	}
	last := args.PrevLogEntry
	if n := len(args.Entries); n > 0 {
		last = args.Entries[n-1].Index
	}
	args.LeaderCommitIndex = max(args.LeaderCommitIndex, min(t.raft.CommitIndex(), last))
	return &args
}

// errIsBack says that the server was out of reach, and is not any more: what was sent
// before may have got lost.
var errIsBack = errors.New("the server was out of reach")

// once sends entries and waits for the answer, unless there is a reason to send them anew.
func (t *Table) once(over raft.Transport, id raft.ServerID, target raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse, back <-chan struct{}) error {
	type answer struct {
		resp raft.AppendEntriesResponse
		err  error
	}
	answers := make(chan answer, 1)
	asked := t.contacts.number()
	started := t.errands.start(func() {
		var a answer
		a.err = over.AppendEntries(id, target, args, &a.resp)
		answers <- a
	})
	if !started {
		return ErrClosed
	}
	select {
	case a := <-answers:
		if a.err != nil {
			return a.err
		}
		*resp = a.resp
		t.agreed(id, asked, args, resp)
		t.spread.has(t, id, target, args, resp)
		return nil
	case <-back:
		return errIsBack
	case <-t.sending.Done():
		return ErrClosed
	}
}

// errands are goroutines that end by themselves once the transport is closed.
type errands struct {
	mu     sync.Mutex
	closed bool
	all    sync.WaitGroup
}

func (e *errands) start(f func()) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.all.Go(f)
	return true
}

// wait waits for all of them; none is started any more.
func (e *errands) wait() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.all.Wait()
}
