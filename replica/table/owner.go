package table

import (
	"cmp"
	"slices"
)

// Owner returns the name of the node that a directory belongs to, by the table that the
// directory holds; empty if the table knows none.
//
// Versions before the name was stored in the directory could register one directory
// under several names: that of the host had changed, or another one was asked for. The
// data belong to the name with most ranges that no other node holds, then to the one with
// most ranges, then to the one that was registered last. also tells of further names that
// belong to the directory; it may be nil.
func (r *Remains) Owner(also func(name string) bool) string {
	var names []string
	for i := range r.State.nodes {
		n := &r.State.nodes[i]
		if n.Server != "" && n.Server == r.Server || also != nil && also(n.ID) {
			names = append(names, n.ID)
		}
	}
	if len(names) == 0 {
		return ""
	}
	alone, held := make(map[string]int), make(map[string]int)
	for row := range r.State.Rows() {
		others := false
		for node := range row.Copies() {
			others = others || row.Holds(node) && !slices.Contains(names, node)
		}
		for _, name := range names {
			if row.Holds(name) {
				held[name]++
				alone[name] += bit(!others)
			}
		}
	}
	incarnation := func(name string) uint64 {
		n, _ := r.State.Node(name)
		return n.Incarnation
	}
	return slices.MaxFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(alone[a], alone[b]), cmp.Compare(held[a], held[b]), cmp.Compare(incarnation(a), incarnation(b)))
	})
}

// directories maps each server of the group to the node that its directory was last
// started as: see [Remains.Owner]. Nodes that are gone have none.
func (s *State) directories() map[string]*Node {
	nodes := make(map[string]*Node)
	for i := range s.nodes {
		n := &s.nodes[i]
		if n.Server == "" || n.State == Gone {
			continue
		}
		if other := nodes[n.Server]; other == nil || n.Incarnation > other.Incarnation {
			nodes[n.Server] = n
		}
	}
	return nodes
}

// FormerNames returns the other nodes as which the directory of a node was registered,
// without those that are gone.
func (s *State) FormerNames(id string) []Node {
	self, ok := s.Node(id)
	if !ok || self.Server == "" {
		return nil
	}
	var former []Node
	for _, n := range s.nodes {
		if n.Server == self.Server && n.ID != id && n.State != Gone {
			former = append(former, n)
		}
	}
	return former
}
