package replica

import (
	"cmp"
	"slices"

	"github.com/ringside-kv/ringside/replica/table"
)

// maxFailoverTries bounds how often one failover is proposed while the table changes under it.
const maxFailoverTries = 8

// A fenceRequest tells a node that another is about to be replaced: from then on it takes
// nothing in any more that this start of the other one sends.
type fenceRequest struct {
	Node        string `json:"node"`
	Incarnation uint64 `json:"incarnation,string"`
}

// A fenceReply says what the answering node has of the other.
type fenceReply struct {
	// Incarnation is the answering node's own start.
	Incarnation uint64 `json:"incarnation,string"`
	// Last is the number of the last change that it has, if Known.
	Last  uint64 `json:"last,string"`
	Known bool   `json:"known"`
	// Refuses tells that the answering node's store refuses writes.
	Refuses bool `json:"refuses,omitempty"`
}

// A failover is what the ranges of one start of a primary are that others have in sync, by
// one state, and what those have answered since. It is for one entry: as long as the rows
// are what they were when the members were asked, the entry counts, and so do the answers.
// Later somebody may have been copied anew, and have more than it said.
type failover struct {
	st         *table.State
	failed     nodeStart // the start under which it served the rows
	registered uint64    // the start of it that is registered
	rows       []*table.Row
	answers    map[string]fenceReply
}

// newFailover finds what is vacant by a state; nil if nothing is.
func newFailover(st *table.State, failed nodeStart) *failover {
	n, known := st.Node(failed.node)
	rows := rowsOfStart(st, failed.node)[failed.incarnation]
	if !known || len(rows) == 0 {
		return nil
	}
	return &failover{st: st, failed: failed, registered: n.Incarnation, rows: rows, answers: make(map[string]fenceReply)}
}

// rowsOfStart are the rows that a node serves, or served before it was started again, by the
// start under which it did so, and that have other members.
func rowsOfStart(st *table.State, node string) map[uint64][]*table.Row {
	rows := make(map[uint64][]*table.Row)
	for row := range st.Rows() {
		if row.Primary == node && len(row.Backups) > 0 {
			rows[row.Incarnation] = append(rows[row.Incarnation], row)
		}
	}
	return rows
}

// membersToAsk are the nodes whose answers matter: the other members, and the node itself if it
// is there again.
func (v *failover) membersToAsk() []string {
	var nodes []string
	if v.registered != v.failed.incarnation {
		nodes = append(nodes, v.failed.node)
	}
	for _, row := range v.rows {
		for _, b := range row.Backups {
			if !slices.Contains(nodes, b) {
				nodes = append(nodes, b)
			}
		}
	}
	return nodes
}

// chooseSuccessors says who goes on with each row. Every member of a set has all that was
// acknowledged, so anyone that answers could; the one that has most can bring the others
// to where it is. Whoever cannot be compared with it leaves: those who did not answer,
// and those who were started again and do not know how far they had come. A row of which
// no member answers waits.
//
// It is pure. The answers must be from the starts that the state has registered: whoever
// was started again without all of its data has left the sets in the entry that said so,
// but for those that it leads.
func (v *failover) chooseSuccessors() []table.Succession {
	var all []table.Succession
	for _, row := range v.rows {
		var known, others []string // in the order of succession
		for _, b := range row.Backups {
			switch a, ok := v.answers[b]; {
			case !ok || !isRegistered(v.st, b, a.Incarnation):
			case a.Known:
				known = append(known, b)
			default:
				others = append(others, b)
			}
		}
		slices.SortStableFunc(known, func(a, b string) int {
			return cmp.Or(cmp.Compare(v.answers[b].Last, v.answers[a].Last), v.writableFirst(a, b))
		})
		slices.SortStableFunc(others, v.writableFirst)
		switch {
		case len(known) > 0:
			all = append(all, table.Succession{Row: row.Ref(), Primary: known[0], Backups: known[1:]})
		case v.primaryReturned():
			all = append(all, table.Succession{Row: row.Ref(), Primary: v.failed.node})
		case len(others) > 0:
			all = append(all, table.Succession{Row: row.Ref(), Primary: others[0]})
		}
	}
	return all
}

// writableFirst orders members that have as much as each other.
func (v *failover) writableFirst(a, b string) int {
	switch {
	case v.answers[a].Refuses == v.answers[b].Refuses:
		return 0
	case v.answers[b].Refuses:
		return -1
	}
	return 1
}

// primaryReturned tells whether the node itself is there again with all that it had.
func (v *failover) primaryReturned() bool {
	if v.registered == v.failed.incarnation {
		return false
	}
	a, answered := v.answers[v.failed.node]
	n, _ := v.st.Node(v.failed.node)
	return answered && n.Intact && n.Incarnation == a.Incarnation
}

func isRegistered(st *table.State, node string, incarnation uint64) bool {
	n, known := st.Node(node)
	return known && n.State != table.Gone && n.Incarnation == incarnation
}

// command is the failover as one command; nil if there is nobody to go on with any row.
func (v *failover) command() *table.Failover {
	rows := v.chooseSuccessors()
	if len(rows) == 0 {
		return nil
	}
	_, answered := v.answers[v.failed.node]
	return &table.Failover{Node: v.failed.node, Incarnation: v.registered, Rows: rows, Stays: answered}
}
