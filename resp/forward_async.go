package resp

import (
	"slices"
	"sync/atomic"
)

// An asyncForward is the state of a connection whose whole pipeline was forwarded, while its
// goroutine already waits for the client's next request. The goroutine that receives the last
// reply of another node sends the replies to the client. So a forwarded request costs one wake-up
// less, and the replies of a node to many clients leave one after the other, without a change of
// goroutines between them.
//
// Until the connection's goroutine has joined, it only reads, into a buffer in which no
// request lies that is on its way. All else of the connection, pending and closing among
// it, belongs to whoever brings the last replies, and to nobody before.
type asyncForward struct {
	on    bool // the connection's own goroutine's
	reqs  []request
	left  atomic.Int32  // batches to come, and one while they are being sent
	done  chan struct{} // capacity 1: the replies have left
	fn    func()        // arrived
	spare []byte        // a read buffer that is charged, for the time while the other is in use
}

func (a *asyncForward) init(c *conn) {
	a.done = make(chan struct{}, 1)
	a.fn = c.batchArrived
}

// asyncForwardCallback returns whom to tell of replies, if the requests are all that there is and
// all of it is sent, and none of it needs this node's attention; else nil.
func (c *conn) asyncForwardCallback(reqs []request) func() {
	if c.direct == nil || c.start < c.end || &reqs[len(reqs)-1] != &c.reqs[len(c.reqs)-1] ||
		cap(c.args) > keepArgs || c.session.replies != replyOn {
		return nil
	}
	size := 0
	for i := range reqs {
		r := &reqs[i]
		if r.sent == nil {
			return nil
		}
		size += len(r.raw)
	}
	if size > keepInput {
		return nil
	}
	c.asyncForward.reqs = reqs
	c.asyncForward.left.Store(1)
	return c.asyncForward.fn
}

// startAsyncForward returns true if replies are still to come.
func (c *conn) startAsyncForward() bool {
	c.asyncForward.on = c.asyncForward.left.Add(-1) > 0
	return c.asyncForward.on
}

// awaitAsyncForward waits until what is away has come back.
func (c *conn) awaitAsyncForward() {
	if c.asyncForward.on {
		<-c.asyncForward.done
		c.asyncForward.on = false
	}
}

// batchArrived is told of each batch that its replies are there. Whoever tells has other
// connections to see to.
func (c *conn) batchArrived() {
	if c.asyncForward.left.Add(-1) > 0 {
		return
	}
	if !c.hasAllReplies() {
		go func() {
			c.collect(c.asyncForward.reqs, 0)
			_ = c.flush()
			c.asyncForward.done <- struct{}{}
		}()
		return
	}
	for i := range c.asyncForward.reqs {
		r := &c.asyncForward.reqs[i]
		c.takeReply(r, r.sent)
		r.sent = nil
	}
	c.dropBatches()
	c.sendAsync(c.asyncForward.done)
}

// hasAllReplies tells whether each request has its reply, and all are few enough to be sent
// together.
func (c *conn) hasAllReplies() bool {
	size := len(c.out.Buf)
	for _, b := range c.far {
		if b.requests == 0 {
			continue
		}
		if b.receive(); b.err != nil {
			return false
		}
		if slices.ContainsFunc(b.replies.Statuses, Status.HasNotRun) {
			return false
		}
		size += len(b.replies.Bytes)
	}
	return size <= min(keepReply, int(c.srv.settings.OutputBuffer.Load()/2))
}

// takeSpareInput finds a buffer to read into while requests in the other are on their way. It
// returns false if there is none.
func (c *conn) takeSpareInput() bool {
	a := &c.asyncForward
	if c.start < c.end || len(c.in) > freeInput {
		return false
	}
	if n := len(c.in) - len(a.spare); n != 0 {
		c.srv.budget.Take(&c.Account, int64(n))
		a.spare = make([]byte, len(c.in))
	}
	c.in, a.spare = a.spare, c.in
	c.start, c.end = 0, 0
	return true
}

func (c *conn) dropSpareInput() {
	c.srv.budget.Release(&c.Account, int64(len(c.asyncForward.spare)))
	c.asyncForward.spare = nil
}
