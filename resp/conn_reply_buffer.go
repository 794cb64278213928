package resp

import "sync"

// Buffers for large replies are shared by all connections: growing one anew for each pipeline
// costs more than everything else in a pipeline of large replies.

// maxPooledReply is how many bytes a buffer may have to be kept for others: flushSize, after
// which a pipeline is cut, and one reply more.
const maxPooledReply = 2 * flushSize

// replyBuffers holds the buffers that no connection uses. They count for no budget: the garbage
// collector takes what nobody has used between two of its runs.
var replyBuffers sync.Pool // of *[]byte

// resetReplies makes room for the next replies, once all have left. A large buffer goes to those
// who need one.
func (c *conn) resetReplies() {
	buf := c.out.Buf
	c.largeReplies = len(buf) > keepReply
	c.out.Buf = buf[:0]
	if cap(buf) > keepReply {
		c.out.Buf = nil
		if cap(buf) <= maxPooledReply {
			replyBuffers.Put(&buf)
		}
	}
	if c.replyCharged > 0 {
		c.chargeReply()
	}
}

// takeReplyBuffer gives a connection whose last replies were large a buffer for as many. Where
// memory is short, or no buffer is there, it begins with none, as others do.
func (c *conn) takeReplyBuffer() {
	if !c.largeReplies || c.out.Buf != nil {
		return
	}
	buf, _ := replyBuffers.Get().(*[]byte)
	if buf == nil {
		return
	}
	size := int64(cap(*buf))
	if !c.srv.budget.spare(c, size) {
		replyBuffers.Put(buf)
		return
	}
	c.replyCharged += size
	c.out.Buf = (*buf)[:0]
}
