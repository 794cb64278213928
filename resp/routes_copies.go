package resp

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/footprint"
	"github.com/ringside-kv/ringside/resp/internal/placement"
	"github.com/ringside-kv/ringside/resp/internal/settings"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// How many nodes have what was written: --min-in-sync refuses writes where they are too
// few, WAIT waits until they are enough.

// msgNoReplicas refuses a write to a range with fewer copies than min-in-sync demands.
const msgNoReplicas = "NOREPLICAS Not enough good replicas to write."

// copies is how many nodes have all of a range by the routes, its primary included.
func copies(row *ring.Row) int { return 1 + len(row.Backups) }

// MinInSync is how many nodes, the primary included, must have a range for writes to it to
// be taken, and acknowledged.
func (s *Server) MinInSync() int { return int(s.settings.MinInSync.Load()) }

// scarce tells whether some of this node's ranges have fewer copies than a write needs.
func (s *Server) scarce(r *Routes) bool {
	return r != nil && r.fewest < int(s.settings.MinInSync.Load())
}

// refuses tells whether writes to a token are refused for want of copies.
func (s *Server) refuses(r *Routes, t ring.Token) bool {
	return copies(r.Placement.Lookup(t)) < int(s.settings.MinInSync.Load())
}

// placement is the newest that this node knows, which may be ahead of the routes.
func (s *Server) placement(routes *Routes) *ring.Placement {
	if s.cfg.Placement != nil {
		if p := s.cfg.Placement(); p != nil {
			return p
		}
	}
	return routes.Placement
}

// ownBackups is how many backups have all that was written to this node's ranges that f
// touches, in the range that has fewest. It is false if this node does not serve all that
// the routes say: somebody else has to be asked then.
//
// Who acknowledges writes without a backup knows of that from the newest placement, and
// only then. So what it names, and is not waited for by others, has everything.
func (s *Server) ownBackups(routes *Routes, f *footprint.Footprint) (n int, ok bool) {
	n = math.MaxInt
	for row := range s.placement(routes).Rows() {
		if !f.Touches(row.Range) {
			continue
		}
		if row.Primary == routes.Self {
			n = min(n, len(row.Backups))
		} else if routes.of(row.Range.Start) == ownerSelf {
			return 0, false
		}
	}
	return n, true
}

// awaitHeld waits until all backups have what was written so far to this node's ranges that
// f touches. It returns false if they do not in time, or never will.
func (x *call) awaitHeld(routes *Routes, f *footprint.Footprint, timeout time.Duration) bool {
	var ranges []ring.Range
	for i, owner := range routes.owner {
		if row := routes.Placement.Row(i); owner == ownerSelf && f.Touches(row.Range) {
			ranges = append(ranges, row.Range)
		}
	}
	w := &heldWait{done: make(chan struct{})}
	x.srv.store.AwaitAcks(w, ranges...)
	if !x.conn.waitOn(timeout, w.done) {
		return false
	}
	select {
	case <-w.done:
		return w.err == nil
	default:
		return false
	}
}

// A heldWait is a store.Waiter.
type heldWait struct {
	done chan struct{}
	err  error // once done
}

// Settled implements store.Waiter.
func (w *heldWait) Settled(err error) {
	w.err = err
	close(w.done)
}

// backupsOf is how many backups have all that the connection has written, in the range
// that has fewest; of a connection that has not written, all ranges count. It is false if
// that is not known: a node does not answer in time, or one of the backups of a range does
// not have all in time.
func (x *call) backupsOf(f *footprint.Footprint, timeout time.Duration) (n int, ok bool) {
	routes := x.srv.routes.Load()
	if routes == nil {
		return 0, true
	}
	if f.IsEmpty() {
		least := math.MaxInt
		for row := range routes.Placement.Rows() {
			least = min(least, len(row.Backups))
		}
		return least, true
	}
	touched := make([]bool, len(routes.links))
	for i := range routes.owner {
		switch owner := routes.owner[i]; {
		case !f.Touches(routes.Placement.Row(i).Range):
		case owner == ownerHeld || owner == ownerNone:
			return 0, false
		case owner >= 0:
			touched[owner] = true
		}
	}
	// Otherwise no reply has left before all backups had what it tells of.
	early := x.conn.session.wasEarly
	part := ringRequest("PART", strconv.FormatUint(routes.digest, 16), "", "RING", "INSYNC", f.String(), strconv.Itoa(admin.Bit(early)))
	var asked []batch
	for i, link := range routes.links {
		if touched[i] {
			asked = append(asked, batch{link: link, bytes: part, requests: 1})
		}
	}
	start := x.srv.clock()
	for i := range asked {
		asked[i].send(Terms{}, timeout, nil)
	}
	ok = !early || x.awaitHeld(routes, f, timeout)
	least, mine := x.srv.ownBackups(routes, f)
	ok = ok && mine
	for i := range asked {
		reply, err := asked[i].reply()
		n, told := wire.ReplyInt(reply)
		if !told || err != nil || n < 0 {
			ok = false
			continue
		}
		least = min(least, int(n))
	}
	x.waited += x.srv.clock() - start
	if !ok || least == math.MaxInt {
		return 0, false
	}
	return least, true
}

// syncCopies has all nodes that have a range which f touches flush their logs to stable storage. It returns 1 if
// the primaries have, else 0, and how many backups of a range have, in the range that has fewest. The caller
// knows that the backups have all that was written (backupsOf).
func (x *call) syncCopies(f *footprint.Footprint, timeout time.Duration) (primaries, backups int) {
	routes := x.srv.routes.Load()
	if routes == nil {
		return admin.Bit(x.srv.store.Sync() == nil), 0 // it does not note what connections write
	}
	newest := x.srv.placement(routes)
	synced := make(map[string]bool)
	for row := range newest.Rows() {
		for _, id := range append([]string{row.Primary}, row.Backups...) {
			if f.Touches(row.Range) {
				synced[id] = false
			}
		}
	}
	asked := make(map[string]*batch)
	for id := range synced {
		if route, ok := routes.Nodes[id]; ok && id != routes.Self {
			asked[id] = &batch{link: &route, bytes: wire.AppendRequest(nil, "RING", "SYNC"), requests: 1}
			asked[id].send(Terms{}, timeout, nil)
		}
	}
	if _, ok := synced[routes.Self]; ok {
		synced[routes.Self] = x.srv.store.Sync() == nil
	}
	for id, b := range asked {
		reply, err := b.reply()
		synced[id] = err == nil && string(reply) == "+OK\r\n"
	}
	return placement.Synced(newest, func(of ring.Range) bool { return f.IsEmpty() || f.Touches(of) },
		func(node string) bool { return f.IsEmpty() || synced[node] })
}

// cmdRingSync is this node's part of WAITAOF.
func cmdRingSync(x *call) {
	if err := x.srv.store.Sync(); err != nil {
		x.Fail(err)
		return
	}
	x.OK()
}

// cmdRingInsync is this node's part of WAIT, within RING PART: how many backups have all
// that was written to its ranges that a footprint touches, in that which has fewest. With
// 1 behind it, it waits until they have.
func cmdRingInsync(x *call) {
	f, ok := footprint.Parse(x.Args[2])
	if !ok {
		x.Error(command.MsgSyntax)
		return
	}
	routes := x.srv.routes.Load()
	if routes == nil {
		x.Int(0)
		return
	}
	if string(x.Args[3]) != "0" && !x.awaitHeld(routes, &f, x.conn.from.remainingWait(&request{}, x.srv.forwardTimeout())) {
		x.Int(0)
		return
	}
	n, ok := x.srv.ownBackups(routes, &f)
	if !ok {
		x.Fail(command.ErrMoved)
		return
	}
	x.Int(int64(min(n, settings.MaxCopies)))
}

// writes notes where a request is to write, and refuses it if this node is to run it and
// too few others have the range.
func (c *conn) writes(r *request, routes *Routes, places []store.Place) {
	if c.from == nil {
		c.footprint.Mark(places)
	}
	if r.every && c.from == nil {
		c.footprint.MarkAll()
	}
	if r.owner != ownerSelf || r.cmd.Script || !c.srv.scarce(routes) {
		return // a script may be refused when it writes
	}
	for _, p := range places {
		if c.srv.refuses(routes, p.Token()) {
			r.msg = msgNoReplicas
			return
		}
	}
}

// backups are the nodes that have some of this node's ranges in sync, and that clients can
// be told of, in the order of their ids.
func (s *Server) backups() (nodes []Route) {
	routes := s.routes.Load()
	if routes == nil {
		return nil
	}
	for _, id := range placement.BackupsOf(routes.Placement, routes.Self) {
		if node, ok := routes.Nodes[id]; ok && node.Addr != "" {
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// countSets counts how often a backup came to this node's ranges, or left.
func (s *Server) countSets(old, now *Routes) {
	if old == nil || old.Placement == now.Placement {
		return
	}
	left, came := placement.SetChanges(old.Placement, now.Placement, now.Self)
	s.stats.Shrinks.Add(left)
	s.stats.Growths.Add(came)
}

// leastCopies completes the routes.
func (r *Routes) leastCopies() {
	r.fewest = settings.MaxCopies
	for i, owner := range r.owner {
		if owner == ownerSelf {
			r.fewest = min(r.fewest, copies(r.Placement.Row(i)))
		}
	}
}

// scarceIn tells whether a write to all of some spans of this node is refused.
func (s *Server) scarceIn(r *Routes, spans []ring.Range) bool {
	if !s.scarce(r) {
		return false
	}
	for i, owner := range r.owner {
		row := r.Placement.Row(i)
		if owner == ownerSelf && copies(row) < int(s.settings.MinInSync.Load()) &&
			slices.ContainsFunc(spans, func(span ring.Range) bool {
				return span.Contains(row.Range.Start) || row.Range.Contains(span.Start)
			}) {
			return true
		}
	}
	return false
}
