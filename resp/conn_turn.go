package resp

import "github.com/ringside-kv/ringside/internal/rounds"

// A connection is served in rounds of many connections (package rounds) or by a goroutine of its own. It leaves
// the round before what may wait (leaveTurn): for other nodes, for values that the cache does not have, for latches
// that are taken, for clients that read slowly. A wait that is overlooked, or a command that takes long, costs the
// other connections some milliseconds.

// maxTurnReads is how often a connection reads in one turn.
const maxTurnReads = 4

// turns is where a connection is served.
type turns struct {
	polled    *rounds.Conn // nil: by its own goroutine only
	turn      rounds.Turn
	turnReads int  // of the socket in this turn
	diskReads int  // of single entries in this turn
	drained   bool // the last read took all that there was
}

// A turnHandler serves a connection of a poller.
type turnHandler struct{ c *conn }

// Ready implements [rounds.Handler].
func (h turnHandler) Ready(t rounds.Turn) {
	c := h.c
	if c.asyncForward.on { // the goroutine that receives the replies owns all but the reads until they have left
		select {
		case <-c.asyncForward.done:
			c.asyncForward.on = false
		default:
			t.Leave()
		}
	}
	if t.InRound() {
		c.turn, c.turnReads, c.diskReads = t, 0, 0
	}
	c.serve()
}

// Resume implements [rounds.Handler].
func (h turnHandler) Resume() { h.c.serve() }

// leaveTurn has the connection go on in a goroutine of its own, if it has a turn.
func (t *turns) leaveTurn() { t.turn.Leave() }

// parkIdle gives the connection up until its client sends something, if it may be served in a round. It
// returns false if the caller keeps it.
func (t *turns) parkIdle() bool {
	if t.polled == nil || !t.drained {
		return false
	}
	t.drained = false
	turn := t.turn
	if turn.InRound() { // else the goroutine that receives replies may read it
		t.turn = rounds.Turn{}
	}
	parked := t.polled.Park()
	if !parked && turn.InRound() {
		t.turn = turn
	}
	return parked
}

// maxDiskReads is how many entries a connection reads from disk in one turn, while that is quick. To leave the round
// takes longer than to read two.
const maxDiskReads = 2

// beforeDisk leaves the round before a read that is not brief.
func beforeDisk(c *conn, brief bool) {
	if c.diskReads++; !brief || c.diskReads > maxDiskReads || !c.srv.store.ReadsAreQuick() {
		c.leaveTurn()
	}
}

// readInTurn reads what there is, without waiting.
func readInTurn(c *conn, b []byte) (int, error) {
	if c.turnReads++; c.turnReads > maxTurnReads || c.end-c.start >= keepInput {
		c.leaveTurn()
		return c.read(b)
	}
	return c.direct.ReadSome(b)
}

// mayWait reports whether the requests of a unit may wait for something other than the disk. A blocking command that
// has registered leaves the round then: so commands that come one after the other begin to wait in this order.
func mayWait(c *conn) bool {
	return c.every || c.srv.pause.Active() || c.srv.quota.Limits() || c.srv.blocked.withTargets.Load() > 0
}

// enqueuesAtOnce reports whether a request is a blocking command that can be sent to its owner without a wait, for the
// same reason: see waitRemotely.
func enqueuesAtOnce(c *conn, r *request, routes *Routes) bool {
	return r.waits && r.owner >= 0 && c.from == nil && !c.pending && len(c.out.Buf) == 0 && !c.srv.pause.Applies(r.cmd) && !redirects(c, routes)
}

// publishesAtOnce reports whether a request is a message to clients of this node alone, which does not wait.
func publishesAtOnce(c *conn, r *request) bool {
	routes := c.srv.routes.Load()
	return r.owner == ownerSelf && r.cmd.Publishes && !c.srv.pause.Applies(r.cmd) && (routes == nil || len(routes.peers) == 0)
}
