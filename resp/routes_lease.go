package resp

import (
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// A Lease lets a node of a cluster answer: while it is valid, no other node can have become the primary of the node's
// ranges. Its methods may be called from any goroutine.
type Lease interface {
	// Mark returns how often the lease has lapsed and the version of the node's rows. A unit
	// takes the mark before it looks up the owner of a key.
	Mark() (lapses, rows uint64)
	// HeldSince reports whether the lease is valid and has not lapsed since the mark.
	HeldSince(lapses uint64) bool
	// WaitUnchanged waits until the lease is valid again, for most at the most and until one
	// of the channels is closed. It returns true if no other node has served the tokens since
	// the mark; without tokens, none of the node's ranges.
	WaitUnchanged(rows uint64, of []ring.Token, most time.Duration, done, gone <-chan struct{}) bool
}

// SetLease has no reply about a key leave without the lease. It is called before the
// first routes are set.
func (s *Server) SetLease(l Lease) { s.lease.Store(&l) }

const (
	// whyNoLease names all causes: a lone node loses its lease, too, but no majority.
	whyNoLease   = "this node does not hold its lease: it has just started, its disk or machine has stalled, or it cannot reach the majority of its cluster"
	msgLeaseLost = "TRYAGAIN " + whyNoLease
	msgLostWrite = "UNKNOWN The write may or may not have been made: " + whyNoLease
)

// A leased is what a unit's replies have to do with the lease.
type leased struct {
	lease        *Lease // nil on a node that needs none
	lapses, rows uint64 // when the unit's routes were looked up
	keyed        bool   // the unit has keys
	writes       []bool // of each reply of the unit, whether it is to a write
	wrote        bool
	tokens       []ring.Token // of the keys, if it has them all under latches
}

// mark is called before the routes of a unit are looked up.
func (x *leased) mark(s *Server) {
	if x.lease = s.lease.Load(); x.lease != nil {
		x.lapses, x.rows = (*x.lease).Mark()
	}
}

// begin begins a unit, which has all its keys at these places if there are any.
func (x *leased) begin(places []store.Place) {
	x.keyed, x.wrote = false, false
	x.writes, x.tokens = x.writes[:0], x.tokens[:0]
	if x.lease == nil {
		return
	}
	for _, p := range places {
		x.tokens = append(x.tokens, p.Token())
	}
}

// ran notes a request of the unit.
func (x *leased) ran(r *request) {
	if x.lease == nil || r.msg != "" || !r.touches {
		return
	}
	x.keyed = true
	x.wrote = x.wrote || r.cmd.MayWrite
}

// replied notes whether the unit's last reply is to a write.
func (x *leased) replied(write bool) {
	x.writes = append(x.writes, write)
}

// fine tells whether the unit's replies may leave: asked when there is nothing else to
// wait for, for what is read before that may be old by then.
func (x *leased) fine() bool {
	return x.lease == nil || !x.keyed || (*x.lease).HeldSince(x.lapses)
}

// awaitLease waits until the unit's replies may leave after all, or replaces them: what
// was read may be old, and whether a write stands, the new primary knows.
func (c *conn) awaitLease() {
	x := &c.leased
	most := c.srv.forwardTimeout()
	if c.from != nil {
		most = c.from.shortest(most)
	}
	if (*x.lease).WaitUnchanged(x.rows, x.tokens, most, c.srv.stop, c.gone) {
		return
	}
	c.srv.stats.LeaseLost.Add(int64(c.unitReplies))
	c.notifyServed(nil, msgLostWrite)
	read, status := msgLeaseLost, StatusRun
	if c.from != nil && !c.from.group.writes {
		read, status = msgNotMine, StatusNotRun // the forwarding node asks the key's next owner
	}
	c.replaceReplies(func(i int) (string, Status) {
		if i < len(x.writes) && x.writes[i] {
			return msgLostWrite, StatusUnknown
		}
		return read, status
	})
}

// underLease runs something on this node's keys outside of any unit, of which the client is told only if the lease allows
// that. Without a lease it waits for one, runs nothing, and returns ErrMoved: the routes of a start name no ranges yet.
func (x *call) underLease(do func() error) error {
	l := x.srv.lease.Load()
	if l == nil {
		return do()
	}
	wait := func(rows uint64) bool {
		return (*l).WaitUnchanged(rows, nil, x.srv.forwardTimeout(), x.srv.stop, x.conn.gone)
	}
	lapses, rows := (*l).Mark()
	if !(*l).HeldSince(lapses) {
		if wait(rows); asksNode(x) || x.srv.mark()() {
			return command.ErrMoved
		}
		return command.ReplyError(msgLeaseLost)
	}
	err := do()
	switch {
	case err != nil || (*l).HeldSince(lapses) || wait(rows):
		return err
	case x.Row.Flags&command.FlagWrite != 0:
		return command.UnknownError(msgLostWrite)
	case asksNode(x):
		return command.ErrMoved
	}
	return command.ReplyError(msgLeaseLost)
}

// mark takes a moment, and returns what tells whether the lease has been valid since.
func (s *Server) mark() (still func() bool) {
	l := s.lease.Load()
	if l == nil {
		return func() bool { return true }
	}
	lapses, _ := (*l).Mark()
	return func() bool { return (*l).HeldSince(lapses) }
}

// shortest returns how long replies may wait here for the lease, d at most, and reach the nodes that forwarded in time.
func (f *forwardedConn) shortest(d time.Duration) time.Duration {
	for i := range f.group.batches {
		d = f.remainingWaitOf(&f.group.batches[i], d)
	}
	return d
}

// replaceReplies replaces the replies of the pending unit by errors.
func (c *conn) replaceReplies(with func(i int) (msg string, status Status)) {
	c.forgetReplies()
	for i := range c.unitReplies {
		msg, status := with(i)
		c.out.Error(msg)
		if c.from != nil {
			c.from.status = status
		}
		c.ended()
	}
}
