package resp

import (
	"maps"
	"net"
	"slices"
	"strconv"
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

// A slotView is what a client is told by CLUSTER: the table, and where its nodes are.
type slotView struct {
	*placement.Slots
	self    string
	hosts   map[string]hostPort
	proxies map[string]bool
	away    map[string]bool // nodes that seem to be gone
}

type hostPort struct {
	Host string
	port int
}

func (x *call) slotView() slotView {
	routes := x.srv.routes.Load()
	if routes == nil || !x.srv.cfg.Slots {
		// The client has reached the node where it believes it to be.
		self := x.srv.selfID()
		return slotView{
			Slots: placement.LoneSlots(self),
			self:  self,
			hosts: map[string]hostPort{self: splitAddr(x.conn.net.LocalAddr().String())},
		}
	}
	v := slotView{Slots: routes.slotTable(), self: routes.Self, hosts: make(map[string]hostPort), proxies: make(map[string]bool), away: make(map[string]bool)}
	for id, node := range routes.Nodes {
		if node.Addr != "" {
			v.hosts[id] = splitAddr(node.Addr)
		}
		v.proxies[id] = node.Proxy
		v.away[id] = node.Away && id != v.self
	}
	if _, ok := v.hosts[v.self]; !ok {
		v.hosts[v.self] = splitAddr(x.conn.net.LocalAddr().String())
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

func splitAddr(addr string) hostPort {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return hostPort{Host: addr}
	}
	n, _ := strconv.Atoi(port)
	return hostPort{host, n}
}

// known tells whether clients can be told where a node is.
func (v *slotView) known(id string) bool {
	_, ok := v.hosts[id]
	return ok
}
