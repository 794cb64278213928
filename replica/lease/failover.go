package lease

import (
	"cmp"
	"slices"

	"github.com/ringside-kv/ringside/replica/table"
)

// MaxFailoverTries bounds how often one failover is proposed while the table changes.
const MaxFailoverTries = 8

// A FenceRequest says that a start of a node is about to be replaced. The receiver rejects all
// further frames of that start.
type FenceRequest struct {
	Node        string `json:"node"`
	Incarnation uint64 `json:"incarnation,string"`
}

// A FenceReply says how far the answering node has followed that start.
type FenceReply struct {
	// Incarnation is the answering node's own start.
	Incarnation uint64 `json:"incarnation,string"`
	// Last is the number of the last change received, valid if Known.
	Last  uint64 `json:"last,string"`
	Known bool   `json:"known"`
	// Refuses reports that the answering node's store refuses writes.
	Refuses bool `json:"refuses,omitempty"`
}

// A Failover holds the replicated rows of one start of a primary, by one state of the table, and
// the replies of their members. It is for one entry: if the rows are unchanged when the entry is
// applied, the replies still hold. Later a member may have been copied again and have more than it
// said.
type Failover struct {
	St         *table.State
	Failed     NodeStart // the start that serves the rows
	registered uint64    // the registered start of the same node
	Rows       []*table.Row
	Answers    map[string]FenceReply
}

// NewFailover returns the failover of a start; nil if it serves no row with backups.
func NewFailover(st *table.State, failed NodeStart) *Failover {
	n, known := st.Node(failed.Node)
	rows := rowsOfStart(st, failed.Node)[failed.Incarnation]
	if !known || len(rows) == 0 {
		return nil
	}
	return &Failover{St: st, Failed: failed, registered: n.Incarnation, Rows: rows, Answers: make(map[string]FenceReply)}
}

// rowsOfStart returns the rows with backups whose primary is a node, by the start that serves them.
func rowsOfStart(st *table.State, node string) map[uint64][]*table.Row {
	rows := make(map[uint64][]*table.Row)
	for row := range st.Rows() {
		if row.Primary == node && len(row.Backups) > 0 {
			rows[row.Incarnation] = append(rows[row.Incarnation], row)
		}
	}
	return rows
}

// MembersToAsk returns the nodes whose replies matter: the backups, and the node itself if it has
// started again.
func (v *Failover) MembersToAsk() []string {
	var nodes []string
	if v.registered != v.Failed.Incarnation {
		nodes = append(nodes, v.Failed.Node)
	}
	for _, row := range v.Rows {
		for _, b := range row.Backups {
			if !slices.Contains(nodes, b) {
				nodes = append(nodes, b)
			}
		}
	}
	return nodes
}

// chooseSuccessors returns the new primary of each row. Every member of a set has all acknowledged
// changes, so any of them could take over. The one with the most changes does, since it can bring
// the others up to date. Members that did not reply leave the set, and so do those that were
// started again and do not know how far they had followed. A row of which no member replies waits.
//
// It is pure. The replies must come from registered starts: a start that lost data has left all
// sets in the entry that registered it, except those that it leads.
func (v *Failover) chooseSuccessors() []table.Succession {
	var all []table.Succession
	for _, row := range v.Rows {
		var known, others []string // in the order of succession
		for _, b := range row.Backups {
			switch a, ok := v.Answers[b]; {
			case !ok || !IsRegistered(v.St, b, a.Incarnation):
			case a.Known:
				known = append(known, b)
			default:
				others = append(others, b)
			}
		}
		slices.SortStableFunc(known, func(a, b string) int {
			return cmp.Or(cmp.Compare(v.Answers[b].Last, v.Answers[a].Last), v.writableFirst(a, b))
		})
		slices.SortStableFunc(others, v.writableFirst)
		switch {
		case len(known) > 0:
			all = append(all, table.Succession{Row: row.Ref(), Primary: known[0], Backups: known[1:]})
		case v.primaryReturned():
			all = append(all, table.Succession{Row: row.Ref(), Primary: v.Failed.Node})
		case len(others) > 0:
			all = append(all, table.Succession{Row: row.Ref(), Primary: others[0]})
		}
	}
	return all
}

// writableFirst orders members with equally many changes.
func (v *Failover) writableFirst(a, b string) int {
	switch {
	case v.Answers[a].Refuses == v.Answers[b].Refuses:
		return 0
	case v.Answers[b].Refuses:
		return -1
	}
	return 1
}

// primaryReturned reports whether the node has started again with all its data.
func (v *Failover) primaryReturned() bool {
	if v.registered == v.Failed.Incarnation {
		return false
	}
	a, answered := v.Answers[v.Failed.Node]
	n, _ := v.St.Node(v.Failed.Node)
	return answered && n.Intact && n.Incarnation == a.Incarnation
}

// IsRegistered reports whether the table names this start of a node as its present one.
func IsRegistered(st *table.State, node string, incarnation uint64) bool {
	n, known := st.Node(node)
	return known && n.State != table.Gone && n.Incarnation == incarnation
}

// Command returns the failover as a command; nil if no row has a successor.
func (v *Failover) Command() *table.Failover {
	rows := v.chooseSuccessors()
	if len(rows) == 0 {
		return nil
	}
	_, answered := v.Answers[v.Failed.Node]
	return &table.Failover{Node: v.Failed.Node, Incarnation: v.registered, Rows: rows, Stays: answered}
}
