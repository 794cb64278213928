package table

import (
	"slices"
	"time"

	"github.com/hashicorp/raft"
)

// A server gets the entry that takes away its vote only once the entry is committed. If the entry
// reached that server alone, and the leader ended, there might never be a leader again: the server
// does not stand, since it has no vote by the entry, and refuses the others, whose logs are older.
// Of four voters the other two are no majority without it.
//
// The leader does not need the acknowledgement: the configuration of an entry counts as soon as
// it is in the log, and by that the server does not vote.

const (
	// demotionWait bounds the wait for the commit before a request is sent without the entry. The
	// library asks for the entry again at once.
	demotionWait = 50 * time.Millisecond
	// demotionPoll is how often the wait looks at the commit index.
	demotionPoll = 5 * time.Millisecond
)

// withholdDemotion cuts the entries of a request before an entry that is not committed and takes
// away the vote of the server that the request is for. The library goes on after the last entry that
// the request has.
func (n *clusterTransport) withholdDemotion(id raft.ServerID, args *raft.AppendEntriesRequest) {
	t := n.table
	if !t.opened.Load() {
		return
	}
	at := n.uncommittedDemotion(id, args)
	for began := time.Now(); at == 0 && time.Since(began) < demotionWait && t.raft.State() == raft.Leader; {
		pause := time.NewTimer(demotionPoll)
		select {
		case <-pause.C:
		case <-t.sending.Done():
		}
		pause.Stop()
		if t.sending.Err() != nil {
			break
		}
		at = n.uncommittedDemotion(id, args)
	}
	if at >= 0 {
		args.Entries = args.Entries[:at]
	}
}

// uncommittedDemotion returns the position of the first entry that is not committed and by which a
// server has no vote, or -1 if there is none, or a later entry gives the vote back.
func (n *clusterTransport) uncommittedDemotion(id raft.ServerID, args *raft.AppendEntriesRequest) int {
	committed := n.table.raft.CommitIndex()
	return slices.IndexFunc(args.Entries, func(entry *raft.Log) bool {
		if entry.Type != raft.LogConfiguration || entry.Index <= committed || hasVote(raft.DecodeConfiguration(entry.Data).Servers, id) {
			return false
		}
		// A leader changes the configuration only after the one before is committed, so an entry of
		// its own is the newest; the library sends it before it shows it. An entry of an
		// earlier leader may be one of several, of which the last counts.
		return entry.Term == args.Term || !hasVote(n.table.servers(), id)
	})
}

func hasVote(servers []raft.Server, id raft.ServerID) bool {
	return slices.ContainsFunc(servers, func(s raft.Server) bool { return s.ID == id && s.Suffrage == raft.Voter })
}
