package resp

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/placement"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

func cmdClusterMyid(x *call) { x.BulkString(placement.NodeID(x.srv.selfID())) }

// cmdClusterMyshardid is of Redis 7.2. A node may have copies of several shards: each is one of its own.
func cmdClusterMyshardid(x *call) { x.BulkString(placement.NodeID("shard of " + x.srv.selfID())) }

func cmdClusterKeyslot(x *call) { x.Int(int64(ring.Slot(x.Args[2]))) }

func cmdClusterInfo(x *call) {
	v := x.slotView()
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

func cmdClusterNodes(x *call) {
	v := x.slotView()
	var b strings.Builder
	for _, id := range v.Nodes {
		if !v.known(id) {
			continue
		}
		at := v.hosts[id]
		flags, master := "master", "-"
		if of := v.Masters[id]; of != "" {
			flags, master = "slave", placement.NodeID(of)
		}
		if v.proxies[id] {
			flags += ",proxy" // clients skip flags that they do not know
		}
		if id == v.self {
			flags = "myself," + flags
		}
		link := "connected"
		if v.away[id] {
			flags, link = flags+",fail", "disconnected"
		}
		fmt.Fprintf(&b, "%s %s:%d@%d %s %s 0 0 %d %s", placement.NodeID(id), at.Host, at.port, busPort(at.port), flags, master, v.Epoch, link)
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

func cmdClusterSlots(x *call) {
	v := x.slotView()
	runs := slices.DeleteFunc(slices.Clone(v.Runs), func(run placement.SlotRun) bool { return !v.known(run.Primary) })
	x.Array(len(runs))
	for _, run := range runs {
		// As in Redis, replicas that are gone are not offered.
		copies := slices.DeleteFunc(v.copies(&run), func(id string) bool { return id != run.Primary && v.away[id] })
		x.Array(2 + len(copies))
		x.Int(int64(run.First))
		x.Int(int64(run.Last))
		for _, id := range copies {
			at := v.hosts[id]
			x.Array(4)
			x.BulkString(at.Host)
			x.Int(int64(at.port))
			x.BulkString(placement.NodeID(id))
			x.Map(0) // further addresses
		}
	}
}

// copies are the primary and its replicas of which clients can be told.
func (v *slotView) copies(run *placement.SlotRun) []string {
	hidden := func(id string) bool { return !v.known(id) || v.Masters[id] != run.Primary }
	return append([]string{run.Primary}, slices.DeleteFunc(slices.Clone(run.Backups), hidden)...)
}

// cmdClusterShards lists slots that have the same copies as one shard: a node may be in
// several.
func cmdClusterShards(x *call) {
	v := x.slotView()
	type shard struct{ runs []placement.SlotRun }
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
	idle := slices.DeleteFunc(slices.Clone(v.Nodes), func(id string) bool { return shown[id] || !v.known(id) || v.proxies[id] })
	x.Array(len(shards) + len(idle))
	for _, s := range shards {
		x.shard(&v, s.runs, v.copies(&s.runs[0]))
	}
	for _, id := range idle {
		x.shard(&v, nil, []string{id})
	}
}

// shard appends one shard, its primary first.
func (x *call) shard(v *slotView, runs []placement.SlotRun, nodes []string) {
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
		at := v.hosts[id]
		role := "master"
		if i > 0 {
			role = "replica"
		}
		x.Map(7)
		x.BulkString("id")
		x.BulkString(placement.NodeID(id))
		x.BulkString("port")
		x.Int(int64(at.port))
		x.BulkString("ip")
		x.BulkString(at.Host)
		x.BulkString("endpoint")
		x.BulkString(at.Host)
		x.BulkString("role")
		x.BulkString(role)
		x.BulkString("replication-offset")
		x.Int(0)
		x.BulkString("health")
		if v.away[id] {
			x.BulkString("fail")
		} else {
			x.BulkString("online")
		}
	}
}

// cmdClusterCountkeysinslot counts this node's keys of a slot. Where tokens are not
// slots, it is all keys of the cluster that are asked, one by one: this node shows
// itself as the owner of all slots then.
func cmdClusterCountkeysinslot(x *call) {
	slot, ok := wire.ParseInt(x.Args[2])
	switch {
	case !ok:
		x.Error(command.MsgNotInteger)
		return
	case slot < 0 || slot >= ring.Slots:
		x.Error("ERR Invalid slot")
		return
	case !x.srv.cfg.Slots && x.spreads():
		if replies, ok := x.scatter(longTimeout, x.Args...); ok {
			x.Int(wire.SumInts(replies))
		}
		return
	}
	n := int64(0)
	err := x.eachInSlot(uint16(slot), func([]byte) bool {
		n++
		return true
	})
	if err != nil {
		x.Fail(err)
		return
	}
	if x.awaitSeen(len(x.Buf)) {
		x.Int(n)
	}
}

func cmdClusterGetkeysinslot(x *call) {
	slot, ok := wire.ParseInt(x.Args[2])
	most, okMost := wire.ParseInt(x.Args[3])
	switch {
	case !ok || !okMost:
		x.Error(command.MsgNotInteger)
		return
	case slot < 0 || slot >= ring.Slots || most < 0:
		x.Error("ERR Invalid slot or number of keys")
		return
	case !x.srv.cfg.Slots && x.spreads():
		if replies, ok := x.scatter(longTimeout, x.Args...); ok {
			x.joinArrays(replies, int(min(most, maxCount)))
		}
		return
	}
	l := x.newLister([]byte("*"), math.MaxInt)
	err := x.eachInSlot(uint16(slot), func(key []byte) bool {
		return int64(l.n) < most && l.add(key) && int64(l.n) < most
	})
	l.end(err, nil)
}

// eachInSlot visits this node's keys of a slot, until visit returns false.
func (x *call) eachInSlot(slot uint16, visit func(key []byte) bool) error {
	if !x.srv.cfg.Slots {
		return x.eachOwn(func(e store.Entry) bool {
			return ring.Slot(database.Name(e.Key)) != slot || visit(bytes.Clone(e.Key))
		})
	}
	token := ring.Token(slot) << placement.SlotShift
	return x.own(func(spans []ring.Range) error {
		for _, span := range spans {
			if !span.Contains(token) {
				continue
			}
			// All keys of a slot have its first token.
			one := ring.Range{Start: token, End: token + 1}
			_, _, err := x.srv.store.ScanIn(one, store.CursorAt(token), maxCount, func(e store.Entry) bool { return visit(e.Key) })
			return err
		}
		return nil
	})
}

// cmdReadonly is READONLY: from now on a redirect connection may read, at this node, keys of
// which this node has a copy; see [conn.readsCopy]. Everywhere else reads need no such
// permission. It is accepted on a lone node, too, unlike by Redis without cluster mode: a
// lone node answers CLUSTER like a cluster of one, and clients of a cluster send READONLY to
// each node that they know.
func cmdReadonly(x *call) {
	x.conn.session.readonly = true
	x.OK()
}

// cmdReadwrite is READWRITE, which ends READONLY.
func cmdReadwrite(x *call) {
	x.conn.session.readonly = false
	x.OK()
}
func cmdAsking(x *call) { x.OK() }
