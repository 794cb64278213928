package client

import "runtime"

// claim takes the role of the writer if it is free and there is something to write. The
// caller holds mu, and goes on to write or hands the role to run.
func (l *lane) claim() bool {
	if l.state != linkUp || l.writing || l.queue.first == nil || !l.hasRoom(l.queue.first) {
		return false
	}
	l.writing = true
	return true
}

// hasRoom: one op always fits, however large.
func (l *lane) hasRoom(o *op) bool {
	return l.inFlight == 0 || l.inFlight+len(o.body) <= l.cfg.MaxInFlight
}

// lead writes what is queued without ever waiting for the connection.
func (l *lane) lead() {
	if l.direct == nil {
		l.kick <- struct{}{}
		return
	}
	runtime.Gosched() // whoever else is ready to send does so now
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

// drain is run's turn as the writer. It ends with an error while it holds the role, or
// with nil after it has given it up. A node that takes nothing is noticed by watch.
func (l *lane) drain() error {
	if l.direct == nil {
		runtime.Gosched() // as in lead
	}
	for len(l.out) > 0 || l.encode() {
		for rest := l.out; len(rest) > 0; {
			n, err := l.conn.Write(rest[:min(len(rest), writeBatch)])
			l.written += uint64(n)
			if err != nil {
				return err
			}
			l.progress.Add(1)
			rest = rest[n:]
		}
		l.out = l.out[:0]
	}
	return nil
}

// encode moves queued ops to out. If there is nothing to write, or nowhere to, it gives
// up the role and returns false.
func (l *lane) encode() bool {
	if cap(l.out) > keptBuffer {
		l.out = nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if large := l.encodeQueue(); large != nil {
		// Nobody has to wait for the lock while it is copied; a reply can only be
		// taken for it afterwards.
		l.mu.Unlock()
		l.out = append(l.out, large.body...)
		l.mu.Lock()
		l.line.push(large)
	}
	switch {
	case len(l.out) > 0:
		return true
	case l.state == linkUp:
		l.writing = false
	default:
		l.kick <- struct{}{} // run waits for the role
	}
	return false
}

// encodeQueue encodes ops until there is enough to write. A large one is the last: it is
// returned, and is yet to be copied and put in line.
func (l *lane) encodeQueue() (large *op) {
	for large == nil && l.queue.first != nil && l.hasRoom(l.queue.first) && len(l.out) < writeBatch && l.state == linkUp {
		o := l.queue.pop()
		o.sent = true
		if o.left() {
			o.sent = false // and never will be
			continue
		}
		o.start = l.encoded
		l.encoded += uint64(len(o.body))
		l.inFlight += len(o.body)
		if len(o.body) > largeCommands {
			large = o
			continue
		}
		l.out = append(l.out, o.body...)
		l.line.push(o)
	}
	return large
}
