package node

import (
	"errors"
	"fmt"
	"time"

	"github.com/ringside-kv/ringside/replica"
	"github.com/ringside-kv/ringside/resp/admin"
	"github.com/ringside-kv/ringside/ring"
)

// ready returns the readiness checks of the cluster. A node is ready while it serves all its keys.
// At first it must also have seen a running primary of every range, and hold a copy of every range
// that belongs here, as far as other nodes can send them. After that, missing ranges of other nodes
// are only a note: they do not make this node unready.
func (c *cluster) ready() []admin.Check {
	entered, lease := admin.Check{Name: "cluster"}, admin.Check{Name: "lease"}
	if !c.entered.Load() {
		entered.Err = errors.New("not in a cluster yet")
		return []admin.Check{entered}
	}
	if !c.engine.Lease().Valid() {
		lease.Err = errors.New("this node has no lease: " + c.leaseFault())
	}
	own, ranges := admin.Check{Name: "keys"}, admin.Check{Name: "ranges"}
	if unserved, of := c.unserved(); unserved > 0 {
		own.Err = fmt.Errorf("%d of %d ranges of this node are not served", unserved, of)
	}
	alive := c.aliveNodes()
	text := ""
	if all, orphans := c.orphans(alive); orphans > 0 {
		text = fmt.Sprintf("%d of %d ranges have no node that serves them", orphans, all)
	} else if !c.wasComplete.Load() {
		text = c.missingCopies(alive)
	}
	switch {
	case text == "":
		c.wasComplete.Store(true)
	case c.wasComplete.Load():
		ranges.Note = text
	default:
		ranges.Err = errors.New(text)
	}
	disk := admin.Check{Name: "disk"}
	if waits := c.n.store.Stalled(); waits >= diskTimeout {
		disk.Err = fmt.Errorf("the disk has not answered for %v", waits.Round(time.Second))
	}
	return []admin.Check{entered, lease, own, ranges, disk}
}

// diskTimeout is for how long a write may wait for the disk of a node that is ready.
const diskTimeout = 5 * time.Second

// leaseFault says why there is no lease.
func (c *cluster) leaseFault() string {
	if leader, _ := c.table.Leader(); leader == "" {
		return "it reaches no majority of the nodes that vote"
	}
	if fault := c.engine.LeaseStats().Fault; fault != "" {
		return fault
	}
	return "the leader has not answered yet"
}

// unserved counts this node's ranges, and those of them that it may not serve: they have
// lost their copies, or are of an earlier start.
func (c *cluster) unserved() (unserved, of int) {
	st := c.table.State()
	for row := range st.Rows() {
		if row.Primary != c.n.id {
			continue
		}
		of++
		if row.Incarnation != c.incarnation || st.Lost(row) {
			unserved++
		}
	}
	return unserved, of
}

// orphans counts the ranges whose primary is not running.
func (c *cluster) orphans(alive map[string]bool) (ranges, orphans int) {
	st := c.table.State()
	for row := range st.Rows() {
		ranges++
		if !alive[row.Primary] || st.Lost(row) || row.Primary == c.n.id && row.Incarnation != c.incarnation {
			orphans++
		}
	}
	return ranges, orphans
}

// missingCopies describes the copies that belong here and are missing, and those that ranges of
// this node lack; empty if there are none.
func (c *cluster) missingCopies(alive map[string]bool) string {
	st := c.table.State()
	members := st.MembersOf()
	stores := 0
	for _, m := range members {
		if alive[m.ID] {
			stores++
		}
	}
	desired, err := replica.DesiredPlacement(st, agreedStrategy{c.strategy, c.table.State}, members)
	if err != nil {
		return "" // others say so
	}
	copies := min(st.Cluster().Backups+1, stores)
	belong, absent, served, alone := 0, 0, 0, 0
	for _, rows := range ring.Overlay(st.Placement(), desired) {
		is, will := rows[0], rows[1]
		if will.Holds(c.n.id) {
			belong++
			if !is.Holds(c.n.id) && alive[is.Primary] {
				absent++
			}
		}
		if is.Primary == c.n.id {
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
