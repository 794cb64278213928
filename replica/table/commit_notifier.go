package table

import (
	"sync"

	"github.com/hashicorp/raft"
)

// A follower learns that an entry is committed from the leader's next request. Without pipelines
// that request comes after CommitTimeout to twice that, while the clients of a range that changes
// hands wait. So the leader notifies all followers as soon as an entry is committed, with a request
// without entries. It names the last entry that the server is known to have, and commits nothing
// beyond that.

// commitNotifier records what the other servers have, and what they know to be committed.
type commitNotifier struct {
	mu        sync.Mutex
	followers map[raft.ServerID]*followerProgress
}

// A followerProgress is the record of one server.
type followerProgress struct {
	target raft.ServerAddress
	last   raft.AppendEntriesRequest // with the server's last entry, and no others
	busy   bool                      // a notification is under way
}

// noteStored records what a server has by its reply to the library, and notifies it of later
// commits.
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

// notifyAll notifies every server of new commits. The library's applying goroutine calls it; it
// does not block.
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

// notify notifies one server, unless a notification is under way: that one continues with the new
// commits.
func (s *commitNotifier) notify(t *Table, id raft.ServerID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.followers[id]; o.busy || !s.nextLocked(t, o) {
		return
	}
	s.followers[id].busy = t.tasks.start(func() { s.run(t, id) })
}

// nextLocked prepares the next notification of a server. It returns false if there is nothing new.
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
		// A server that was not reached hears it from the library.
		if err != nil || t.sending.Err() != nil || !s.nextLocked(t, o) {
			return
		}
	}
}
