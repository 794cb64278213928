package client

import (
	"runtime"
	"time"
)

const (
	// Calls are written together up to so many bytes.
	writeBatch = 256 << 10
	// Commands above this size are copied without the lock.
	largeCommands = 64 << 10
	// A sender writes for others so many times before run takes over, so that its
	// own client does not wait for everybody's.
	leadRounds = 4
)

// claim takes the role of the writer if it is free and there is something to write.
// The caller holds mu, and goes on to write or hands the role to run.
func (l *link) claim() bool {
	if l.state != linkUp || l.writing || l.queue.first == nil || !l.hasRoom(l.queue.first) {
		return false
	}
	l.writing = true
	return true
}

// hasRoom: one call always fits, however large.
func (l *link) hasRoom(c *Call) bool {
	return l.inFlight == 0 || l.inFlight+c.size <= l.peer.cfg.MaxInFlight
}

// lead writes what is queued without ever waiting for the connection.
func (l *link) lead() {
	if l.direct == nil {
		l.kick <- struct{}{}
		return
	}
	// Whoever else is ready to send does so now, and one write serves all.
	runtime.Gosched()
	for range leadRounds {
		if !l.encode() {
			return
		}
		n, err := l.direct.write(l.out)
		l.written += uint64(n)
		if l.out = l.out[:copy(l.out, l.out[n:])]; err != nil || len(l.out) > 0 {
			break // run will come upon the error itself
		}
	}
	l.kick <- struct{}{}
}

// drain is run's turn as the writer. It ends with an error while it holds the role,
// or with nil after it has given it up.
func (l *link) drain() error {
	if l.direct != nil {
		// A direct write would heed a deadline left behind.
		defer func() { _ = l.conn.SetWriteDeadline(time.Time{}) }()
	} else {
		runtime.Gosched() // as in lead
	}
	for len(l.out) > 0 || l.encode() {
		if err := l.conn.SetWriteDeadline(time.Now().Add(l.peer.cfg.WriteTimeout)); err != nil {
			return err
		}
		n, err := l.conn.Write(l.out)
		l.written += uint64(n)
		if err != nil {
			return err
		}
		l.out = l.out[:0]
	}
	return nil
}

// encode moves queued calls to out, for which the time that each has left counts
// from now. If there is nothing to write, or nowhere to, it gives up the role and
// returns false.
func (l *link) encode() bool {
	if cap(l.out) > keptBuffer {
		l.out = nil
	}
	l.mu.Lock()
	large := l.encodeQueue()
	if len(l.out) > 0 {
		l.mu.Unlock()
		if large != nil {
			l.out = append(l.out, large.Commands...)
			l.mu.Lock()
			large.pinned = false
			l.mu.Unlock()
		}
		return true
	}
	defer l.mu.Unlock()
	if l.state == linkUp {
		l.writing = false
	} else {
		l.kick <- struct{}{} // run waits for the role
	}
	return false
}

// encodeQueue encodes calls until there is enough to write. A large one is the last:
// it is returned with its commands still to be copied, and stays pinned until then,
// so that nobody has to wait for the lock meanwhile.
func (l *link) encodeQueue() (large *Call) {
	var t int64
	for large == nil && l.queue.first != nil && l.hasRoom(l.queue.first) && len(l.out) < writeBatch && l.state == linkUp {
		c := l.queue.pop()
		r := requestFrame{resp3: c.RESP3, count: uint32(c.N), commands: c.Commands}
		if c.deadline != 0 {
			if t == 0 {
				t = now()
			}
			if t >= c.deadline {
				c.finish(errTimeoutNotSent)
				continue
			}
			r.timeLeft = millis(time.Duration(c.deadline - t))
		}
		r.id = l.slots.put(c)
		c.start = l.encoded
		l.encoded += uint64(c.size)
		l.inFlight += c.size
		l.out = r.appendHead(l.out)
		if len(c.Commands) > largeCommands {
			large, c.pinned = c, true
		} else {
			l.out = append(l.out, c.Commands...)
		}
	}
	return large
}
