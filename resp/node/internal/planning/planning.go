package planning

import (
	"cmp"
	"maps"
	"slices"

	"github.com/ringside-kv/ringside/resp/status"
	"github.com/ringside-kv/ringside/ring"
)

// Nodes compares what nodes serve and copy.
func Nodes(present, desired *ring.Placement, members []ring.Member) []status.PlannedNode {
	nodes := make(map[string]*status.PlannedNode)
	at := func(id string) *status.PlannedNode {
		if nodes[id] == nil {
			nodes[id] = &status.PlannedNode{ID: id}
		}
		return nodes[id]
	}
	for _, m := range members {
		at(m.ID)
	}
	add := func(p *ring.Placement, load func(*status.PlannedNode) *status.PlannedLoad) {
		for row := range p.Rows() {
			if row.Primary != "" {
				l := load(at(row.Primary))
				l.Ranges++
				l.Share += float64(row.Range.Len()) / (1 << 32)
			}
			for _, b := range row.Backups {
				load(at(b)).Backups++
			}
		}
	}
	add(present, func(n *status.PlannedNode) *status.PlannedLoad { return &n.Before })
	add(desired, func(n *status.PlannedNode) *status.PlannedLoad { return &n.After })
	all := make([]status.PlannedNode, 0, len(nodes))
	for _, n := range slices.SortedFunc(maps.Values(nodes), func(a, b *status.PlannedNode) int { return cmp.Compare(a.ID, b.ID) }) {
		all = append(all, *n)
	}
	return all
}

// A Pair is a sender and a receiver.
type Pair struct{ From, To string }

// CountMoves counts the ranges that would go from node to node: those of the desired
// placement, or the parts of them that go together.
func CountMoves(present, desired *ring.Placement) map[Pair]int {
	counts := make(map[Pair]int)
	last := make(map[Pair]ring.Range)
	for _, rows := range ring.Overlay(present, desired) {
		for to := range rows[1].Copies() {
			if rows[0].Primary == "" || rows[0].Holds(to) {
				continue
			}
			p := Pair{rows[0].Primary, to}
			if before, ok := last[p]; !ok || before != rows[1].Range {
				counts[p]++
			}
			last[p] = rows[1].Range
		}
	}
	return counts
}
