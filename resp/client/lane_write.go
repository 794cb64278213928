package client

// due implements muxEnd.
func (l *lane) due() bool { return l.queue.first != nil && l.hasRoom(l.queue.first) }

// hasRoom: one op always fits, however large.
func (l *lane) hasRoom(o *op) bool {
	return l.inFlight == 0 || l.inFlight+len(o.body) <= l.cfg.MaxInFlight
}

// write implements muxEnd. A node that takes nothing is noticed by watch.
func (l *lane) write() error {
	for rest := l.out; len(rest) > 0; {
		n, err := l.conn.Write(rest[:min(len(rest), writeBatch)])
		l.written += uint64(n)
		if err != nil {
			return err
		}
		l.progress.Add(1)
		rest = rest[n:]
	}
	return nil
}

// encode implements muxEnd. A large op is put in line when it has been copied: a reply
// can only be taken for it afterwards.
func (l *lane) encode() (large []byte) {
	for large == nil && l.due() && len(l.out) < writeBatch && l.state == muxUp {
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
			l.large, large = o, o.body
			continue
		}
		l.out = append(l.out, o.body...)
		l.line.push(o)
	}
	return large
}

// copied implements muxEnd.
func (l *lane) copied() {
	l.line.push(l.large)
	l.large = nil
}
