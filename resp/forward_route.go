package resp

import (
	"cmp"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/outcome"
)

// Requests whose keys this node does not serve are forwarded to the node that does,
// or the client is told where that is.

// routesPause is how long to wait for new routes before an old one is tried again, at most.
const routesPause = outcome.LongestPause

// isolatedTimeout is how long a request waits for other nodes while this one reaches no
// majority: long enough for a node that answers, which may have a majority.
const isolatedTimeout = 500 * time.Millisecond

// forwardTimeout is how long a request waits for other nodes at most.
func (s *Server) forwardTimeout() time.Duration {
	limit := time.Duration(s.settings.ForwardLimit.Load())
	if r := s.routes.Load(); r != nil && r.Isolated {
		limit = min(limit, isolatedTimeout)
	}
	return limit
}

// forwardPace is how many bytes of a request each second beyond that time is for. What is
// large takes long wherever it is copied and stored, on all nodes that get it.
const forwardPace = 8 << 20

// forwardTime is how long requests of so many bytes wait for other nodes at most.
func (s *Server) forwardTime(bytes int) time.Duration {
	return s.forwardTimeout() + time.Duration(int64(bytes)*int64(time.Second)/forwardPace)
}

const (
	// msgNotMine is the text of a reply with StatusNotRun. Only logs and statistics show it:
	// the status decides, and the text never leaves the cluster.
	msgNotMine   = "NOTMINE"
	msgNoCopy    = "CLUSTERDOWN no copy of the key is there"
	msgCrossSlot = "CROSSSLOT Keys in request don't hash to the same slot: " +
		"give them one hash tag, as in {tag}key, or keep their database together, see RING DATABASE"
	msgUnreachable = outcome.MsgUnreachable
	msgAway        = "CLUSTERDOWN no node that has a copy of the key can be reached"
)

// answerRemote answers the first requests, of which the very first is not this node's by
// the routes. It returns how many; 0 if they are to be looked at again, by newer
// routes.
func (c *conn) answerRemote(reqs []request, routes *Routes) int {
	r := &reqs[0]
	if c.from != nil {
		return c.answerNotOwned(r, routes)
	}
	if !awaitPause(c, r.cmd) {
		return 0
	}
	switch {
	case r.owner == ownerHeld:
		// New routes come often where nodes come and go: the time is that of the request.
		if r.until.IsZero() {
			r.until = time.Now().Add(c.srv.forwardTimeout())
		}
		if left := time.Until(r.until); left > 0 && !routes.Isolated && c.awaitRoutesUnlessReleased(r, routes, left) {
			return 0
		}
		c.refuse(r, cmp.Or(routes.Why, command.MsgMoving))
		return 1
	case r.owner == ownerNone:
		c.refuse(r, msgNoCopy)
		return 1
	case redirects(c, routes) && c.readsCopy(r, routes):
		return c.forward(reqs[:1], routes)
	case redirects(c, routes):
		return c.moved(r, routes)
	case r.owner == ownerSeveral:
		c.split(r, routes)
		return 1
	case r.waits:
		return c.waitRemotely(r, routes)
	}
	return c.forward(reqs[:c.window(reqs, 1, routes)], routes)
}

// redirects reports whether requests for other nodes' keys are answered with where these are. Clients find
// no node for the keys of a database that is kept together, so those are forwarded for all.
func redirects(c *conn, routes *Routes) bool {
	p := routes.Policies.OfDatabase(0)
	return c.session.redirect && !p.Together && !p.Moving
}

// isSentAlong tells whether a request behind others that run here is sent to its owner
// while they do.
func (c *conn) isSentAlong(r *request) bool {
	return r.owner >= 0 && c.from == nil && !c.session.redirect && !c.srv.pause.Active() && !c.caches()
}

// refuse replies with an error to a request that has not run.
func (c *conn) refuse(r *request, msg string) {
	at := len(c.out.Buf)
	c.reject(r.cmd, msg)
	c.count(r.cmd, at)
}

// awaitRoutes waits until there are newer routes; it returns false if there are none
// in time or the connection ends.
func (c *conn) awaitRoutes(routes *Routes, d time.Duration) bool {
	if c.pending {
		c.await()
	}
	if len(c.out.Buf) > 0 && c.from == nil && c.flush() != nil {
		c.closing = true
		return false
	}
	if !c.waitOn(d, routes.next) {
		c.closing = true // nobody is there who could wait on
		return false
	}
	return c.srv.routes.Load() != routes
}

// awaitRoutesUnlessReleased is awaitRoutes for a request of a client. CLIENT UNBLOCK ends the wait
// of a blocking command; it then returns true, and [conn.answerReleased] answers.
func (c *conn) awaitRoutesUnlessReleased(r *request, routes *Routes, d time.Duration) bool {
	if !r.waits {
		return c.awaitRoutes(routes, d)
	}
	if c.pending {
		c.await()
	}
	if len(c.out.Buf) > 0 && c.flush() != nil {
		c.closing = true
		return false
	}
	c.markBlocked(true)
	c.linger(d, routes.next)
	return c.wakeReason(time.Time{}) != waitGoesOn || c.srv.routes.Load() != routes
}

// window is how many of the requests can be under way together: those with one owner
// each, here or elsewhere, and those without keys that only reply. The owners of the
// first ones are known.
func (c *conn) window(reqs []request, known int, routes *Routes) int {
	for n := range reqs {
		r := &reqs[n]
		if n >= known {
			r.owner = c.ownerOf(r, routes)
		}
		switch {
		case r.waits, r.owner == ownerHeld || r.owner == ownerNone || r.owner == ownerSeveral,
			r.msg == "" && !r.cmd.Keyed && !r.cmd.Neutral,
			n > 0 && (r.msg == "" && (c.srv.pause.Applies(r.cmd) || c.seeks(r)) || c.caches()):
			return max(n, 1)
		}
	}
	return len(reqs)
}

// ownerOf is who serves the keys of a request; requests without keys, and those that
// cannot be understood, are answered here.
func (c *conn) ownerOf(r *request, routes *Routes) int32 {
	r.owner = ownerSelf
	if r.msg != "" || !r.cmd.HasKeys() {
		return ownerSelf
	}
	args := c.args[r.first:r.last]
	var err error
	if c.keys, err = r.cmd.KeysOf(args, c.keys[:0]); err != nil {
		return ownerSelf
	}
	c.places = c.places[:0]
	if routes != nil {
		if owner := asStored(c, r, routes, c.keys); owner != ownerSelf {
			r.owner = owner
			return owner
		}
		args = c.args[r.first:r.last]
	}
	for _, k := range c.keys {
		if c.srv.settings.IsTooLong(args[k.Pos]) {
			return ownerSelf // which says so
		}
		c.places = append(c.places, c.unit.Place(args[k.Pos]))
	}
	c.places = append(c.places, r.extra...)
	if routes != nil {
		r.owner = routes.ofAll(c.places)
	}
	if len(c.places) > 1 && !r.judged {
		c.checkSeveralKeys(r, c.places)
	}
	if routes != nil && r.msg == "" && r.cmd.MayWrite {
		c.writes(r, routes, c.places)
	}
	return r.owner
}
