package resp

import (
	"sync"
	"time"
)

// A pushQueue holds what is sent to a client out of turn, published messages and MONITOR's lines,
// until it is written: with the next reply, by Kick, or by a goroutine of the queue. It counts for
// the server's budget and is bounded by the client's output buffer: a client that does not keep up
// is closed.
type pushQueue struct {
	c       *conn // whose client it is for
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

// Push implements monitoring.Client: it queues a message. Any goroutine may call it while the
// connection is not removed from the server; it does not wait.
func (q *pushQueue) Push(message []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.append(message) {
		q.start()
	}
}

// Queue implements pubsub.Subscriber. The message leaves with Kick, which the caller that gets true
// has to call.
func (q *pushQueue) Queue(message []byte) bool {
	c := q.c
	q.mu.Lock()
	defer q.mu.Unlock()
	at := len(q.buf)
	if !q.append(message) {
		return false
	}
	q.buf[at] = pushMark(int(c.session.proto.Load()))
	first := !q.dirty
	q.dirty = true
	return first
}

// append queues a message, or closes a client that does not keep up; the queue's lock
// is held.
func (q *pushQueue) append(message []byte) bool {
	c := q.c
	if q.closed {
		return false
	}
	size := int64(len(q.buf) + len(message))
	fits := size <= c.srv.settings.PushLimit()
	if more := size + int64(q.writing) - freePushes - q.charged; fits && more > 0 {
		more = max(more, freePushes)
		q.charged += more
		fits = c.srv.budget.Charge(&c.Account, more)
	}
	if !fits {
		c.srv.stats.OutputLimit.Add(1)
		c.srv.log.Warn("closing a client: it reads its push messages too slowly",
			"client", c.session.id, "addr", c.net.RemoteAddr())
		q.drop()
		c.close()
		return false
	}
	q.buf = append(q.buf, message...)
	return true
}

// Kick implements pubsub.Subscriber: it writes what is queued as far as the socket takes it at once, and leaves the
// rest to a goroutine. It does not wait.
func (q *pushQueue) Kick() {
	c := q.c
	direct := c.direct != nil && c.write.TryLock()
	q.mu.Lock()
	q.dirty = false
	if direct {
		if !q.running && !q.held && !q.closed && len(q.buf) > 0 {
			n, err := c.direct.WriteSome(q.buf)
			c.sent(n)
			q.buf = append(q.buf[:0], q.buf[n:]...)
			if err != nil {
				q.drop()
				c.close()
			}
			q.settle()
		}
		c.write.Unlock()
	}
	q.start()
	q.mu.Unlock()
}

// settle gives back what an empty queue does not need; its lock is held.
func (q *pushQueue) settle() {
	c := q.c
	if len(q.buf)+q.writing > 0 {
		return
	}
	c.srv.budget.Release(&c.Account, q.charged)
	q.charged = 0
	if cap(q.buf) > freePushes {
		q.buf = nil
	}
}

// take takes what is queued: it goes with replies.
func (q *pushQueue) take(dst []byte) []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	dst = append(dst, q.buf...)
	q.buf = q.buf[:0]
	q.settle()
	return dst
}

// start has what is queued written; the queue's lock is held.
func (q *pushQueue) start() {
	c := q.c
	if q.running || q.held || q.closed || len(q.buf) == 0 {
		return
	}
	q.running = true
	c.srv.done.Go(q.write)
}

// subscribe calls add, from which on messages are pushed, and flushes the reply that says
// so: whoever reads that misses nothing of what happens from then on, and reads it after
// the reply.
func (c *conn) subscribe(add func()) {
	c.pushes.hold(true)
	add()
	_ = c.flush() // which closes the connection if it fails
	c.pushes.hold(false)
}

func (q *pushQueue) hold(held bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.held = held
	q.start()
}

func (q *pushQueue) write() {
	c := q.c
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
		q.settle()
		if err != nil {
			q.drop()
		}
		q.mu.Unlock()
		if cap(buf) > keepReply {
			buf = nil
		}
	}
}

// clear drops what has not been written, and returns when nothing is on its
// way any more.
func (q *pushQueue) clear() {
	c := q.c
	q.mu.Lock()
	q.buf = nil
	q.settle()
	q.mu.Unlock()
	c.write.Lock()
	c.write.Unlock() //lint:ignore SA2001 whoever held it has written all that it had
}

// close drops what has not been written and refuses more.
func (q *pushQueue) close() {
	q.mu.Lock()
	q.drop()
	q.mu.Unlock()
}

// drop is close for a caller that holds the queue's lock.
func (q *pushQueue) drop() {
	c := q.c
	q.closed, q.buf = true, nil
	c.srv.budget.Release(&c.Account, q.charged)
	q.charged = 0
}

// waiting returns how many bytes are queued or on their way.
func (q *pushQueue) waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.buf) + q.writing
}

// Limit, Charge and Release implement pubsub.Subscriber: subscriptions count for the client's memory.
func (q *pushQueue) Limit() int64    { return q.c.srv.settings.PushLimit() }
func (q *pushQueue) Charge(n int64)  { q.c.srv.budget.Take(&q.c.Account, n) }
func (q *pushQueue) Release(n int64) { q.c.srv.budget.Release(&q.c.Account, n) }

// Idle and EndTimedWaits implement maintenance.Client.
func (q *pushQueue) Idle() time.Duration { return q.c.session.idle(q.c.srv.clock()) }
func (q *pushQueue) EndTimedWaits()      { q.c.endTimedWaits() }

// pushMark is the first byte of what is pushed.
func pushMark(proto int) byte {
	if proto == 3 {
		return '>'
	}
	return '*'
}
