package node

import (
	"crypto/x509"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/replica"
	"github.com/ringside-kv/ringside/replica/members"
	"github.com/ringside-kv/ringside/resp/admin"
	"github.com/ringside-kv/ringside/resp/node/internal/facts"
	"github.com/ringside-kv/ringside/ring"
)

// readiness tells whether the node serves all of its keys.
type readiness struct {
	c           *cluster
	wasComplete atomic.Bool // every range has had a running primary
	isolated    atomic.Bool // no majority has been reached for some time
}

// ready returns the readiness checks of the cluster. A node is ready while it serves all its keys.
// At first it must also have seen a running primary of every range, and hold a copy of every range
// that belongs here, as far as other nodes can send them. After that, missing ranges of other nodes
// are only a note: they do not make this node unready.
func (rd *readiness) ready() []admin.Check {
	entered, lease := admin.Check{Name: "cluster"}, admin.Check{Name: "lease"}
	if !rd.c.entry.entered.Load() {
		entered.Err = errors.New("not in a cluster yet")
		return []admin.Check{entered}
	}
	switch {
	case !rd.c.engine.Lease().Valid():
		lease.Err = errors.New("this node has no lease: " + rd.leaseFault())
	case rd.c.n.cfg.Role == RoleProxy && rd.isolated.Load(): // it needs no lease
		lease.Err = errors.New("no leader of the cluster can be reached")
	}
	own, ranges := admin.Check{Name: "keys"}, admin.Check{Name: "ranges"}
	if unserved, of := rd.unserved(); unserved > 0 {
		own.Err = fmt.Errorf("%d of %d ranges of this node are not served", unserved, of)
	}
	alive := members.AliveNodes(rd.c.members.Nodes())
	text := ""
	if all, orphans := rd.orphans(alive); orphans > 0 {
		text = fmt.Sprintf("%d of %d ranges have no node that serves them", orphans, all)
	} else if !rd.wasComplete.Load() {
		text = rd.missingCopies(alive)
	}
	switch {
	case text == "":
		rd.wasComplete.Store(true)
	case rd.wasComplete.Load():
		ranges.Note = text
	default:
		ranges.Err = errors.New(text)
	}
	copies := admin.Check{Name: "copies"}
	if least := rd.c.n.server.MinInSync(); least > 1 {
		if scarce, of := rd.scarce(least); scarce > 0 {
			copies.Err = fmt.Errorf("writes to %d of %d ranges of this node are refused: fewer than %d nodes have them (min-in-sync)", scarce, of, least)
		}
	}
	disk := admin.Check{Name: "disk"}
	if waits := rd.c.n.store.Stalled(); waits >= diskTimeout {
		disk.Err = fmt.Errorf("the disk has not answered for %v", waits.Round(time.Second))
	}
	return []admin.Check{entered, lease, own, ranges, copies, disk}
}

// factsOf returns what the metrics tell of a node and its cluster.
func factsOf(c *cluster) admin.Facts {
	return admin.Facts{
		ID: c.n.id, Role: c.n.cfg.Role, Cluster: c.n.cfg.Cluster, Hash: c.n.cfg.Hash, Ready: c.n.Ready,
		Strategy:    c.n.Strategy,
		Alive:       func() (alive, all int) { return facts.CountAlive(c.members.Nodes()) },
		Leader:      func() (here, known bool) { leader, _ := c.table.Leader(); return leader == c.n.id, leader != "" },
		Disk:        c.n.store.DiskUsage,
		Certificate: func() *x509.Certificate { return facts.Certificate(c.n.tls.Config()) }, Failures: c.n.tls.Failures,
		NodeCertificate: func() *x509.Certificate { return facts.Certificate(c.n.nodeTLS.Config()) }, NodeFailures: c.n.nodeTLS.Failures,
	}
}

// diskTimeout is for how long a write may wait for the disk of a node that is ready.
const diskTimeout = 5 * time.Second

// leaseFault says why there is no lease.
func (rd *readiness) leaseFault() string {
	if leader, _ := rd.c.table.Leader(); leader == "" {
		return "it reaches no majority of the nodes that vote"
	}
	if fault := rd.c.engine.LeaseStats().Fault; fault != "" {
		return fault
	}
	return "the leader has not answered yet"
}

// unserved counts this node's ranges, and those of them that it may not serve: they have
// lost their copies, or are of an earlier start.
func (rd *readiness) unserved() (unserved, of int) {
	st := rd.c.table.State()
	for row := range st.Rows() {
		if row.Primary != rd.c.n.id {
			continue
		}
		of++
		if row.Incarnation != rd.c.incarnation || st.Lost(row) {
			unserved++
		}
	}
	return unserved, of
}

// scarce counts this node's ranges, and those of them that fewer than least nodes have, the primary included.
func (rd *readiness) scarce(least int) (scarce, of int) {
	st := rd.c.table.State()
	for row := range st.Rows() {
		if row.Primary != rd.c.n.id {
			continue
		}
		of++
		if len(row.Backups)+1 < least {
			scarce++
		}
	}
	return scarce, of
}

// orphans counts the ranges whose primary is not running.
func (rd *readiness) orphans(alive map[string]bool) (ranges, orphans int) {
	st := rd.c.table.State()
	for row := range st.Rows() {
		ranges++
		if !alive[row.Primary] || st.Lost(row) || row.Primary == rd.c.n.id && row.Incarnation != rd.c.incarnation {
			orphans++
		}
	}
	return ranges, orphans
}

// missingCopies describes the copies that belong here and are missing, and those that ranges of
// this node lack; empty if there are none.
func (rd *readiness) missingCopies(alive map[string]bool) string {
	st := rd.c.table.State()
	members := st.MembersOf()
	stores := 0
	for _, m := range members {
		if alive[m.ID] {
			stores++
		}
	}
	desired, err := replica.DesiredPlacement(st, rd.c.strategy, members)
	if err != nil {
		return "" // others say so
	}
	copies := min(st.Cluster().Backups+1, stores)
	belong, absent, served, alone := 0, 0, 0, 0
	for _, rows := range ring.Overlay(st.Placement(), desired) {
		is, will := rows[0], rows[1]
		if will.Holds(rd.c.n.id) {
			belong++
			if !is.Holds(rd.c.n.id) && alive[is.Primary] {
				absent++
			}
		}
		if is.Primary == rd.c.n.id {
			served++
			if len(is.Backups)+1 < copies {
				alone++
			}
		}
	}
	paused := ""
	if st.Cluster().Paused {
		paused = "; the moving of data is paused"
	}
	switch {
	case absent > 0:
		return fmt.Sprintf("%d of %d ranges that belong here are not here yet%s", absent, belong, paused)
	case alone > 0:
		return fmt.Sprintf("%d of %d ranges served here have fewer than %d copies%s", alone, served, copies, paused)
	}
	return ""
}
