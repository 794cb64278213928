package resp

import (
	"bytes"
	"container/list"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

// A waiter is a command that waits.
type waiter struct {
	command.Want
	cmd    *command.Row
	args   [][]byte
	ticket uint64 // its place in all queues: lower is earlier
	places []store.Place
	beside []store.Place // of also
	out    wire.Writer   // once it is served
	// repeat: what it is served does not fit there. It has only read, and does so itself.
	repeat bool

	state waitState       // guarded by blocked.mu
	spots []*list.Element // in the queues of its keys; likewise

	how   waitEnd // once ended is closed
	msg   string  // the error reply, for waitFailed
	ended chan struct{}
	// told is called by who has ended it. It must not wait.
	told func()
}

type waitState int

const (
	waitNew waitState = iota
	waitQueued
	waitClaimed
	waitOver
)

// A waitEnd is how a wait ends.
type waitEnd int

const (
	waitGoesOn waitEnd = iota
	waitServed
	waitFailed
	waitAgain // the command is to be looked at again: its keys may be somebody else's
	waitTimedOut
	waitUnblocked // by CLIENT UNBLOCK ERROR
	waitGone      // there is no client any more
)

// end tells who waits. The caller has claimed or withdrawn it.
func (w *waiter) end(how waitEnd, msg string) {
	w.how, w.msg = how, msg
	close(w.ended)
	w.told()
}

// repeats tells whether a key is among those before it.
func (w *waiter) repeats(i int) bool {
	for _, key := range w.Keys[:i] {
		if string(key) == string(w.Keys[i]) {
			return true
		}
	}
	return false
}

// at tells whether all that a waiter needs is this node's.
func (w *waiter) at(routes *Routes) bool {
	if routes == nil {
		return true
	}
	for _, p := range w.places {
		if routes.of(p.Token()) != ownerSelf {
			return false
		}
	}
	for _, p := range w.beside {
		if routes.of(p.Token()) != ownerSelf {
			return false
		}
	}
	return true
}

// A waitProgress is what a command that waits remembers from one place to the next.
type waitProgress struct {
	ticket uint64
	until  time.Time // zero: for ever
	memo   []byte
}

// starts notes for how long the command waits, when it begins to.
func (r *request) starts(timeout time.Duration) *waitProgress {
	if r.progress == nil {
		r.progress = &waitProgress{}
		if timeout > 0 && timeout < command.Forever {
			r.progress.until = time.Now().Add(timeout)
		}
	}
	return r.progress
}

// waitHere waits with a command whose unit has just run. It returns how many requests it
// has answered: 0 if the command is to be looked at again.
func (c *conn) waitHere(r *request) int {
	w := c.call.waiter
	c.call.waiter = nil
	c.finishUnit()
	if c.flush() != nil {
		c.closing = true
	}
	c.leave()
	r.until = time.Time{}
	c.park(w, r.progress.until)
	return c.waited(r, w)
}

// park returns when the waiter has ended.
func (c *conn) park(w *waiter, until time.Time) {
	c.markBlocked(true)
	for {
		select {
		case <-w.ended:
			return
		default:
		}
		if why := c.wakeReason(until); why != waitGoesOn {
			if c.srv.blocked.withdraw(w) {
				w.how = why
			} else {
				<-w.ended
			}
			return
		}
		c.sleep(until)
	}
}

// msgUnblocked is what CLIENT UNBLOCK ERROR has a client told.
const msgUnblocked = "UNBLOCKED client unblocked via CLIENT UNBLOCK"

// waited replies with what a wait has brought.
func (c *conn) waited(r *request, w *waiter) int {
	if w.how == waitAgain {
		r.progress.ticket, r.progress.memo = w.ticket, w.Memo
		return 0
	}
	at := len(c.out.Buf)
	switch w.how {
	case waitServed:
		if c.out.Buf = append(c.out.Buf, w.out.Buf...); len(w.out.Buf) > 0 && w.out.Buf[0] == '-' {
			c.srv.stats.commands[r.cmd.ID].failed.Add(1)
			c.srv.stats.errorReply(w.out.Buf)
		}
	case waitFailed:
		c.reject(r.cmd, w.msg)
	default:
		c.unserved(r, w.how)
	}
	c.count(at)
	return 1
}

// unserved replies to a command that has got nothing.
func (c *conn) unserved(r *request, how waitEnd) {
	switch how {
	case waitUnblocked:
		c.reject(r.cmd, msgUnblocked)
	case waitGone:
		c.closing = true
	default:
		c.out.NullArray()
	}
}

// Block has the client wait for what the command has not found. Where it cannot, the time is
// over at once.
func (x *call) Block(want command.Want) {
	c := x.conn
	if x.InTransaction || c.from != nil && c.from.visit.id == "" {
		x.NullArray()
		return
	}
	if !x.Unit.Latched() { // it is looked at again, with the latches
		x.waiter = &waiter{}
		return
	}
	also := make([][]byte, len(want.Also)) // which others look at though it may wait no more
	for i, key := range want.Also {
		also[i] = bytes.Clone(key)
	}
	want.Also = also
	w := &waiter{Want: want, cmd: x.Row, args: x.Args, out: wire.Writer{Proto: x.Proto}, ended: make(chan struct{}), told: c.wake}
	if c.from != nil {
		c.from.registerRemote(x, w)
		return
	}
	p := x.req.starts(want.Timeout)
	w.ticket = p.ticket
	w.place(x)
	x.waiter = w
	if x.srv.blocked.register(w) {
		w.checkRoutes(x.srv)
		return
	}
	w.state = waitOver // the connection ends
	w.how = waitGone
	close(w.ended)
}

// Memo is what the command has noted when it was to wait before.
func (x *call) Memo() []byte {
	switch c := x.conn; {
	case c.from != nil:
		return c.from.visit.memo
	case x.req != nil && x.req.progress != nil:
		return x.req.progress.memo
	}
	return nil
}

// place notes where the keys lie.
func (w *waiter) place(x *call) {
	for _, key := range w.Keys {
		w.places = append(w.places, x.Unit.Place(key))
	}
	for _, key := range w.Also {
		w.beside = append(w.beside, x.Unit.Place(key))
	}
}

// checkRoutes sends a waiter away that was registered while its keys changed hands.
func (w *waiter) checkRoutes(s *Server) {
	if !w.at(s.routes.Load()) && s.blocked.withdraw(w) {
		w.end(waitAgain, "")
	}
}
