package resp

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/outcome"
	"github.com/ringside-kv/ringside/resp/internal/scripts"
	"github.com/ringside-kv/ringside/resp/internal/spanset"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
)

// Commands on all keys are done by every node for its own ranges: RING PART, with the digest
// of the routes and with the token intervals of the part. So that no range is left out or
// counted twice while ranges change hands, a node does its part only if it agrees on the
// routes with the node that asks.
//
// Invariant: each token belongs to one part that is executed, and to no other. A part that
// its node has not executed is still open: its intervals are sent, by newer routes, to the
// nodes that serve them then. What has been executed is never sent again: a second FLUSHALL
// would remove what has been written since. See package outcome.

// longTimeout is how long a client waits for nodes that go through all their keys. For
// those that cannot begin it waits no longer than for any other request.
const longTimeout = 5 * time.Minute

// waitsHere tells that a command may wait for something, and so has earlier replies
// leave first.
func waitsHere(c *command.Row, s *Server) bool {
	return c.Waits || (c.Spread || c.AsksNodes) && s.routes.Load() != nil
}

// spreads tells whether a command is to cover the cluster, and the cluster is more than
// this node.
func (x *call) spreads() bool {
	routes := x.srv.routes.Load()
	return routes != nil && x.conn.from == nil && !x.conn.session.redirect &&
		(len(routes.links) > 0 || routes.holds(x.Row) || routes.gaps)
}

// scatter has every node do its part of a command, and returns their replies, in RESP2.
// It has replied, and returns false, if not all have: those that can begin within the
// forward timeout may take until timeout.
func (x *call) scatter(timeout time.Duration, args ...[]byte) (replies [][]byte, ok bool) {
	s, ok := scatterParts(x, timeout, args...)
	return s.replies, ok
}

// scatterParts is scatter for what needs to know which spans a reply is of.
func scatterParts(x *call, timeout time.Duration, args ...[]byte) (s *scattering, ok bool) {
	start := x.srv.clock()
	part, _ := x.srv.table.Lookup(args)
	s = &scattering{call: x, args: args, part: part, open: []ring.Range{ring.Whole}, end: start + timeout}
	begin := start + min(timeout, x.srv.forwardTimeout())
	for len(s.open) > 0 && !s.Over() {
		left := begin - x.srv.clock()
		routes := x.srv.routes.Load()
		switch {
		case x.Row.MayWrite && hasLostWrites(x.conn):
			s.Refuse(scripts.MsgAtReplica)
		case left <= 0:
			s.Refuse(msgUnreachable)
		case routes.gaps:
			s.Refuse(msgNoCopy)
		case routes.holds(x.Row):
			if !x.awaitRoutes(routes, left) {
				s.Refuse(command.MsgMoving)
			}
		default:
			s.send(routes)
			if len(s.open) > 0 && !s.Over() && !x.awaitRoutes(routes, s.Pause.Next(left)) && x.conn.closing {
				s.Refuse(command.MsgMoving)
			}
		}
	}
	if msg := s.Msg(x.Row.MayWrite); msg != "" {
		x.Error(msg)
		return s, false
	}
	return s, true
}

// A scattering is a command on its way to all nodes.
type scattering struct {
	*call
	outcome.Outcome
	args    [][]byte
	part    *command.Row // that of args
	open    []ring.Range // what no node has executed yet: in order, none of them wraps
	end     time.Duration
	replies [][]byte
	spans   [][]ring.Range // of each reply
}

// send sends what is open to the nodes that serve it, and waits for their answers.
func (s *scattering) send(routes *Routes) {
	x := s.call
	type sent struct {
		batch
		spans []ring.Range
	}
	var parts []sent
	add := func(link *Route, all []ring.Range) {
		spans := spanset.Intersect(s.open, all)
		if len(spans) == 0 {
			return
		}
		named := spans
		if slices.Equal(spans, all) {
			named = nil
		}
		parts = append(parts, sent{batch{link: link, bytes: s.request(routes, named), requests: 1}, spans})
	}
	for i, link := range routes.links {
		add(link, routes.farSpans()[i])
	}
	add(nil, routes.spans)
	start := x.srv.clock()
	defer func() { x.waited += x.srv.clock() - start }()
	for i := range parts {
		if p := &parts[i]; p.link != nil {
			x.srv.stats.Forwarded.Add(1)
			p.send(Terms{}, s.end-start, nil)
		} else {
			x.conn.runPart(&p.batch, Terms{}, routes.known())
		}
	}
	s.open = s.open[:0]
	r := request{cmd: x.Row}
	for i := range parts {
		p := &parts[i]
		reply, err := p.reply()
		made := s.Made
		if s.Add(r.fate(err), reply, p.status, err) {
			s.open = append(s.open, p.spans...)
		}
		if s.Made > made {
			s.replies = append(s.replies, bytes.Clone(reply))
			s.spans = append(s.spans, p.spans)
		}
	}
	slices.SortFunc(s.open, func(a, b ring.Range) int { return cmp.Compare(a.Start, b.Start) })
}

// request is the one for a part: for some spans, or for all of the node's.
func (s *scattering) request(routes *Routes, spans []ring.Range) []byte {
	x, args := s.call, s.args
	n := routes.Policies.Data(numberOf(x))
	if n != 0 {
		args = append([][]byte{[]byte(inDatabase), strconv.AppendInt(nil, int64(n), 10)}, args...)
	}
	head := [][]byte{[]byte(routes.agreement(s.part, n)), spanset.Append(nil, spans)}
	return wire.SubRequest("RING", "PART", append(head, args...)...)
}

// awaitRoutes waits for newer routes, or until time is over. It returns false if the
// connection ends.
func (x *call) awaitRoutes(routes *Routes, d time.Duration) bool {
	start := x.srv.clock()
	defer func() { x.waited += x.srv.clock() - start }()
	return x.conn.waitOn(d, routes.next)
}

// A coverage is what a part of a command covers.
type coverage struct {
	routes *Routes      // on which the asking node agrees; nil outside of any part
	spans  []ring.Range // of this node, by these routes
	data   int          // which the database shows by these routes
}

// inDatabase stands in front of the number of data other than 0 in requests between nodes.
const inDatabase = "DATABASE"

// inLayout stands likewise in front of the head of the keys that SCAN lists, and how often the policy was changed.
const inLayout = "LAYOUT"

// cmdRingPart is this node's part of a command that another node's client has sent:
// RING PART digest spans [DATABASE n] command [argument ...]. Without spans it is for all of the
// node's.
func cmdRingPart(x *call) {
	args, number := x.Args[4:], int64(0)
	if len(args) > 2 && string(args[0]) == inDatabase {
		if number, _ = wire.ParseInt(args[1]); number < 0 || number >= database.Limit {
			x.Error(command.MsgNoDatabase)
			return
		}
		args = args[2:]
	}
	part, msg := x.srv.table.Lookup(args)
	if msg == "" && !part.Spread {
		msg = "ERR " + part.Full + " has no parts"
	}
	spans, ok := spanset.Parse(x.Args[3])
	if msg == "" && !ok {
		msg = command.MsgSyntax
	}
	if msg != "" {
		x.Error(msg)
		return
	}
	routes := x.agrees(string(x.Args[2]), part, int(number))
	if routes != nil && len(spans) == 0 {
		spans = routes.spans
	}
	if routes == nil || !spanset.Cover(routes.spans, spans) {
		x.srv.stats.NotMine.Add(1)
		x.conn.from.group.refused = 0 // it is alone; nothing behind it waits once more
		x.notRun()
		return
	}
	x.agreed = coverage{routes, spans, int(number)}
	defer func() { x.agreed = coverage{} }()
	x.Args, x.Row = args, part
	part.Run(&x.Call)
}

// agrees waits a little until the routes have the agreement and nothing is on hold. It returns
// them, or nil if they have not in time.
func (x *call) agrees(on string, part *command.Row, data int) *Routes {
	for end := x.srv.clock() + x.conn.from.remainingWait(&request{}, heldTimeout); ; {
		routes := x.srv.routes.Load()
		switch left := end - x.srv.clock(); {
		case routes == nil:
			return nil
		case !routes.holds(part) && routes.agreement(part, data) == on:
			return routes
		case left <= 0 || !x.awaitRoutes(routes, left):
			return nil
		}
	}
}
