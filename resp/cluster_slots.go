package resp

import (
	"crypto/sha1"
	"encoding/hex"
	"maps"
	"net"
	"slices"
	"strconv"
	"sync"

	"github.com/ringside-kv/ringside/ring"
)

// The placement as Redis Cluster describes it: runs of slots, each with its primary, and
// as replicas those of its backups that have no slots of their own. In slot mode they are those of
// the routes. Otherwise, and on a lone node, this node is the owner of all slots, so that cluster
// clients work through it: it forwards what is not its own.

// slotShift turns a token into the slot that it is under --hash slot.
const slotShift = 32 - 14

// A slotRun is slots, both ends included, with the same copies.
type slotRun struct {
	first, last int
	primary     string
	backups     []string
}

// A slotTable is what CLUSTER tells.
type slotTable struct {
	runs []slotRun
	// nodes are all that it names, and those without a slot, ordered.
	nodes []string
	epoch uint64 // the highest
	bad   int    // slots that nobody serves
	// masters names the master of each replica, see replicas.
	masters map[string]string
}

// onceSlotTable makes the table of some routes when it is first asked for.
type onceSlotTable struct {
	once  sync.Once
	table *slotTable
}

func (r *Routes) slotTable() *slotTable {
	r.slots.once.Do(func() { r.slots.table = newSlotTable(r) })
	return r.slots.table
}

func newSlotTable(r *Routes) *slotTable {
	t := &slotTable{nodes: r.Placement.Nodes()}
	for id := range r.Nodes {
		t.addNode(id)
	}
	t.addNode(r.Self)
	for row := range r.Placement.Rows() {
		t.epoch = max(t.epoch, row.Epoch)
	}
	for slot := range ring.Slots {
		row := r.Placement.Lookup(ring.Token(slot) << slotShift)
		if row.Primary == "" {
			t.bad++
			continue
		}
		if n := len(t.runs); n > 0 {
			if run := &t.runs[n-1]; run.last == slot-1 && run.primary == row.Primary && slices.Equal(run.backups, row.Backups) {
				run.last = slot
				continue
			}
		}
		t.runs = append(t.runs, slotRun{slot, slot, row.Primary, row.Backups})
	}
	t.masters = t.replicas()
	return t
}

func (t *slotTable) addNode(id string) {
	if i, found := slices.BinarySearch(t.nodes, id); !found {
		t.nodes = slices.Insert(t.nodes, i, id)
	}
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
	*slotTable
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
			slotTable: &slotTable{
				runs:  []slotRun{{first: 0, last: ring.Slots - 1, primary: self}},
				nodes: []string{self},
				epoch: 1,
			},
			self:  self,
			hosts: map[string]hostPort{self: splitAddr(x.conn.net.LocalAddr().String())},
		}
	}
	v := slotView{slotTable: routes.slotTable(), self: routes.Self, hosts: make(map[string]hostPort), proxies: make(map[string]bool), away: make(map[string]bool)}
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

// clusterID is a node's id in the form that Redis Cluster has: 40 hexadecimal digits,
// the SHA-1 of ours.
func clusterID(id string) string {
	sum := sha1.Sum([]byte(id))
	return hex.EncodeToString(sum[:])
}

// known tells whether clients can be told where a node is.
func (v *slotView) known(id string) bool {
	_, ok := v.hosts[id]
	return ok
}

// runsOf are the slots of which a node is the primary.
func (v *slotView) runsOf(id string) (runs []slotRun) {
	for _, run := range v.runs {
		if run.primary == id {
			if n := len(runs); n > 0 && runs[n-1].last == run.first-1 {
				runs[n-1].last = run.last
				continue
			}
			runs = append(runs, run)
		}
	}
	return runs
}

// replicas are the nodes without slots of their own that have copies of one node's only,
// with that node. Redis Cluster has one role a node: clients send READONLY to no node that
// is a master of any slot, so all other backups are left out of what CLUSTER tells.
func (t *slotTable) replicas() map[string]string {
	masters := make(map[string]string)
	for _, run := range t.runs {
		for _, id := range run.backups {
			if of, ok := masters[id]; ok && of != run.primary {
				masters[id] = "" // several nodes'
				continue
			}
			masters[id] = run.primary
		}
	}
	for _, run := range t.runs {
		delete(masters, run.primary)
	}
	maps.DeleteFunc(masters, func(_, of string) bool { return of == "" })
	return masters
}
