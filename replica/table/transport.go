package table

import (
	"errors"
	"io"
	"time"

	"github.com/hashicorp/raft"
)

var errNoPreVote = errors.New("table: the transport has no pre-vote")

// clusterTransport is the transport of the Raft library. It records contacts, sends heartbeats on
// connections of their own, and sends entries and commits sooner than the library does: see
// append_retry.go and commit_notifier.go.
type clusterTransport struct {
	raft.Transport
	heartbeats raft.Transport // for heartbeats, with a short time-out
	table      *Table

	filter rpcFilter
}

// AppendEntries is called for heartbeats by one goroutine of the library per server, and for
// entries by another.
func (n *clusterTransport) AppendEntries(id raft.ServerID, target raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	if !isHeartbeat(args) {
		n.withholdDemotion(id, args)
		return n.table.appendUntilAnswered(n.Transport, id, target, args, resp)
	}
	asked := n.table.contacts.number()
	err := n.heartbeats.AppendEntries(id, target, args, resp)
	if err != nil {
		n.table.links.failed(id)
		return err
	}
	n.table.links.answered(id)
	n.table.noteSuccess(id, asked, args, resp)
	return nil
}

// isHeartbeat reports whether a request only shows that the leader is alive.
func isHeartbeat(args *raft.AppendEntriesRequest) bool {
	return args.PrevLogEntry == 0 && args.LeaderCommitIndex == 0 && len(args.Entries) == 0
}

// noteSuccess records that a server has accepted a request.
func (t *Table) noteSuccess(id raft.ServerID, asked uint64, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) {
	if resp.Success && resp.Term == args.Term {
		t.contacts.note(id, asked, args.Term)
	}
}

// SetHeartbeatHandler passes heartbeats to the library until its disk is closed. They come from
// goroutines of connections that are not waited for.
func (n *clusterTransport) SetHeartbeatHandler(handle func(raft.RPC)) {
	n.Transport.SetHeartbeatHandler(func(rpc raft.RPC) {
		n.table.heartbeatMu.RLock()
		defer n.table.heartbeatMu.RUnlock()
		if n.table.heartbeatsEnded {
			rpc.Respond(nil, ErrClosed)
			return
		}
		if err := n.table.mayHandle(rpc); err != nil {
			rpc.Respond(nil, err)
			return
		}
		handle(rpc)
	})
}

// mayHandle returns an error for a heartbeat while this start takes no part, and for one that would
// block on the disk, with all that follow it: one of a newer term, which must be stored. The first
// such heartbeat is handled, since it ends this node's leadership before it blocks.
func (t *Table) mayHandle(heartbeat raft.RPC) error {
	if err := t.mayTakePart(); err != nil {
		return err
	}
	r, ok := heartbeat.Command.(*raft.AppendEntriesRequest)
	if !ok || !t.opened.Load() || r.Term <= t.raft.CurrentTerm() || t.raft.State() != raft.Follower {
		return nil
	}
	return t.takesPart()
}

// InstallSnapshot waits for a server that does not answer: the library pauses for longer after each
// failure.
func (n *clusterTransport) InstallSnapshot(id raft.ServerID, target raft.ServerAddress, args *raft.InstallSnapshotRequest, resp *raft.InstallSnapshotResponse, data io.Reader) error {
	timer := time.NewTimer(retryFor)
	defer timer.Stop()
	for n.table.stillSends(id, args.Term) {
		lost, back := n.table.links.state(id)
		if !lost {
			break
		}
		select {
		case <-back:
		case <-timer.C:
			return errUnreachable
		case <-time.After(longestRetry): // the leadership may be over
		case <-n.table.sending.Done():
			return ErrClosed
		}
	}
	return n.Transport.InstallSnapshot(id, target, args, resp, data)
}

// AppendEntriesPipeline is not there. After a follower's refusal the library's pipeline may
// wait for itself for good, while heartbeats go on: that follower gets no entry any more as
// long as this node leads, which never ends, nor does this node (hashicorp/raft, issue 612).
// Entries are few, and those that come while others are on the way go together.
func (n *clusterTransport) AppendEntriesPipeline(raft.ServerID, raft.ServerAddress) (raft.AppendPipeline, error) {
	return nil, raft.ErrPipelineReplicationNotSupported
}

// RequestPreVote works only if the transport beneath supports it.
func (n *clusterTransport) RequestPreVote(id raft.ServerID, target raft.ServerAddress, args *raft.RequestPreVoteRequest, resp *raft.RequestPreVoteResponse) error {
	if t, ok := n.Transport.(raft.WithPreVote); ok {
		if err := n.table.mayStand(); err != nil {
			return err
		}
		n.table.waitForSlot()
		return n.table.candidacy.ask(id, resp, func() error { return t.RequestPreVote(id, target, args, resp) })
	}
	return errNoPreVote
}

// Close implements raft.WithClose.
func (n *clusterTransport) Close() error {
	var errs []error
	for _, t := range []raft.Transport{n.Transport, n.heartbeats} {
		if c, ok := t.(raft.WithClose); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}
