package resp

import "sync"

// A pushQueue holds what is sent to a client out of turn (MONITOR's lines), until
// a goroutine of its own has written it. It counts for the server's budget and is
// bounded by the client's output buffer: a client that does not keep up is closed.
type pushQueue struct {
	mu      sync.Mutex
	buf     []byte
	writing int // bytes on their way
	running bool
	held    bool // what comes waits for a reply that is to leave first
	closed  bool
}

// push queues a message for the client. Any goroutine may call it while the
// connection is not removed from the server; it does not wait.
func (c *conn) push(message []byte) {
	q := &c.pushes
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	fits := int64(len(q.buf)+len(message)) <= c.srv.settings.outputBuffer.Load()
	if !fits || !c.srv.budget.charge(c, int64(len(message))) {
		if fits {
			c.srv.budget.release(c, int64(len(message)))
		}
		c.srv.stats.outputLimit.Add(1)
		c.srv.log.Warn("closing a client: it does not keep up with what is pushed to it",
			"client", c.session.id, "addr", c.net.RemoteAddr())
		c.dropPushes()
		c.close()
		return
	}
	q.buf = append(q.buf, message...)
	c.startPushes()
}

// startPushes has what is queued written; the queue's lock is held.
func (c *conn) startPushes() {
	q := &c.pushes
	if q.running || q.held || len(q.buf) == 0 {
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
		q.mu.Unlock()
		c.srv.budget.release(c, int64(len(buf)))
		if err != nil {
			c.closePushes()
		}
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
	c.srv.budget.release(c, int64(len(q.buf)))
	q.buf = nil
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
	c.srv.budget.release(c, int64(len(q.buf)))
	q.closed, q.buf = true, nil
}

// waiting returns how many bytes are queued or on their way.
func (q *pushQueue) waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.buf) + q.writing
}
