package client

import (
	"encoding/binary"
	"time"
)

// due implements muxEnd.
func (l *link) due() bool { return l.queue.first != nil && l.hasRoom(l.queue.first) }

// hasRoom: one call always fits, however large.
func (l *link) hasRoom(c *Call) bool {
	return l.inFlight == 0 || l.inFlight+c.size <= l.peer.cfg.MaxInFlight
}

// write implements muxEnd. The peer has WriteTimeout to take some of it.
func (l *link) write() error {
	for rest := l.out; len(rest) > 0; {
		n, err := writeSome(l.conn, rest, l.peer.cfg.WriteTimeout)
		l.written += uint64(n)
		if err != nil {
			return err
		}
		if rest = rest[n:]; len(rest) > 0 && len(l.out) > 2*writeBatch {
			end := l.flows(l.largeID) // the last of them, behind a batch of others at most
			if last := len(rest) <= writeBatch && len(rest) >= deadlineSize; last && end != 0 {
				binary.BigEndian.PutUint64(rest[len(rest)-deadlineSize:], uint64(end))
			}
		}
	}
	if l.direct != nil {
		return l.conn.SetWriteDeadline(time.Time{}) // which a direct write would heed
	}
	return nil
}

// encode implements muxEnd. A large call stays pinned until it is copied.
func (l *link) encode() (large []byte) {
	var t int64
	var mine time.Duration // is read before t: what is between them only makes deadlines earlier
	for large == nil && l.due() && len(l.out) < writeBatch && l.state == muxUp {
		c := l.queue.pop()
		r := requestFrame{resp3: c.RESP3, early: c.Early, keeps: c.Keeps, author: c.Author, known: c.Known, count: uint32(c.N), commands: c.Commands}
		r.noTouch = c.NoTouch && l.version >= noTouchVersion
		r.part = c.Part && l.version >= partVersion
		switch r.atomic = c.Atomic; {
		case l.version >= traceVersion:
			r.trace = c.Trace
		case c.Atomic:
			c.finish(errNotAtomic)
			continue
		}
		if c.deadline != 0 {
			if t == 0 {
				mine = l.peer.cfg.Clock()
				t = now()
			}
			if t >= c.deadline {
				c.finish(errTimeoutNotSent)
				continue
			}
			r.deadline = l.clock.deadline(mine, time.Duration(c.deadline-t))
		}
		r.id = l.slots.put(c)
		c.start = l.encoded
		l.encoded += uint64(c.size)
		l.inFlight += c.size
		l.out = r.appendHead(l.out)
		if len(c.Commands) > largeCommands {
			l.large, l.largeID, l.largeEnd, c.pinned = c, r.id, r.deadline, true
			large = c.Commands
		} else {
			l.out = append(l.out, c.Commands...)
			l.out = binary.BigEndian.AppendUint64(l.out, uint64(r.deadline))
		}
	}
	return large
}

// copied implements muxEnd.
func (l *link) copied() {
	l.out = binary.BigEndian.AppendUint64(l.out, uint64(l.largeEnd))
	l.large.pinned, l.large = false, nil
}
