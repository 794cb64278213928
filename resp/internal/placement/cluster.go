package placement

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/ring"
)

// A View is what a client is told by CLUSTER: the table, and where its nodes are.
type View struct {
	*Slots
	Self    string
	Hosts   map[string]HostPort
	Proxies map[string]bool
	Away    map[string]bool // nodes that seem to be gone
	Zones   map[string]string
}

// A HostPort is the address of a node for clients.
type HostPort struct {
	Host string
	Port int
}

// SplitAddr splits an address; one without a port is a host.
func SplitAddr(addr string) HostPort {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return HostPort{Host: addr}
	}
	n, _ := strconv.Atoi(port)
	return HostPort{host, n}
}

// known tells whether clients can be told where a node is.
func (v *View) known(id string) bool {
	_, ok := v.Hosts[id]
	return ok
}

// zone is what clients are told of the zone of a node, as by Valkey 9.1: nothing if it has none.
func (v *View) zone(id string) []string {
	if zone := v.Zones[id]; zone != "" {
		return []string{"availability-zone", zone}
	}
	return nil
}

// ReplyInfo replies to CLUSTER INFO.
func ReplyInfo(x *command.Call, v *View) {
	state := "ok"
	if v.Bad > 0 {
		state = "fail"
	}
	primaries := map[string]bool{}
	for _, run := range v.Runs {
		primaries[run.Primary] = true
	}
	var b []byte
	for _, f := range []struct {
		name  string
		value any
	}{
		{"cluster_state", state},
		{"cluster_slots_assigned", ring.Slots - v.Bad},
		{"cluster_slots_ok", ring.Slots - v.Bad},
		{"cluster_slots_pfail", 0},
		{"cluster_slots_fail", 0},
		{"cluster_known_nodes", len(v.Nodes)},
		{"cluster_size", len(primaries)},
		{"cluster_current_epoch", v.Epoch},
		{"cluster_my_epoch", v.Epoch},
		// Nodes do not talk as Redis Cluster's do.
		{"cluster_stats_messages_sent", 0},
		{"cluster_stats_messages_received", 0},
		{"total_cluster_links_buffer_limit_exceeded", 0},
	} {
		b = fmt.Appendf(b, "%s:%v\r\n", f.name, f.value)
	}
	x.Verbatim(string(b))
}

// busPort is what Redis Cluster takes for the port between nodes when it is told
// nothing else.
func busPort(port int) int { return port + 10000 }

// ReplyNodes replies to CLUSTER NODES.
func ReplyNodes(x *command.Call, v *View) {
	var b strings.Builder
	for _, id := range v.Nodes {
		if !v.known(id) {
			continue
		}
		at := v.Hosts[id]
		flags, master := "master", "-"
		if of := v.Masters[id]; of != "" {
			flags, master = "slave", NodeID(of)
		}
		if v.Proxies[id] {
			flags += ",proxy" // clients skip flags that they do not know
		}
		if id == v.Self {
			flags = "myself," + flags
		}
		link := "connected"
		if v.Away[id] {
			flags, link = flags+",fail", "disconnected"
		}
		fmt.Fprintf(&b, "%s %s:%d@%d %s %s 0 0 %d %s", NodeID(id), at.Host, at.Port, busPort(at.Port), flags, master, v.Epoch, link)
		for _, run := range v.RunsOf(id) {
			if run.First == run.Last {
				fmt.Fprintf(&b, " %d", run.First)
			} else {
				fmt.Fprintf(&b, " %d-%d", run.First, run.Last)
			}
		}
		b.WriteByte('\n')
	}
	x.Verbatim(b.String())
}

// ReplySlots replies to CLUSTER SLOTS.
func ReplySlots(x *command.Call, v *View) {
	runs := slices.DeleteFunc(slices.Clone(v.Runs), func(run SlotRun) bool { return !v.known(run.Primary) })
	x.Array(len(runs))
	for _, run := range runs {
		// As in Redis, replicas that are gone are not offered.
		copies := slices.DeleteFunc(v.copies(&run), func(id string) bool { return id != run.Primary && v.Away[id] })
		x.Array(2 + len(copies))
		x.Int(int64(run.First))
		x.Int(int64(run.Last))
		for _, id := range copies {
			at := v.Hosts[id]
			x.Array(4)
			x.BulkString(at.Host)
			x.Int(int64(at.Port))
			x.BulkString(NodeID(id))
			zone := v.zone(id) // there are no further addresses
			x.Map(len(zone) / 2)
			for _, text := range zone {
				x.BulkString(text)
			}
		}
	}
}

// copies are the primary and its replicas of which clients can be told.
func (v *View) copies(run *SlotRun) []string {
	hidden := func(id string) bool { return !v.known(id) || v.Masters[id] != run.Primary }
	return append([]string{run.Primary}, slices.DeleteFunc(slices.Clone(run.Backups), hidden)...)
}

// ReplyShards replies to CLUSTER SHARDS: slots with the same copies are one shard, and a node may be in
// several.
func ReplyShards(x *command.Call, v *View) {
	type shard struct{ runs []SlotRun }
	var shards []*shard
	byCopies := make(map[string]*shard)
	shown := make(map[string]bool)
	for _, run := range v.Runs {
		if !v.known(run.Primary) {
			continue
		}
		copies := strings.Join(v.copies(&run), ",")
		s := byCopies[copies]
		if s == nil {
			s = &shard{}
			byCopies[copies] = s
			shards = append(shards, s)
			for _, id := range v.copies(&run) {
				shown[id] = true
			}
		}
		s.runs = append(s.runs, run)
	}
	idle := slices.DeleteFunc(slices.Clone(v.Nodes), func(id string) bool { return shown[id] || !v.known(id) || v.Proxies[id] })
	x.Array(len(shards) + len(idle))
	for _, s := range shards {
		replyShard(x, v, s.runs, v.copies(&s.runs[0]))
	}
	for _, id := range idle {
		replyShard(x, v, nil, []string{id})
	}
}

// replyShard appends one shard, its primary first.
func replyShard(x *command.Call, v *View, runs []SlotRun, nodes []string) {
	x.Map(2)
	x.BulkString("slots")
	x.Array(2 * len(runs))
	for _, run := range runs {
		x.Int(int64(run.First))
		x.Int(int64(run.Last))
	}
	x.BulkString("nodes")
	x.Array(len(nodes))
	for i, id := range nodes {
		at := v.Hosts[id]
		role := "master"
		if i > 0 {
			role = "replica"
		}
		zone := v.zone(id)
		x.Map(7 + len(zone)/2)
		x.BulkString("id")
		x.BulkString(NodeID(id))
		x.BulkString("port")
		x.Int(int64(at.Port))
		x.BulkString("ip")
		x.BulkString(at.Host)
		x.BulkString("endpoint")
		x.BulkString(at.Host)
		x.BulkString("role")
		x.BulkString(role)
		x.BulkString("replication-offset")
		x.Int(0)
		x.BulkString("health")
		if v.Away[id] {
			x.BulkString("fail")
		} else {
			x.BulkString("online")
		}
		for _, text := range zone {
			x.BulkString(text)
		}
	}
}
