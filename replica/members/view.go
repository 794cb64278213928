package members

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/hashicorp/serf/serf"
)

// A view is what is known of all nodes at one time. It is never changed.
type view struct {
	nodes  []Node             // by id
	newest map[string]startID // of each id, the one that is the node
}

func (v *view) find(id string) (Node, bool) {
	i, ok := slices.BinarySearchFunc(v.nodes, id, func(n Node, id string) int { return cmp.Compare(n.ID, id) })
	if !ok {
		return Node{}, false
	}
	return v.nodes[i], true
}

// count returns how many nodes have a status.
func (v *view) count(s Status) int {
	n := 0
	for _, node := range v.nodes {
		if node.Status == s {
			n++
		}
	}
	return n
}

// newView folds what Serf knows, lives of nodes, into nodes. Members that are none of
// ours have been refused before; should one be there, it is skipped.
//
// A life that left on purpose does not count if another one of its id is alive: that
// one may have begun anew, from incarnation 1.
func newView(members []serf.Member) *view {
	v := &view{newest: map[string]startID{}}
	alive := map[string]bool{}
	for _, m := range members {
		if l, n, ok := memberNode(m); ok && n.Status == Alive {
			alive[l.id] = true
		}
	}
	best := map[string]Node{}
	for _, m := range members {
		l, n, ok := memberNode(m)
		if !ok || n.Status == Left && alive[l.id] {
			continue
		}
		if other, ok := best[l.id]; ok && compareStartIDs(l, v.newest[l.id], n.Status == Alive, other.Status == Alive) < 0 {
			continue
		}
		best[l.id], v.newest[l.id] = n, l
	}
	v.nodes = make([]Node, 0, len(best))
	for _, n := range best {
		v.nodes = append(v.nodes, n)
	}
	slices.SortFunc(v.nodes, func(a, b Node) int { return cmp.Compare(a.ID, b.ID) })
	return v
}

func memberNode(m serf.Member) (startID, Node, bool) {
	l, err := parseStartID(m.Name)
	if err != nil {
		return startID{}, Node{}, false
	}
	t, err := decodeTags(m.Tags[tagKey])
	if err != nil {
		return startID{}, Node{}, false
	}
	n := Node{
		ID: l.id, Incarnation: l.incarnation,
		Role: t.role, Weight: t.weight, Version: t.version,
		BusAddr: t.busAddr, ClientAddr: t.clientAddr,
		Generation: t.generation, Expect: int(min(t.expect, maxExpect)),
	}
	if ip, ok := netip.AddrFromSlice(m.Addr); ok {
		n.GossipAddr = netip.AddrPortFrom(ip.Unmap(), m.Port).String()
	}
	switch m.Status {
	case serf.StatusAlive, serf.StatusLeaving:
		// Leaving ends with an event if the node goes; if it turns out to be an old
		// message, it ends without one, so it must not show.
		n.Status = Alive
	case serf.StatusFailed:
		n.Status = Failed
	case serf.StatusLeft:
		n.Status = Left
	default:
		return startID{}, Node{}, false
	}
	return l, n, true
}
