package resp

import (
	"bytes"
	"strconv"
	"time"

	"github.com/tidwall/redcon"
)

// Commands on all keys are done by every node for its own ranges. So that no range is
// left out or counted twice while ranges change hands, a node does its part only if it
// agrees with the one that asks on who serves what: RING PART, with the digest of the
// routes.

// longTimeout is how long a client waits for nodes that go through all their keys. For
// those that cannot begin it waits no longer than for any other request.
const longTimeout = 5 * time.Minute

// spreadCommands are the commands that every node does a part of on a forward
// connection.
var spreadCommands = map[string]bool{
	"dbsize": true, "keys": true, "randomkey": true, "scan": true, "flushall": true, "flushdb": true,
	"cluster|countkeysinslot": true, "cluster|getkeysinslot": true, "ring|insync": true,
}

// waitsHere tells that a command may wait for something, and so has earlier replies
// leave first.
func (c *command) waitsHere(s *Server) bool {
	return c.waits || c.spread && s.routes.Load() != nil
}

// spreads tells whether a command is to cover the cluster, and the cluster is more than
// this node.
func (x *call) spreads() bool {
	routes := x.srv.routes.Load()
	return routes != nil && x.conn.from == nil && !x.conn.session.redirect &&
		(len(routes.links) > 0 || routes.held || routes.gaps)
}

// scatter has every node do its part of a command, and returns their replies, in RESP2.
// It has replied, and returns false, if not all have: those that can begin within the
// forward timeout may take until timeout.
func (x *call) scatter(timeout time.Duration, args ...[]byte) (replies [][]byte, ok bool) {
	start := x.srv.clock()
	end, begin := start+timeout, start+min(timeout, x.srv.forwardTimeout())
	for {
		left := begin - x.srv.clock()
		routes := x.srv.routes.Load()
		switch {
		case left <= 0:
			x.err(msgUnreachable)
			return nil, false
		case routes.gaps:
			x.err(msgNoCopy)
			return nil, false
		case routes.held:
			if !x.awaitRoutes(routes, left) {
				x.err(msgMoving)
				return nil, false
			}
			continue
		}
		replies, again, msg := x.scatterOnce(routes, end-x.srv.clock(), args)
		switch {
		case msg != "":
			x.err(msg)
			return nil, false
		case !again:
			return replies, true
		}
		if !x.awaitRoutes(routes, min(left, routesPause)) {
			x.err(msgMoving)
			return nil, false
		}
	}
}

func (x *call) scatterOnce(routes *Routes, timeout time.Duration, args [][]byte) (replies [][]byte, again bool, msg string) {
	part := redcon.AppendArray(nil, 3+len(args))
	part = redcon.AppendBulkString(part, "RING")
	part = redcon.AppendBulkString(part, "PART")
	part = redcon.AppendBulkString(part, strconv.FormatUint(routes.digest, 16))
	for _, arg := range args {
		part = redcon.AppendBulk(part, arg)
	}
	start := x.srv.clock()
	defer func() { x.waited += x.srv.clock() - start }()
	batches := make([]batch, len(routes.links), len(routes.links)+1)
	for i, link := range routes.links {
		batches[i] = batch{link: link, bytes: part, requests: 1}
		batches[i].send(Terms{}, timeout, nil)
	}
	x.srv.stats.forwarded.Add(int64(len(batches)))
	if len(routes.spans) > 0 {
		batches = append(batches, batch{bytes: part, requests: 1})
		x.conn.runPart(&batches[len(batches)-1], Terms{})
	}
	r := request{cmd: x.cmd}
	for i := range batches {
		reply, err := batches[i].reply()
		switch f := r.fate(reply, err); {
		case f == notRun:
			again = true
		case f != answered:
			msg = f.refusal(err)
		case reply[0] == '-':
			msg = string(reply[1 : len(reply)-2])
		default:
			replies = append(replies, bytes.Clone(reply))
		}
	}
	return replies, again, msg
}

// awaitRoutes waits for newer routes, or until time is over. It returns false if the
// connection ends.
func (x *call) awaitRoutes(routes *Routes, d time.Duration) bool {
	start := x.srv.clock()
	defer func() { x.waited += x.srv.clock() - start }()
	return x.conn.waitOn(d, routes.next)
}

// cmdRingPart is this node's part of a command that another node's client has sent:
// RING PART digest command [argument ...].
func cmdRingPart(x *call) {
	part, msg := x.srv.table.lookup(x.args[3:])
	if msg == "" && !spreadCommands[part.full] {
		msg = "ERR " + part.full + " has no parts"
	}
	if msg != "" {
		x.err(msg)
		return
	}
	if !x.agrees(string(x.args[2])) {
		x.srv.stats.notMine.Add(1)
		x.conn.from.group.refused = 0 // it is alone; nothing behind it waits once more
		x.err(msgNotMine)
		return
	}
	x.args, x.cmd = x.args[3:], part
	part.run(x)
}

// agrees waits a little until the routes have the digest and nothing is on hold.
func (x *call) agrees(digest string) bool {
	for end := x.srv.clock() + x.conn.from.patience(&request{}, heldTimeout); ; {
		routes := x.srv.routes.Load()
		switch left := end - x.srv.clock(); {
		case routes == nil:
			return false
		case !routes.held && strconv.FormatUint(routes.digest, 16) == digest:
			return true
		case left <= 0 || !x.awaitRoutes(routes, left):
			return false
		}
	}
}
