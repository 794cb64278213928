package resp

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/monitoring"
	"github.com/ringside-kv/ringside/resp/internal/outcome"
	"github.com/ringside-kv/ringside/resp/wire"
)

// A client of this node that waits for keys of another node is a remote waiter there
// (block_remote_waiter.go). Its connection here asks the owner again and again whether the wait
// has ended.
//
// Invariant: a command is sent to the next owner, or to the same one again, only after the former
// owner has answered that it has not served the command and will not. If it cannot answer any
// more, the outcome of a command that writes is unknown. A command that only reads takes nothing
// from the key, so it is always sent again.

// remoteWaitInterval is how long a connection waits for the answer of a node that does not own the
// keys by newer routes.
const remoteWaitInterval = time.Second

// A remoteWait is the wait of one command at one owner.
type remoteWait struct {
	c      *conn
	r      *request
	owner  string
	id     string // of the remote waiter
	ask    batch  // the request that waits
	quit   batch
	run    string    // run id of the owner: it changes when the node starts again
	heard  time.Time // when the owner last said that the command waits
	result []byte
}

// waitRemotely sends a blocking command to the owner of its keys and waits for the reply. It
// returns how many requests it has answered: 0 if the command has to be routed again.
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
		id: fmt.Sprintf("%s-%d-%d-%d", c.srv.runID, c.session.id, c.waits, r.turn),
	}
	c.srv.stats.Forwarded.Add(1)
	showSent(c, r, monitoring.Cluster, nil)
	c.session.lastCmd.Store(r.cmd)
	reply, err := f.enqueue()
	switch fate := r.fate(err); {
	case fate == outcome.NotRun:
		if left := time.Until(r.until); left <= 0 || c.srv.closed() {
			c.refuse(r, c.outOfTime(r, routes, r.owner))
			return 1
		}
		c.awaitRoutesUnlessReleased(r, routes, routesPause)
		return 0
	case fate != outcome.Answered:
		return f.answerWait(f.dequeue(), waitGoesOn, err)
	case f.quit.status != StatusWaits:
		c.passReply(r, reply)
		return 1
	case !f.waits(reply):
		return f.answerWait(f.dequeue(), waitGoesOn, errors.New("the node has not said for how long it waits"))
	}
	r.until = time.Time{}
	c.markBlocked(true)
	c.srv.blocked.setAway(c, true)
	defer c.srv.blocked.setAway(c, false)
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
	b.bytes = append(b.bytes, f.c.wire(f.r)...)
	b.requests = 2
	b.send(termsInOrder(f.c), f.c.srv.forwardTimeout(), nil)
	f.c.leaveTurn()
	if _, err := b.reply(); err != nil {
		return nil, err
	}
	return b.reply()
}

// termsInOrder are the terms of RING ENQUEUE and DEQUEUE: blocking commands arrive in the order in which they came here.
func termsInOrder(c *conn) Terms {
	terms := c.terms()
	terms.InOrder = true
	return terms
}

func ringRequest(words ...string) []byte {
	return wire.AppendRequest(nil, append([]string{"RING"}, words...)...)
}

// waits reads the reply of an owner that has registered the command, and notes its ticket, its
// time and its memo. It returns false if the reply cannot be read.
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

// A remoteOutcome says whether a remote waiter was served.
type remoteOutcome int

const (
	remoteServed    remoteOutcome = iota // result is the reply
	remoteNotServed                      // it was not served, and will not be
	remoteUnknown                        // the owner cannot say
)

// await asks the owner until the wait has ended, and answers the command.
func (f *remoteWait) await() int {
	c := f.c
	for {
		c.waitSignal.arrived.Store(false)
		f.ask.bytes, f.ask.requests = ringRequest("AWAIT", f.id), 1
		f.ask.send(c.terms(), c.srv.forwardTimeout(), c.answerArrived)
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

// answerArrived wakes the connection: the reply of another node is there.
func (c *conn) answerArrived() {
	c.waitSignal.arrived.Store(true)
	c.wake()
}

// untilAnswered returns waitGoesOn when the request has its answer, and otherwise why the
// connection does not wait any longer.
func (f *remoteWait) untilAnswered() waitEnd {
	c := f.c
	until := f.r.progress.until
	moved := false
	for !f.ask.received && !c.waitSignal.arrived.Load() {
		if why := dataWaitReason(c, f.r, until); why != waitGoesOn {
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

// isServedElsewhere reports whether another node owns the keys now.
func (f *remoteWait) isServedElsewhere(routes *Routes) bool {
	owner := f.c.ownerOf(f.r, routes)
	return owner != ownerHeld && (owner < 0 || routes.links[owner].ID != f.owner)
}

// dequeue withdraws the command at its owner, and returns whether it was served there.
func (f *remoteWait) dequeue() remoteOutcome {
	c, b := f.c, &f.quit
	left := c.srv.forwardTimeout()
	if f.isServedElsewhere(c.srv.routes.Load()) {
		left = min(left, remoteWaitInterval)
	}
	gone := false
	for end := time.Now().Add(left); ; {
		b.bytes, b.requests = ringRequest("DEQUEUE", f.id), 1
		b.send(termsInOrder(c), time.Until(end), nil)
		reply, err := b.reply()
		if err == nil && b.status != StatusWaits {
			if v := f.judge(reply, b.status, false); v != remoteUnknown {
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
	// An owner that does not know the command any more has sent its reply to the request that waited
	// (RING AWAIT), which may still be on its way.
	for end := time.Now().Add(remoteWaitInterval); gone && f.ask.requests > 0 && !f.ask.received && !c.waitSignal.arrived.Load(); {
		if c.wakeReason(end) == waitGone || !time.Now().Before(end) {
			break
		}
		c.sleep(end)
	}
	if f.ask.requests > 0 && (f.ask.received || c.waitSignal.arrived.Load()) {
		if reply, err := f.ask.reply(); err == nil {
			return f.judge(reply, f.ask.status, true)
		}
	}
	return remoteUnknown
}

// judge reads the owner's answer. With all, no other request could have got another answer.
func (f *remoteWait) judge(reply []byte, status Status, all bool) remoteOutcome {
	switch status {
	case StatusLeft:
		return remoteNotServed
	case StatusGone:
		// The owner dropped it because RING AWAIT came too late, and would still keep a result.
		if run := strings.TrimSpace(string(bytes.TrimPrefix(reply, replyGone))); all && run == f.run && time.Since(f.heard) < remoteResultKept/2 {
			return remoteNotServed
		}
		return remoteUnknown
	case StatusRun:
		f.result = reply
		return remoteServed
	}
	return remoteUnknown
}

// answerWait replies to the command. It returns how many requests it has answered: 0 if the
// command has to be routed again.
func (f *remoteWait) answerWait(v remoteOutcome, why waitEnd, err error) int {
	c, r := f.c, f.r
	if f.ask.requests > 0 {
		defer func() {
			_ = c.flush()
			f.ask.receive() // it uses its bytes until then
		}()
	}
	switch {
	case c.closing || c.Closed.Load():
		c.closing = true
	case v == remoteServed:
		c.passReply(r, f.result)
	case v == remoteUnknown && r.cmd.MayWrite:
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
		c.count(nil, at)
	}
	return 1
}
