package lease

import (
	"cmp"
	"slices"

	"github.com/ringside-kv/ringside/replica/table"
)

// maxFailoverTries bounds how often one failover is proposed while the table changes under it.
const MaxFailoverTries = 8

// A fenceRequest tells a node that another is about to be replaced: from then on it takes
// nothing in any more that this start of the other one sends.
type FenceRequest struct {
	Node        string `json:"node"`
	Incarnation uint64 `json:"incarnation,string"`
}

// A fenceReply says what the answering node has of the other.
type FenceReply struct {
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
type Failover struct {
	St         *table.State
	Failed     NodeStart // the start under which it served the rows
	registered uint64    // the start of it that is registered
	Rows       []*table.Row
	Answers    map[string]FenceReply
}

// newFailover finds what is vacant by a state; nil if nothing is.
func NewFailover(st *table.State, failed NodeStart) *Failover {
	n, known := st.Node(failed.Node)
	rows := rowsOfStart(st, failed.Node)[failed.Incarnation]
	if !known || len(rows) == 0 {
		return nil
	}
	return &Failover{St: st, Failed: failed, registered: n.Incarnation, Rows: rows, Answers: make(map[string]FenceReply)}
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

// chooseSuccessors says who goes on with each row. Every member of a set has all that was
// acknowledged, so anyone that answers could; the one that has most can bring the others
// to where it is. Whoever cannot be compared with it leaves: those who did not answer,
// and those who were started again and do not know how far they had come. A row of which
// no member answers waits.
//
// It is pure. The answers must be from the starts that the state has registered: whoever
// was started again without all of its data has left the sets in the entry that said so,
// but for those that it leads.
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

// writableFirst orders members that have as much as each other.
func (v *Failover) writableFirst(a, b string) int {
	switch {
	case v.Answers[a].Refuses == v.Answers[b].Refuses:
		return 0
	case v.Answers[b].Refuses:
		return -1
	}
	return 1
}

// primaryReturned tells whether the node itself is there again with all that it had.
func (v *Failover) primaryReturned() bool {
	if v.registered == v.Failed.Incarnation {
		return false
	}
	a, answered := v.Answers[v.Failed.Node]
	n, _ := v.St.Node(v.Failed.Node)
	return answered && n.Intact && n.Incarnation == a.Incarnation
}

func IsRegistered(st *table.State, node string, incarnation uint64) bool {
	n, known := st.Node(node)
	return known && n.State != table.Gone && n.Incarnation == incarnation
}

// command is the failover as one command; nil if there is nobody to go on with any row.
func (v *Failover) Command() *table.Failover {
	rows := v.chooseSuccessors()
	if len(rows) == 0 {
		return nil
	}
	_, answered := v.Answers[v.Failed.Node]
	return &table.Failover{Node: v.Failed.Node, Incarnation: v.registered, Rows: rows, Stays: answered}
}
