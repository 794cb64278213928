package node

import (
	"slices"

	"github.com/ringside-kv/ringside/replica/members"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/resp/status"
)

// feedStatus is how this node stands with its backups.
func (rd *readiness) feedStatus() (s status.Feeding) {
	for _, f := range rd.c.engine.Feeds() {
		s.Pending += f.Pending
		s.PendingFor = max(s.PendingFor, f.Waits.Seconds())
	}
	return s
}

// shortages counts the ranges that have fewer backups than are wanted, or than there are
// other stores to have them, and those of which no node with a copy seems to be there.
func (rd *readiness) shortages(st *table.State) (short, lost int) {
	alive := make(map[string]bool)
	for _, m := range rd.c.members.Nodes() {
		alive[m.ID] = m.Status == members.Alive
	}
	want := min(st.Cluster().Backups, max(len(st.MembersOf())-1, 0))
	for row := range st.Rows() {
		there := func(node string) bool { return alive[node] }
		if len(row.Backups) < want {
			short++
		}
		if !there(row.Primary) && !slices.ContainsFunc(row.Backups, there) {
			lost++
		}
	}
	return short, lost
}
