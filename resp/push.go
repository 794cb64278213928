package resp

import "sync"

// A pushQueue holds what is sent to a client out of turn (MONITOR's lines), until
// a goroutine of its own has written it. It is bounded by the client's output
// buffer: a client that does not keep up is closed.
type pushQueue struct {
	mu      sync.Mutex
	buf     []byte
	running bool
	closed  bool
}

// push queues a message for the client. Any goroutine may call it; it does not
// wait.
func (c *conn) push(message []byte) {
	q := &c.pushes
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	if int64(len(q.buf)+len(message)) > c.srv.settings.outputBuffer.Load() {
		q.closed, q.buf = true, nil
		c.srv.stats.outputLimit.Add(1)
		c.srv.log.Warn("closing a client: it does not keep up with what is pushed to it",
			"client", c.session.id, "addr", c.net.RemoteAddr())
		c.close()
		return
	}
	q.buf = append(q.buf, message...)
	if !q.running {
		q.running = true
		c.srv.done.Add(1)
		go c.writePushes()
	}
}

func (c *conn) writePushes() {
	defer c.srv.done.Done()
	q := &c.pushes
	var buf []byte
	for {
		q.mu.Lock()
		if len(q.buf) == 0 || q.closed {
			q.running = false
			q.mu.Unlock()
			return
		}
		buf, q.buf = q.buf, buf[:0]
		q.mu.Unlock()
		c.write.Lock()
		n, err := c.net.Write(buf)
		c.write.Unlock()
		c.sent(n)
		if err != nil {
			c.close()
			q.close()
		}
	}
}

func (q *pushQueue) close() {
	q.mu.Lock()
	q.closed, q.buf = true, nil
	q.mu.Unlock()
}
