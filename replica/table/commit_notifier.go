package table

import (
	"sync"

	"github.com/hashicorp/raft"
)

// A follower learns that an entry is decided from the next request that the leader sends
// it. Without pipelines that is one of the library's own timer, of CommitTimeout to twice
// that: while a range changes hands, its clients would wait for it. So the leader tells
// everybody as soon as something is decided, with a request of the same kind that brings
// no entries: it names the last entry of which the server has said that it has it, and
// says no more of what is decided than that.

// commitNotifier is what the other servers have, and have been told.
type commitNotifier struct {
	mu        sync.Mutex
	followers map[raft.ServerID]*followerProgress
}

// A followerProgress is one of them.
type followerProgress struct {
	target raft.ServerAddress
	last   raft.AppendEntriesRequest // with the last entry that it has, and no others
	busy   bool                      // it is being told
}

// noteStored notes what a server has by its answer to a request of the library's, and tells it
// what was decided meanwhile.
func (s *commitNotifier) noteStored(t *Table, id raft.ServerID, target raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) {
	if !resp.Success || resp.Term != args.Term {
		return
	}
	s.mu.Lock()
	if s.followers == nil {
		s.followers = make(map[raft.ServerID]*followerProgress)
	}
	o := s.followers[id]
	if o == nil {
		o = new(followerProgress)
		s.followers[id] = o
	}
	o.target = target
	decided := o.last.LeaderCommitIndex
	if o.last.Term != args.Term {
		decided = 0
	}
	o.last = *args
	o.last.Entries = nil
	if n := len(args.Entries); n > 0 {
		o.last.PrevLogEntry, o.last.PrevLogTerm = args.Entries[n-1].Index, args.Entries[n-1].Term
	}
	o.last.LeaderCommitIndex = max(decided, min(args.LeaderCommitIndex, o.last.PrevLogEntry))
	s.mu.Unlock()
	s.notify(t, id)
}

// notifyAll tells every server of what is decided. It is called from the library's goroutine
// that applies entries, and does not block.
func (s *commitNotifier) notifyAll(t *Table) {
	if !t.opened.Load() || t.raft.State() != raft.Leader {
		return
	}
	s.mu.Lock()
	var ids []raft.ServerID
	for id := range s.followers {
		ids = append(ids, id)
	}
	s.mu.Unlock()
	for _, id := range ids {
		s.notify(t, id)
	}
}

// notify tells a server, unless that is under way, which then goes on with what is new.
func (s *commitNotifier) notify(t *Table, id raft.ServerID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.followers[id]; o.busy || !s.nextLocked(t, o) {
		return
	}
	s.followers[id].busy = t.tasks.start(func() { s.run(t, id) })
}

// nextLocked makes o.last what a server is to be told next, if anything is new to it.
func (s *commitNotifier) nextLocked(t *Table, o *followerProgress) bool {
	if !t.opened.Load() || t.raft.State() != raft.Leader || t.raft.CurrentTerm() != o.last.Term {
		return false
	}
	decided := min(t.raft.CommitIndex(), o.last.PrevLogEntry)
	if decided <= o.last.LeaderCommitIndex {
		return false
	}
	o.last.LeaderCommitIndex = decided
	return true
}

func (s *commitNotifier) run(t *Table, id raft.ServerID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.followers[id]
	defer func() { o.busy = false }()
	for {
		args, target := o.last, o.target
		s.mu.Unlock()
		var resp raft.AppendEntriesResponse
		asked := t.contacts.number()
		err := t.transport.AppendEntries(id, target, &args, &resp)
		if err == nil {
			t.noteSuccess(id, asked, &args, &resp)
		}
		s.mu.Lock()
		// Whom that did not reach hears it from the library.
		if err != nil || t.sending.Err() != nil || !s.nextLocked(t, o) {
			return
		}
	}
}
