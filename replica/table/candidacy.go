package table

import (
	"errors"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// If two candidates grant each other their pre-votes, each votes for itself, and the next election
// comes only after leases have expired. So of two candidates that ask each other at the same moment,
// the one with the smaller id refuses.

// errStands refuses a pre-vote.
var errStands = errors.New("table: this server stands for election itself")

// A candidacy is how far this server has come with its own election.
type candidacy struct {
	mu sync.Mutex
	// asked are the servers that have not answered its request for their pre-vote.
	asked map[raft.ServerID]bool
	// granted is when a server last granted its pre-vote.
	granted time.Time
}

// ask asks a server for its pre-vote.
func (c *candidacy) ask(server raft.ServerID, resp *raft.RequestPreVoteResponse, ask func() error) error {
	c.mu.Lock()
	if c.asked == nil {
		c.asked = make(map[raft.ServerID]bool)
	}
	c.asked[server] = true
	c.mu.Unlock()
	err := ask()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.asked, server)
	if err == nil && resp.Granted {
		c.granted = time.Now()
	}
	return err
}

// isOpen reports whether this server may still win before a rival does: the rival has not answered it,
// or another server granted its pre-vote a moment ago.
func (c *candidacy) isOpen(rival raft.ServerID, moment time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked[rival] || time.Since(c.granted) < moment
}

// standsBefore reports whether this server refuses the pre-vote of a rival because it stands for
// election itself, has the smaller id and has a log at least as new. Since logs and ids are compared,
// at most one of two servers refuses the other; it does so only while its own candidacy is open.
func (t *Table) standsBefore(rival *raft.RequestPreVoteRequest) bool {
	if string(rival.ID) < string(t.disk.server) || !t.candidacy.isOpen(raft.ServerID(rival.ID), t.cfg.HeartbeatTimeout/2) {
		return false
	}
	last := t.raft.LastIndex()
	var entry raft.Log
	if t.disk.logs.GetLog(last, &entry) != nil {
		return false // its term is unknown
	}
	return entry.Term > rival.LastLogTerm || entry.Term == rival.LastLogTerm && last >= rival.LastLogIndex
}
