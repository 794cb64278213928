package resp

import (
	"maps"
	"slices"
	"sync"

	"github.com/ringside-kv/ringside/resp/internal/placement"
)

// The placement as Redis Cluster describes it: runs of slots, each with its primary, and
// as replicas those of its backups that have no slots of their own. In slot mode they are those of
// the routes. Otherwise, and on a lone node, this node is the owner of all slots, so that cluster
// clients work through it: it forwards what is not its own.

// onceSlotTable makes the table of some routes when it is first asked for.
type onceSlotTable struct {
	once  sync.Once
	table *placement.Slots
}

func (r *Routes) slotTable() *placement.Slots {
	r.slots.once.Do(func() {
		r.slots.table = placement.NewSlots(r.Placement, slices.AppendSeq([]string{r.Self}, maps.Keys(r.Nodes)))
	})
	return r.slots.table
}

// clusterMode tells whether the node shows itself as one of a Redis Cluster.
func (s *Server) clusterMode() bool { return s.cfg.Slots && s.routes.Load() != nil }

// mode is what HELLO and INFO call it.
func (s *Server) mode() string {
	if s.clusterMode() {
		return "cluster"
	}
	return "standalone"
}

// slotView is what CLUSTER tells the client.
func (x *call) slotView() *placement.View {
	routes := x.srv.routes.Load()
	if routes == nil || !x.srv.cfg.Slots {
		// The client has reached the node where it believes it to be.
		self := x.srv.selfID()
		return &placement.View{
			Slots: placement.LoneSlots(self),
			Self:  self,
			Hosts: map[string]placement.HostPort{self: placement.SplitAddr(x.conn.net.LocalAddr().String())},
		}
	}
	v := &placement.View{
		Slots: routes.slotTable(), Self: routes.Self,
		Hosts: make(map[string]placement.HostPort), Zones: make(map[string]string), Proxies: make(map[string]bool), Away: make(map[string]bool),
	}
	for id, node := range routes.Nodes {
		if node.Addr != "" {
			v.Hosts[id] = placement.SplitAddr(node.Addr)
		}
		v.Proxies[id], v.Zones[id] = node.Proxy, node.Zone
		v.Away[id] = node.Away && id != v.Self
	}
	if _, ok := v.Hosts[v.Self]; !ok {
		v.Hosts[v.Self] = placement.SplitAddr(x.conn.net.LocalAddr().String())
	}
	return v
}

// selfID is the node's id, by the routes if there are any.
func (s *Server) selfID() string {
	if routes := s.routes.Load(); routes != nil {
		return routes.Self
	}
	return s.cfg.NodeID
}
