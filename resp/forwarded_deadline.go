package resp

import "errors"

// Another node says with what it forwards until when it waits for the answer. It tells its client
// then that the outcome is unknown; a write that was run afterwards could undo what others have
// written meanwhile.
//
// Invariant: a forwarded request does not begin once its deadline is over. The clock is read when
// a unit has its latches, and before a command begins that runs outside of any unit; commands of a
// unit add what has passed since. A command that waits before it changes anything, without a unit,
// looks again: see stillWanted. Messages and key events are delivered all the same.

// msgLate is the text of a reply with StatusLate. It never leaves the cluster.
const msgLate = "LATE"

// errLate says that a forwarded request was given up before it has changed anything.
var errLate = errors.New("the request was given up before it could begin")

// startClock is called when what comes next has nothing left to wait for.
func (c *conn) startClock() {
	c.lately = 0
	if f := c.from; f != nil {
		c.lately = c.srv.clock()
		f.ahead = c.srv.cfg.Clock() - c.lately
	}
}

// tooLate tells whether a request must not begin: its batch is given up, or a request before it
// in the batch was not run, which will come again and must not come after it.
func (f *forwardedConn) tooLate(r *request) bool {
	g := &f.group
	if !g.batches[r.part].late(f.ahead+f.conn.lately) || r.cmd != nil && r.cmd.OutlivesDeadline {
		return g.refused == r.part
	}
	g.refused = r.part
	return true
}

// stillWanted returns errLate if the command that runs was forwarded, and is given up by now.
func (x *call) stillWanted() error {
	f := x.conn.from
	if f == nil || x.req == nil || !f.group.batches[x.req.part].late(x.srv.cfg.Clock()) {
		return nil
	}
	f.group.refused = x.req.part
	return errLate
}
