package resp

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/resp/wire"
)

// How a client of this node waits for keys that another one serves: as a remote waiter there (see
// remote block_waiter.go), for which its connection asks again and again.
//
// Invariant: a command is sent on, to this owner or the next, only once the one that was
// asked before has said that it has not been served and will not be. Where nobody can say
// that any more, the outcome is unknown. A command that only reads takes nothing, whoever served
// it: it is sent on all the same.

// remoteWaitInterval is how long the word of an owner is waited for that is not one by newer routes.
const remoteWaitInterval = time.Second

// A remoteWait is the wait of one command at one owner.
type remoteWait struct {
	c      *conn
	r      *request
	owner  string
	id     string // of the remote waiter
	ask    batch  // the request that waits
	quit   batch
	run    string    // who answers there: a node that was started anew is another
	heard  time.Time // when the remote waiter was last known to wait
	result []byte
}

// waitRemotely has the owner of a command's keys run it, and waits there. It returns how many
// requests it has answered: 0 if the command is to be looked at again.
func (c *conn) waitRemotely(r *request, routes *Routes) int {
	if c.pending {
		c.await()
	}
	if c.flush() != nil {
		c.closing = true
		return 1
	}
	if r.until.IsZero() {
		r.until = time.Now().Add(c.srv.forwardTimeout())
	}
	link := routes.links[r.owner]
	c.waits++
	f := &remoteWait{
		c: c, r: r, owner: link.ID, ask: batch{link: link}, quit: batch{link: link},
		id: c.srv.runID + "-" + strconv.FormatInt(c.session.id, 10) + "-" + strconv.FormatUint(c.waits, 10),
	}
	c.srv.stats.forwarded.Add(1)
	c.session.lastCmd.Store(r.cmd)
	reply, err := f.enqueue()
	switch fate := r.fate(err); {
	case fate == notRun:
		if left := time.Until(r.until); left <= 0 || c.srv.closed() {
			c.refuse(r, c.outOfTime(r, routes, r.owner))
			return 1
		}
		c.awaitRoutesUnlessReleased(r, routes, routesPause)
		return 0
	case fate != answered:
		return f.answerWait(f.dequeue(), waitGoesOn, err)
	case f.quit.status != StatusWaits:
		c.passReply(r, reply)
		return 1
	case !f.waits(reply):
		return f.answerWait(f.dequeue(), waitGoesOn, errors.New("the node has not said for how long it waits"))
	}
	r.until = time.Time{}
	c.markBlocked(true)
	c.srv.blocked.far(c, true)
	defer c.srv.blocked.far(c, false)
	return f.await()
}

// enqueue sends the command, and returns the reply to it.
func (f *remoteWait) enqueue() ([]byte, error) {
	ticket, memo := uint64(0), []byte(nil)
	if p := f.r.progress; p != nil {
		ticket, memo = p.ticket, p.memo
	}
	b := &f.quit
	b.bytes = ringRequest("ENQUEUE", f.id, strconv.FormatUint(ticket, 10), hex.EncodeToString(memo))
	b.bytes = append(b.bytes, f.r.raw...)
	b.requests = 2
	b.send(f.c.terms(), f.c.srv.forwardTimeout(), nil)
	if _, err := b.reply(); err != nil {
		return nil, err
	}
	return b.reply()
}

func ringRequest(words ...string) []byte {
	b := wire.AppendArray(nil, 1+len(words))
	b = wire.AppendBulkString(b, "RING")
	for _, word := range words {
		b = wire.AppendBulkString(b, word)
	}
	return b
}

// waits notes what the owner says of a remote waiter that it has let in. It returns false if that
// cannot be read.
func (f *remoteWait) waits(reply []byte) bool {
	var ticket uint64
	var ms int64
	var memo []byte
	if n, _ := fmt.Sscanf(string(reply), "+WAITS %d %d %s %x", &ticket, &ms, &f.run, &memo); n < 3 {
		return false
	}
	p := f.r.starts(time.Duration(ms) * time.Millisecond)
	p.ticket, p.memo = ticket, memo
	f.heard = time.Now()
	return true
}

// A verdict is what is known of a remote waiter in the end.
type verdict int

const (
	guestServed  verdict = iota // result is the reply
	guestSent                   // it was not served, and will not be
	guestUnknown                // nobody can tell
)

// await asks for the remote waiter until there is something to say.
func (f *remoteWait) await() int {
	c := f.c
	for {
		c.waitSignal.came.Store(false)
		f.ask.bytes, f.ask.requests = ringRequest("AWAIT", f.id), 1
		f.ask.send(c.terms(), c.srv.forwardTimeout(), c.answerCame)
		why := f.untilAnswered()
		if why != waitGoesOn {
			return f.answerWait(f.dequeue(), why, nil)
		}
		reply, err := f.ask.reply()
		switch {
		case err != nil:
			return f.answerWait(f.dequeue(), waitGoesOn, err)
		case f.ask.status == StatusWaits:
			f.heard = time.Now()
		default:
			return f.answerWait(f.judge(reply, f.ask.status, true), waitGoesOn, nil)
		}
	}
}

// answerCame is told that the reply of another node is there.
func (c *conn) answerCame() {
	c.waitSignal.came.Store(true)
	c.wake()
}

// untilAnswered returns when the request has its answer, or else why it is not waited for
// any longer.
func (f *remoteWait) untilAnswered() waitEnd {
	c := f.c
	until := f.r.progress.until
	moved := false
	for !f.ask.received && !c.waitSignal.came.Load() {
		if why := c.wakeReason(until); why != waitGoesOn {
			if moved && why == waitTimedOut && (f.r.progress.until.IsZero() || time.Now().Before(f.r.progress.until)) {
				why = waitAgain
			}
			return why
		}
		if routes := c.srv.routes.Load(); !moved && f.isServedElsewhere(routes) {
			moved = true
			if soon := time.Now().Add(remoteWaitInterval); until.IsZero() || soon.Before(until) {
				until = soon
			}
		}
		c.sleep(until)
	}
	return waitGoesOn
}

// isServedElsewhere tells whether somebody else serves the keys by now.
func (f *remoteWait) isServedElsewhere(routes *Routes) bool {
	owner := f.c.ownerOf(f.r, routes)
	return owner != ownerHeld && (owner < 0 || routes.links[owner].ID != f.owner)
}

// dequeue ends the remote waiter's stay, and finds out whether it was served.
func (f *remoteWait) dequeue() verdict {
	c, b := f.c, &f.quit
	left := c.srv.forwardTimeout()
	if f.isServedElsewhere(c.srv.routes.Load()) {
		left = min(left, remoteWaitInterval)
	}
	gone := false
	for end := time.Now().Add(left); ; {
		b.bytes, b.requests = ringRequest("DEQUEUE", f.id), 1
		b.send(c.terms(), time.Until(end), nil)
		reply, err := b.reply()
		if err == nil && b.status != StatusWaits {
			if v := f.judge(reply, b.status, false); v != guestUnknown {
				return v
			}
			gone = b.status == StatusGone
			break
		}
		if time.Until(end) < routesPause || c.srv.closed() {
			break
		}
		time.Sleep(routesPause)
	}
	// The word that the remote waiter has left for may be on its way to the request that waited: who
	// has let it in, and knows it no more, has sent it.
	for end := time.Now().Add(remoteWaitInterval); gone && f.ask.requests > 0 && !f.ask.received && !c.waitSignal.came.Load(); {
		if c.wakeReason(end) == waitGone || !time.Now().Before(end) {
			break
		}
		c.sleep(end)
	}
	if f.ask.requests > 0 && (f.ask.received || c.waitSignal.came.Load()) {
		if reply, err := f.ask.reply(); err == nil {
			return f.judge(reply, f.ask.status, true)
		}
	}
	return guestUnknown
}

// judge reads what the owner says of the remote waiter, which is all that has been asked for, or
// not.
func (f *remoteWait) judge(reply []byte, status Status, all bool) verdict {
	switch status {
	case StatusLeft:
		return guestSent
	case StatusGone:
		// It was not asked for in time, and what it might have been served would be known.
		if run := strings.TrimSpace(string(bytes.TrimPrefix(reply, guestGone))); all && run == f.run && time.Since(f.heard) < guestKept/2 {
			return guestSent
		}
		return guestUnknown
	case StatusRun:
		f.result = reply
		return guestServed
	}
	return guestUnknown
}

// answerWait replies with what is known in the end. It returns how many requests it has answered.
func (f *remoteWait) answerWait(v verdict, why waitEnd, err error) int {
	c, r := f.c, f.r
	if f.ask.requests > 0 {
		defer func() {
			_ = c.flush()
			f.ask.receive() // its bytes are not to be let go of before
		}()
	}
	switch {
	case c.closing || c.closed.Load():
		c.closing = true
	case v == guestServed:
		c.passReply(r, f.result)
	case v == guestUnknown && r.cmd.MayWrite:
		text := "the node that served the key is gone"
		if err != nil {
			text = err.Error()
		}
		c.refuse(r, "UNKNOWN Something may or may not have been taken for this command: "+text)
	case why == waitGoesOn || why == waitAgain:
		c.awaitRoutesUnlessReleased(r, c.srv.routes.Load(), routesPause)
		return 0
	default:
		at := len(c.out.Buf)
		c.unserved(r, why)
		c.count(at)
	}
	return 1
}
