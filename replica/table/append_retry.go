package table

import (
	"errors"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// After failures the Raft library pauses before it sends a server entries again: twice as long each
// time, up to 10 s. A server that was away for half a minute would wait that long for the table,
// and without the table it gets no lease. So failures are not reported to the library: the entries
// are sent again as soon as a heartbeat shows that the server is back.

const (
	// firstRetry and longestRetry are the pauses before entries are sent again, unless a heartbeat
	// shows that the server is back.
	firstRetry   = 10 * time.Millisecond
	longestRetry = 250 * time.Millisecond
	// retryFor is how long a failure is hidden from the library. The library looks at its other
	// tasks only between two calls; see transferAgainAfter.
	retryFor = 30 * time.Second
)

var errUnreachable = errors.New("table: the server does not answer")

// links are the connections to other servers, as their heartbeats find them.
type links struct {
	mu sync.Mutex
	to map[raft.ServerID]*link
}

type link struct {
	lost      bool          // the last heartbeat was not answered
	recovered chan struct{} // closed when a heartbeat is answered again
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

// state reports whether a server is out of reach. back is closed when it is reachable again, after
// that or after the next time.
func (w *links) state(id raft.ServerID) (lost bool, back <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.of(id)
	return at.lost, at.recovered
}

// stillSends reports whether this node is still the leader that sends a server entries in a term.
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

// appendUntilAnswered sends entries until the server has answered, or this node no longer has to
// send them.
func (t *Table) appendUntilAnswered(over raft.Transport, id raft.ServerID, target raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	began := time.Now()
	fixed := *args // the library reuses its own, and an abandoned request may still be sent
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

// withCommitIndex returns the request with the present commit index, up to the request's own last
// entry: only those entries are known to be the same on the server. A server whose replies are
// rejected learns of its own end by that, see start_registry.go.
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

// errReachableAgain says that the server was out of reach and is back: earlier requests may be
// lost.
var errReachableAgain = errors.New("the server was out of reach")

// appendOnce sends entries and waits for the answer, unless there is a reason to send them again.
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

// tasks are goroutines that end once the transport is closed.
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

// wait waits for all tasks and prevents new ones.
func (e *tasks) wait() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.all.Wait()
}
