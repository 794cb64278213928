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
	// firstRetry and longestAgain are the pauses before entries are sent again, as long as
	// no heartbeat says that it is time.
	firstRetry   = 10 * time.Millisecond
	longestRetry = 250 * time.Millisecond
	// retryFor is after how long the library hears of the failure all the same. Only in
	// between it looks at what else it was asked to do; see askAgainAfter.
	retryFor = 30 * time.Second
)

var errUnreachable = errors.New("table: the server does not answer")

// links are those to other servers, as their heartbeats find them.
type links struct {
	mu sync.Mutex
	to map[raft.ServerID]*link
}

type link struct {
	lost      bool          // the last heartbeat had no answer
	recovered chan struct{} // closed when one has an answer again
}

func (w *links) of(id raft.ServerID) *link {
	if w.to == nil {
		w.to = make(map[raft.ServerID]*link)
	}
	if w.to[id] == nil {
		w.to[id] = &link{recovered: make(chan struct{})}
	}
	return w.to[id]
}

func (w *links) failed(id raft.ServerID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.of(id).lost = true
}

func (w *links) answered(id raft.ServerID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if at := w.of(id); at.lost {
		close(at.recovered)
		*at = link{recovered: make(chan struct{})}
	}
}

// state reports whether a server is out of reach, and what closes when it is back after that,
// or after it was the next time.
func (w *links) state(id raft.ServerID) (lost bool, back <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.of(id)
	return at.lost, at.recovered
}

// stillSends reports whether this node still has to send a server what it was to in a term.
func (t *Table) stillSends(id raft.ServerID, term uint64) bool {
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

// appendUntilAnswered sends entries until the server has answered, or they are not this node's to send
// any more.
func (t *Table) appendUntilAnswered(over raft.Transport, id raft.ServerID, target raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	began := time.Now()
	fixed := *args // the library uses its own again, and what is given up may still be sent
	for pause := firstRetry; ; pause = min(2*pause, longestRetry) {
		_, back := t.links.state(id)
		err := t.appendOnce(over, id, target, t.withCommitIndex(fixed), resp, back)
		if err == nil {
			return nil
		}
		if !t.stillSends(id, args.Term) || time.Since(began) > retryFor {
			return err
		}
		if errors.Is(err, errReachableAgain) {
			pause = firstRetry
			continue
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-back:
			pause = firstRetry
		case <-t.sending.Done():
		}
		timer.Stop()
	}
}

// withCommitIndex returns a request that also tells how much of what it brings is decided by now: a
// server whose answers are not taken in learns by that of its own end, see start_registry.go. It tells
// of nothing behind the request's own entries, which alone are known to be the same there.
func (t *Table) withCommitIndex(args raft.AppendEntriesRequest) *raft.AppendEntriesRequest {
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

// errReachableAgain says that the server was out of reach, and is not any more: what was sent
// before may have got lost.
var errReachableAgain = errors.New("the server was out of reach")

// appendOnce sends entries and waits for the answer, unless there is a reason to send them anew.
func (t *Table) appendOnce(over raft.Transport, id raft.ServerID, target raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse, back <-chan struct{}) error {
	type answer struct {
		resp raft.AppendEntriesResponse
		err  error
	}
	answers := make(chan answer, 1)
	asked := t.contacts.number()
	started := t.tasks.start(func() {
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
		t.noteSuccess(id, asked, args, resp)
		t.commitNotifier.noteStored(t, id, target, args, resp)
		return nil
	case <-back:
		return errReachableAgain
	case <-t.sending.Done():
		return ErrClosed
	}
}

// tasks are goroutines that end by themselves once the transport is closed.
type tasks struct {
	mu     sync.Mutex
	closed bool
	all    sync.WaitGroup
}

func (e *tasks) start(f func()) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.all.Go(f)
	return true
}

// wait waits for all of them; none is started any more.
func (e *tasks) wait() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.all.Wait()
}
