package resp

import "sync"

// A pushQueue holds what is sent to a client out of turn (MONITOR's lines), until
// a goroutine of its own has written it. It counts for the server's budget and is
// bounded by the client's output buffer: a client that does not keep up is closed.
type pushQueue struct {
	mu      sync.Mutex
	buf     []byte
	writing int   // bytes on their way
	charged int64 // bytes that count for the server's budget
	running bool
	dirty   bool // a delivery has its client kicked
	held    bool // what comes waits for a reply that is to leave first
	closed  bool
}

// freePushes is how many bytes of a queue do not count for the budget: as many as every
// connection may keep anyway.
const freePushes = 16 << 10

// push queues a message for the client. Any goroutine may call it while the
// connection is not removed from the server; it does not wait.
func (c *conn) push(message []byte) {
	q := &c.pushes
	q.mu.Lock()
	defer q.mu.Unlock()
	if c.appendPush(message) {
		c.startPushes()
	}
}

// queuePush is push of a message as appendMessage makes it, which leaves with kickPushes:
// that is for whoever is answered with true.
func (c *conn) queuePush(message []byte) bool {
	q := &c.pushes
	q.mu.Lock()
	defer q.mu.Unlock()
	at := len(q.buf)
	if !c.appendPush(message) {
		return false
	}
	q.buf[at] = pushMark(int(c.session.proto.Load()))
	first := !q.dirty
	q.dirty = true
	return first
}

// appendPush queues a message, or closes a client that does not keep up; the queue's lock
// is held.
func (c *conn) appendPush(message []byte) bool {
	q := &c.pushes
	if q.closed {
		return false
	}
	size := int64(len(q.buf) + len(message))
	fits := size <= c.srv.settings.OutputBuffer.Load()
	if more := size + int64(q.writing) - freePushes - q.charged; fits && more > 0 {
		more = max(more, freePushes)
		q.charged += more
		fits = c.srv.budget.charge(c, more)
	}
	if !fits {
		c.srv.stats.OutputLimit.Add(1)
		c.srv.log.Warn("closing a client: it reads its push messages too slowly",
			"client", c.session.id, "addr", c.net.RemoteAddr())
		c.dropPushes()
		c.close()
		return false
	}
	q.buf = append(q.buf, message...)
	return true
}

// kickPushes writes what is queued as far as the socket takes it at once, and leaves the
// rest to a goroutine. It does not wait.
func (c *conn) kickPushes() {
	q := &c.pushes
	direct := c.direct != nil && c.write.TryLock()
	q.mu.Lock()
	q.dirty = false
	if direct {
		if !q.running && !q.held && !q.closed && len(q.buf) > 0 {
			n, err := c.direct.WriteSome(q.buf)
			c.sent(n)
			q.buf = append(q.buf[:0], q.buf[n:]...)
			if err != nil {
				c.dropPushes()
				c.close()
			}
			c.settlePushes()
		}
		c.write.Unlock()
	}
	c.startPushes()
	q.mu.Unlock()
}

// settlePushes gives back what an empty queue does not need; its lock is held.
func (c *conn) settlePushes() {
	q := &c.pushes
	if len(q.buf)+q.writing > 0 {
		return
	}
	c.srv.budget.release(c, q.charged)
	q.charged = 0
	if cap(q.buf) > freePushes {
		q.buf = nil
	}
}

// takePushes takes what is queued: it goes with replies.
func (c *conn) takePushes(dst []byte) []byte {
	q := &c.pushes
	q.mu.Lock()
	defer q.mu.Unlock()
	dst = append(dst, q.buf...)
	q.buf = q.buf[:0]
	c.settlePushes()
	return dst
}

// startPushes has what is queued written; the queue's lock is held.
func (c *conn) startPushes() {
	q := &c.pushes
	if q.running || q.held || q.closed || len(q.buf) == 0 {
		return
	}
	q.running = true
	c.srv.done.Add(1)
	go c.writePushes()
}

// subscribe calls add, from which on messages are pushed, and flushes the reply that says
// so: whoever reads that misses nothing of what happens from then on, and reads it after
// the reply.
func (c *conn) subscribe(add func()) {
	c.holdPushes(true)
	add()
	_ = c.flush() // which closes the connection if it fails
	c.holdPushes(false)
}

func (c *conn) holdPushes(held bool) {
	q := &c.pushes
	q.mu.Lock()
	defer q.mu.Unlock()
	q.held = held
	c.startPushes()
}

func (c *conn) writePushes() {
	defer c.srv.done.Done()
	q := &c.pushes
	var buf []byte
	for {
		// In this order, so that whoever has emptied the queue and then had
		// the lock for writing knows that nothing more is sent.
		c.write.Lock()
		q.mu.Lock()
		if len(q.buf) == 0 || q.closed || q.held {
			q.running = false
			q.mu.Unlock()
			c.write.Unlock()
			return
		}
		buf, q.buf = q.buf, buf[:0]
		q.writing = len(buf)
		q.mu.Unlock()
		err := c.send(buf)
		c.write.Unlock()
		q.mu.Lock()
		q.writing = 0
		c.settlePushes()
		if err != nil {
			c.dropPushes()
		}
		q.mu.Unlock()
		if cap(buf) > keepReply {
			buf = nil
		}
	}
}

// clearPushes drops what has not been written, and returns when nothing is on its
// way any more.
func (c *conn) clearPushes() {
	q := &c.pushes
	q.mu.Lock()
	q.buf = nil
	c.settlePushes()
	q.mu.Unlock()
	c.write.Lock()
	c.write.Unlock() //lint:ignore SA2001 whoever held it has written all that it had
}

// closePushes drops what has not been written and refuses more.
func (c *conn) closePushes() {
	c.pushes.mu.Lock()
	c.dropPushes()
	c.pushes.mu.Unlock()
}

// dropPushes is closePushes for a caller that holds the queue's lock.
func (c *conn) dropPushes() {
	q := &c.pushes
	q.closed, q.buf = true, nil
	c.srv.budget.release(c, q.charged)
	q.charged = 0
}

// waiting returns how many bytes are queued or on their way.
func (q *pushQueue) waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.buf) + q.writing
}
