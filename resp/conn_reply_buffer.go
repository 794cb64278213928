package resp

import "sync"

// Buffers for large replies are shared by all connections: allocating one for each pipeline costs
// more than everything else in a pipeline of large replies.

// maxPooledReply is how many bytes a buffer may have to be kept for others: flushSize, after
// which a pipeline is cut, and one reply more.
const maxPooledReply = 2 * flushSize

// replyBuffers holds the buffers that no connection uses. They count for no budget: the garbage
// collector frees those that stay unused between two of its runs.
var replyBuffers sync.Pool // of *[]byte

// replyBuffer is how a connection gets and gives back the memory of conn.out.
type replyBuffer struct {
	c       *conn
	charged int64 // bytes of it that count for the server's budget
	large   bool  // the last replies that left took more than keepReply
}

// reset makes room for the next replies, once all have left. A large buffer goes to those who
// need one.
func (r *replyBuffer) reset() {
	out := &r.c.out
	buf := out.Buf
	if a := &r.c.answers; !a.Left() {
		now := r.c.srv.clock()
		cmd, took := a.Sent(r.c.srv.stats, now)
		if isSlow(r.c.srv, took) || r.c.timing.Sampled != nil {
			endTiming(r.c, cmd, took, now)
		}
	}
	r.large = len(buf) > keepReply
	out.Buf = buf[:0]
	if cap(buf) > keepReply {
		out.Buf = nil
		if cap(buf) <= maxPooledReply {
			replyBuffers.Put(&buf)
		}
	}
	if r.charged > 0 {
		r.charge()
	}
}

// take gives a connection whose last replies were large a buffer for as many. Where memory is
// short, or no buffer is there, it begins with none, as others do.
func (r *replyBuffer) take() {
	if !r.large || r.c.out.Buf != nil {
		return
	}
	buf, _ := replyBuffers.Get().(*[]byte)
	if buf == nil {
		return
	}
	size := int64(cap(*buf))
	if !r.c.srv.budget.Spare(&r.c.Account, size) {
		replyBuffers.Put(buf)
		return
	}
	r.charged += size
	r.c.out.Buf = (*buf)[:0]
}

// charge brings the charge for the reply buffer up to date, and closes the
// connection if it holds more than it may.
func (r *replyBuffer) charge() {
	c := r.c
	size := int64(cap(c.out.Buf))
	if size <= keepReply {
		size = 0
	}
	delta := size - r.charged
	if delta == 0 {
		return
	}
	r.charged = size
	if delta < 0 {
		c.srv.budget.Release(&c.Account, -delta)
		return
	}
	fits := c.srv.budget.Charge(&c.Account, delta)
	if limit := c.srv.settings.OutputBuffer.Load(); !fits || int64(len(c.out.Buf)) > limit {
		c.srv.log.Warn("closing a client: its replies exceed the output buffer",
			"client", c.session.id, "addr", c.net.RemoteAddr(), "bytes", len(c.out.Buf))
		c.srv.stats.OutputLimit.Add(1)
		c.out.Buf = nil
		c.srv.budget.Release(&c.Account, r.charged)
		r.charged = 0
		c.closing = true
		c.close()
	}
}

// sendSome sends what leaves without waiting. It returns true if it keeps the lock: that stays with the rest of
// the replies, lest a push lands in its middle.
func sendSome(c *conn) (locked bool) {
	if len(c.out.Buf) == 0 || !c.write.TryLock() {
		return false
	}
	n, err := c.direct.WriteSome(c.out.Buf)
	c.sent(n)
	if err != nil {
		c.close()
		n = len(c.out.Buf)
	}
	if n < len(c.out.Buf) {
		c.out.Buf = append(c.out.Buf[:0], c.out.Buf[n:]...)
		return true
	}
	c.write.Unlock()
	c.replyBuf.reset()
	return false
}
