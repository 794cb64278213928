package table

import (
	"errors"
	"slices"
	"time"

	"github.com/hashicorp/raft"
)

// A voter that has not heard yet who else got a vote must still be able to vote for them.
// The library refuses every candidate that is no voter in the newest configuration that the
// asked server has, though who is one is known to those only that have the entry which says
// so. Three servers of which the first, which leads, gives the third a vote, and ends once
// the third has that entry but not the second, would never have a leader again: the second
// refuses the third, which is no voter to it, and the third the second, whose log is older.
//
// In Raft a server votes for a candidate with a log at least as new as its own, whatever
// its own configuration says (Ongaro and Ousterhout, "In Search of an Understandable
// Consensus Algorithm", section 6), and that a configuration is decided by a majority makes
// that safe. So a candidate whose log is newer is shown to the library as a voter. Who was
// put out of the group has an older one, and is refused as before.

// An rpcFilter passes requests of other servers on to the library.
type rpcFilter struct {
	from <-chan raft.RPC
	to   chan raft.RPC
}

// Consumer implements raft.Transport.
func (n *clusterTransport) Consumer() <-chan raft.RPC { return n.filter.to }

// filterRPCs passes requests on until the transport is closed.
func (t *Table) filterRPCs(h rpcFilter) {
	for {
		select {
		case rpc := <-h.from:
			if r, ok := rpc.Command.(*raft.RequestPreVoteRequest); ok && t.standsBefore(r) {
				rpc.Respond(nil, errStands)
				continue
			}
			rpc.Command = t.asVoter(rpc.Command)
			if !t.deliver(h, rpc) {
				return
			}
		case <-t.sending.Done():
			return
		}
	}
}

// deliver passes a request to the library. While the library blocks on the disk the request is
// refused: other servers repeat requests without a reply, and all of them would wait here. It
// returns false once the transport is closed.
func (t *Table) deliver(h rpcFilter, rpc raft.RPC) bool {
	check := time.NewTicker(t.cfg.HeartbeatTimeout)
	defer check.Stop()
	for {
		if err := errors.Join(t.mayTakePart(), t.takesPart()); err != nil {
			rpc.Respond(nil, err)
			return true
		}
		select {
		case h.to <- rpc:
			return true
		case <-check.C:
		case <-t.sending.Done():
			rpc.Respond(nil, ErrClosed)
			return false
		}
	}
}

// asVoter returns the request as the library is to see it.
func (t *Table) asVoter(request any) any {
	switch r := request.(type) {
	case *raft.RequestVoteRequest:
		if voter := t.voterFor(r.ID, r.LastLogIndex, r.LastLogTerm); voter != "" {
			as := *r
			as.ID = []byte(voter)
			return &as
		}
	case *raft.RequestPreVoteRequest:
		if voter := t.voterFor(r.ID, r.LastLogIndex, r.LastLogTerm); voter != "" {
			as := *r
			as.ID = []byte(voter)
			return &as
		}
	}
	return request
}

// voterFor returns the id of a voter if a candidate is no voter here but has a newer log than this
// node; else nothing.
func (t *Table) voterFor(candidate []byte, index, term uint64) raft.ServerID {
	if !t.opened.Load() || len(candidate) == 0 {
		return ""
	}
	isVoter := func(s raft.Server) bool { return s.Suffrage == raft.Voter }
	servers := t.servers()
	at := slices.IndexFunc(servers, isVoter)
	if at < 0 || slices.ContainsFunc(servers, func(s raft.Server) bool { return isVoter(s) && string(s.ID) == string(candidate) }) {
		return ""
	}
	last := t.raft.LastIndex()
	var entry raft.Log
	if index <= last && (t.disk.logs.GetLog(last, &entry) != nil || term <= entry.Term) {
		return ""
	}
	return servers[at].ID
}
