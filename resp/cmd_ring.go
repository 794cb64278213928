package resp

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/placement"
	"github.com/ringside-kv/ringside/resp/internal/settings"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
)

// cmdRingInfo is what INFO ring tells, and how this connection is routed.
func cmdRingInfo(x *call) {
	w := new(admin.Info)
	w.Line("node", x.srv.selfID())
	id := x.srv.store.Identity()
	w.Line("strategy", x.srv.strategy())
	w.Line("founding_strategy", id.Strategy)
	w.Line("hash", id.Hash)
	w.Line("route", settings.ModeOf(x.conn.session.redirect))
	infoRing(w, x.srv)
	keys, size := x.srv.OwnSize()
	w.Line("own_keys_estimate", keys)
	w.Line("own_bytes_estimate", size)
	keys, size = x.srv.copySize()
	w.Line("backup_keys_estimate", keys)
	w.Line("backup_bytes_estimate", size)
	x.Verbatim(w.Text())
}

// infoRing tells of the routes, and of what became of requests by them.
func infoRing(w *admin.Info, s *Server) {
	routes := s.routes.Load()
	term, nodes, ranges, held := uint64(0), 1, 1, 0
	levels := placement.Levels{Primaries: 1}
	digest := uint64(0)
	if routes != nil {
		term, nodes, ranges = routes.term, len(routes.Nodes), routes.Placement.Len()
		levels = placement.LevelsOf(routes.Placement, routes.Self)
		digest = routes.digest
		for _, owner := range routes.owner {
			held += admin.Bit(owner == ownerHeld)
		}
	}
	w.Line("term", term)
	w.Line("digest", fmt.Sprintf("%016x", digest))
	w.Line("nodes", nodes)
	w.Line("ranges", ranges)
	w.Line("primaries", levels.Primaries)
	w.Line("backups", levels.Backups)
	w.Line("pending", levels.Pending)
	w.Line("held", held)
	w.Line("waiters", s.blocked.queued.Load()) // here, for keys of this node: of clients of any
	w.Line("requests_forwarded", s.stats.Forwarded.Load())
	w.Line("requests_not_mine", s.stats.NotMine.Load())
	w.Line("requests_late", s.stats.Late.Load())
	w.Line("requests_lease_lost", s.stats.LeaseLost.Load())
	w.Line("requests_redirected", s.stats.Redirected.Load())
	w.Line("requests_cross_slot", s.stats.CrossSlot.Load())
	w.Line("requests_keys_apart", s.stats.Apart.Load())
	w.Line("strict_slots", admin.Bit(s.settings.StrictSlots.Load()))
	moves := s.moves()
	admin.InfoMoves(w, &moves, s.stats.Growths.Load(), int64(s.MinInSync()))
}

func infoCluster(w *admin.Info, s *Server) { w.Line("cluster_enabled", admin.Bit(s.clusterMode())) }

// cmdLoadlevels tells how many ranges this node serves, keeps a copy of, and is sending
// or receiving, how much of those that it hands over is not there yet, how many changes its
// backups have not acknowledged, and the load on what it serves. LOADLEVELS RANGES [pieces] is the load by range.
func cmdLoadlevels(x *call) {
	if len(x.Args) > 1 {
		admin.LoadRanges(&x.Call, x.srv.ownRanges, x.srv.meter.Rate, x.srv.store.SizeOf)
		return
	}
	l := placement.Levels{Primaries: 1}
	if routes := x.srv.routes.Load(); routes != nil {
		l = placement.LevelsOf(routes.Placement, routes.Self)
	}
	admin.LoadLevels(&x.Call, l, x.srv.moves(), x.srv.Load())
}

// cmdRingPlacement is RING PLACEMENT [TEXT].
func cmdRingPlacement(x *call) {
	var p *ring.Placement
	if routes := x.srv.routes.Load(); routes != nil {
		p = routes.Placement
	}
	admin.RingPlacement(&x.Call, p)
}

// cmdRingLocate tells where a key lies and who has it.
func cmdRingLocate(x *call) {
	token := x.Unit.Place(storedKey(x, x.Args[2])).Token()
	row := &ring.Row{Range: ring.Whole, Primary: x.srv.selfID()}
	addr := x.conn.net.LocalAddr().String()
	if routes := x.srv.routes.Load(); routes != nil {
		row = routes.Placement.Lookup(token)
		addr = routes.Nodes[row.Primary].Addr
	}
	admin.Location(&x.Call, x.Args[2], token, row, addr)
}

// cmdRingNodes lists the nodes that clients can be told of, with where they find them, so
// that a client that knows the placement can go to its primaries.
func cmdRingNodes(x *call) {
	nodes, p := map[string]Route{x.srv.selfID(): {Addr: x.conn.net.LocalAddr().String()}}, new(ring.Placement)
	if routes := x.srv.routes.Load(); routes != nil {
		nodes, p = routes.Nodes, routes.Placement
	}
	ids := slices.DeleteFunc(slices.Sorted(maps.Keys(nodes)), func(id string) bool { return nodes[id].Addr == "" || nodes[id].Away && !placement.Names(p, id) })
	x.Array(len(ids))
	for _, id := range ids {
		x.Map(2)
		x.BulkString("id")
		x.BulkString(id)
		x.BulkString("addr")
		x.BulkString(nodes[id].Addr)
	}
}

// cmdRingRoute is RING ROUTE [forward|redirect], for this connection.
func cmdRingRoute(x *call) {
	s := &x.conn.session
	switch {
	case len(x.Args) == 2:
		x.BulkString(string(settings.ModeOf(s.redirect)))
	case len(x.Args) == 3 && wire.EqualFold(x.Args[2], string(settings.RouteForward)):
		s.redirect = false
		rerouted(x.conn)
		x.OK()
	case len(x.Args) == 3 && wire.EqualFold(x.Args[2], string(settings.RouteRedirect)):
		s.redirect = true
		rerouted(x.conn)
		x.OK()
	default:
		x.Error(command.MsgSyntax)
	}
}

// rerouted is called when a client has chosen what it gets for keys of other nodes.
func rerouted(c *conn) {
	c.srv.tracking.rerouted(c)
	c.srv.monitors.Change(&c.pushes, sees(c), c.gone)
}

// Words of RING ACK.
const (
	ackInSync  = "in-sync"
	ackPrimary = "primary"
)

// cmdRingAck is RING ACK [primary|in-sync], for this connection: who must have a write
// before its reply leaves.
func cmdRingAck(x *call) {
	s := &x.conn.session
	switch {
	case len(x.Args) == 2 && s.early:
		x.BulkString(ackPrimary)
	case len(x.Args) == 2:
		x.BulkString(ackInSync)
	case len(x.Args) == 3 && wire.EqualFold(x.Args[2], ackPrimary):
		s.early, s.wasEarly = true, true
		x.OK()
	case len(x.Args) == 3 && wire.EqualFold(x.Args[2], ackInSync):
		s.early = false
		x.OK()
	default:
		x.Error(command.MsgSyntax)
	}
}

// cmdHashmask lists the buckets.
func cmdHashmask(x *call) {
	if routes := x.srv.routes.Load(); routes == nil {
		x.Error(admin.MsgNoPlacement)
	} else if placement.Hashmasks(&x.Call, routes.Placement) != nil {
		x.Error(x.srv.hashmaskError())
	}
}

// cmdHashmaskSubscribe has its reply sent before the first change can be.
func cmdHashmaskSubscribe(x *call) {
	if x.conn.from != nil {
		x.Error("ERR a node cannot subscribe to another")
		return
	}
	if x.Proto == 3 {
		x.OK()
	} else {
		x.Array(3)
		x.BulkString("subscribe")
		x.BulkString(placement.Channel)
		x.Int(1)
	}
	c := x.conn
	c.session.watching.Store(true)
	x.then = func() { c.srv.watchers.Add(&c.pushes) }
}
