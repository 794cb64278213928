package resp

import (
	"bytes"
	"container/list"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/acl"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

// A waiter is a blocking command that waits.
type waiter struct {
	command.Want
	cmd    *command.Row
	args   [][]byte
	right  acl.Right
	took   time.Duration // of its command, until it waits
	ticket uint64        // its place in all queues: lower is earlier
	order  uint64        // its place among those of the same ticket, likewise
	run    string        // of the client's node, if that is another one
	turn   uint64        // as in request; 0: not known
	head   database.Head // of its first key: Keys are the connection's, and gone after the wait
	forms  []waiterForm  // of all its keys
	by     *database.Policies
	places []store.Place
	beside []store.Place // of Also
	out    wire.Writer   // the reply, once it is served
	// repeat: the reply is too large for out. The command only reads, so it runs again by itself.
	repeat bool

	state waitState       // guarded by blocked.mu
	spots []*list.Element // in the queues of its keys, nil for a repeated one; likewise

	how   waitEnd // once ended is closed
	msg   string  // the error reply, for waitFailed
	ended chan struct{}
	// onEnd is called after the wait has ended. It must not wait.
	onEnd func()
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
	waitAgain // the command has to be routed again: its keys may have another owner
	waitTimedOut
	waitUnblocked // by CLIENT UNBLOCK ERROR
	waitGone      // the client has left, or the server closes
)

// isAllowed reports whether the user may still send the command.
func (w *waiter) isAllowed() bool { return w.right.Lasts(w.cmd, w.args) }

// end ends the wait. The caller has claimed or withdrawn the waiter.
func (w *waiter) end(how waitEnd, msg string) {
	w.how, w.msg = how, msg
	close(w.ended)
	w.onEnd()
}

// repeats reports whether key i occurs before i, too.
func (w *waiter) repeats(i int) bool {
	for _, key := range w.Keys[:i] {
		if string(key) == string(w.Keys[i]) {
			return true
		}
	}
	return false
}

// at reports whether this node owns all keys of a waiter.
func (w *waiter) at(routes *Routes) bool {
	if routes == nil {
		return true
	}
	if routes.Policies.Swapped(w.head, w.by) {
		return false
	}
	for _, f := range w.forms {
		if f.position == 0 && routes.Policies.Of(f.head.Number()).Moving { // its wait began before the move
			return false
		}
		if routes.Policies.FormAt(f.head, f.position) != database.Present {
			return false
		}
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

// A waitProgress is what a blocking command keeps when it is routed again: its place in the queue,
// its deadline, and what it has noted.
type waitProgress struct {
	ticket uint64
	until  time.Time // zero: for ever
	memo   []byte
}

// starts sets the deadline of a command that waits for the first time.
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
// has answered: 0 if the command has to be routed again.
func (c *conn) waitHere(r *request) int {
	w := c.call.waiter
	c.call.waiter = nil
	c.finishUnit()
	if c.flush() != nil {
		c.closing = true
	}
	c.leave()
	r.until = time.Time{}
	c.park(r, w)
	return c.waited(r, w)
}

// park returns when the waiter has ended.
func (c *conn) park(r *request, w *waiter) {
	until := r.progress.until
	c.markBlocked(true)
	for {
		select {
		case <-w.ended:
			return
		default:
		}
		if why := dataWaitReason(c, r, until); why != waitGoesOn {
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

// msgUnblocked is the reply to a command that CLIENT UNBLOCK ERROR ends.
const msgUnblocked = "UNBLOCKED client unblocked via CLIENT UNBLOCK"

// waited replies to a command whose wait has ended. It returns how many requests it has answered:
// 0 if the command has to be routed again.
func (c *conn) waited(r *request, w *waiter) int {
	if w.how == waitAgain {
		r.progress.ticket, r.progress.memo = w.ticket, w.Memo
		return 0
	}
	at := len(c.out.Buf)
	if w.how != waitGone {
		c.Pending.Count(c.srv.stats, r.cmd, w.took)
		c.Pending.Flush(c.srv.stats)
	}
	switch w.how {
	case waitServed:
		if c.out.Buf = append(c.out.Buf, w.out.Buf...); len(w.out.Buf) > 0 && w.out.Buf[0] == '-' {
			c.srv.stats.Commands[r.cmd.ID].Failed.Add(1)
			c.srv.stats.ErrorReply(w.out.Buf[1:])
		}
	case waitFailed:
		failWait(c, r.cmd, w.msg)
	default:
		c.unserved(r, w.how)
	}
	c.srv.admin.Slowlog.Consider(&c.srv.settings, adminClient{c}, r.cmd, w.args, 0)
	c.count(nil, at)
	return 1
}

// failWait replies with an error to a command that has waited.
func failWait(c *conn, cmd *command.Row, msg string) {
	at := len(c.out.Buf)
	c.out.Error(msg)
	c.srv.stats.Commands[cmd.ID].Failed.Add(1)
	c.srv.stats.ErrorReply(c.out.Buf[at+1:])
}

// unserved replies to a command that was not served.
func (c *conn) unserved(r *request, how waitEnd) {
	switch how {
	case waitUnblocked:
		failWait(c, r.cmd, msgUnblocked)
	case waitGone:
		c.closing = true
	default:
		c.out.NullArray()
	}
}

// Block registers the command as a waiter. Where a command cannot wait (in a transaction, in a
// script), it replies as if its time were over.
func (x *call) Block(want command.Want) {
	c := x.conn
	if x.InTransaction || x.InScript || c.from != nil && c.from.enqueued.id == "" {
		x.NullArray()
		return
	}
	if !x.Unit.Latched() { // the unit runs again, with the latches
		x.waiter = &waiter{}
		return
	}
	also := make([][]byte, len(want.Also)) // other units read it after the wait has ended
	for i, key := range want.Also {
		also[i] = bytes.Clone(key)
	}
	want.Also = also
	w := &waiter{Want: want, head: database.HeadOf(want.Keys[0]), by: c.routes.policies(), cmd: x.Row, args: x.Args, right: rightOf(x), out: wire.Writer{Proto: x.Proto}, ended: make(chan struct{}), onEnd: c.wake}
	if c.from != nil {
		c.from.registerRemote(x, w)
		return
	}
	p := x.req.starts(want.Timeout)
	w.ticket, w.turn = p.ticket, x.req.turn
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

// Memo returns what the command noted when it began to wait, or nil.
func (x *call) Memo() []byte {
	switch c := x.conn; {
	case c.from != nil:
		return c.from.enqueued.memo
	case x.req != nil && x.req.progress != nil:
		return x.req.progress.memo
	}
	return nil
}

// A waiterForm is the head and the position of a key.
type waiterForm struct {
	head     database.Head
	position uint64 // 0 if no key moved when the wait began
}

// place computes the places of the keys.
func (w *waiter) place(x *call) {
	for _, key := range slices.Concat(w.Keys, w.Also) {
		w.forms = append(w.forms, waiterForm{database.HeadOf(key), w.by.Position(key)})
	}
	for _, key := range w.Keys {
		w.places = append(w.places, x.Unit.Place(key))
	}
	for _, key := range w.Also {
		w.beside = append(w.beside, x.Unit.Place(key))
	}
}

// checkRoutes ends the wait of a command that was registered while its keys changed owners, and starts its
// alarm.
func (w *waiter) checkRoutes(s *Server) {
	again := func() {
		if s.blocked.withdraw(w) {
			w.end(waitAgain, "")
		}
	}
	if w.Alarm.Start(again); !w.at(s.routes.Load()) {
		again()
	}
}
