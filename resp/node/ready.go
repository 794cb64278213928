package node

import (
	"errors"
	"fmt"

	"github.com/ringside-kv/ringside/replica"
	"github.com/ringside-kv/ringside/ring"
)

// ready tells probes whether the node may get clients, and another node be stopped: once
// it is in its cluster, has seen somebody there to serve each range, and has a copy of
// whatever belongs here as far as those who are there can give it. What happens to other
// nodes later takes their ranges with it, but this node not out of service: it answers for
// its own, so from then on what is missing is only noted.
func (c *cluster) ready() (note string, err error) {
	if !c.entered.Load() {
		return "", errors.New("not in a cluster yet")
	}
	alive := c.aliveNodes()
	text := ""
	if ranges, orphans := c.orphans(alive); orphans > 0 {
		text = fmt.Sprintf("%d of %d ranges have nobody to serve them", orphans, ranges)
	} else if !c.complete.Load() {
		text = c.lacking(alive)
	}
	switch {
	case text == "":
		c.complete.Store(true)
		return "", nil
	case c.complete.Load():
		return text, nil
	}
	return "", errors.New(text)
}

// orphans counts the ranges whose primary is not there.
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

// lacking says what is still to come of the copies that belong here, and of those that
// the ranges of this node are to have; empty if nothing is.
func (c *cluster) lacking(alive map[string]bool) string {
	st := c.table.State()
	members := st.MembersOf()
	stores := 0
	for _, m := range members {
		if alive[m.ID] {
			stores++
		}
	}
	desired, err := replica.Foresee(st, agreedStrategy{c.strategy, c.table.State}, members)
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
