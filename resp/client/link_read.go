package client

import (
	"fmt"
	"time"
)

// Replies are matched with their calls so many at a time.
const readBatch = 64

// read implements muxEnd.
func (l *link) read() error {
	frames := newFrameReader(l.conn, l.peer.cfg.MaxFrame)
	var replies [readBatch]replyFrame
	var calls [readBatch]*Call
	for {
		n, err := l.cutReplies(frames, replies[:])
		if n > 0 || l.hears {
			if matchErr := l.match(replies[:n], calls[:n]); err == nil {
				err = matchErr
			}
			for i, c := range calls[:n] {
				if c == nil {
					continue // it ended meanwhile
				}
				if takeErr := c.take(&replies[i]); err == nil {
					err = takeErr
				}
				calls[i] = nil
			}
		}
		if err != nil {
			return err
		}
		if n == len(replies) {
			continue
		}
		if err := frames.fill(); err != nil {
			return err
		}
		if id, large := frames.arriving(); large {
			l.flows(id)
		}
	}
}

// cutReplies parses what has been read, as far as there is room. It notes the peer's time.
func (l *link) cutReplies(frames *frameReader, into []replyFrame) (int, error) {
	for n := 0; n < len(into); {
		frame, err := frames.next()
		if err != nil || frame == nil {
			return n, err
		}
		if into[n], err = parseReply(frame); err != nil {
			return n, err
		}
		switch into[n].status {
		case statusEnd:
			return n, errPeerEnds
		case statusClock:
			l.heard, l.hears = into[n].clock(), true
		default:
			n++
		}
	}
	return len(into), nil
}

// match takes the calls of replies off the link, and takes in the peer's time: before any of the
// calls ends, since its caller may send it again.
func (l *link) match(replies []replyFrame, calls []*Call) error {
	var mine time.Duration
	if l.hears {
		mine = l.peer.cfg.Clock()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hears {
		l.clock.sample(l.heard, mine)
		l.hears = false
	}
	var err error
	for i := range replies {
		c, known := l.slots.take(replies[i].id)
		if !known {
			err = fmt.Errorf("%w: reply without a request", ErrProtocol)
		}
		if calls[i] = c; c != nil {
			l.inFlight -= c.size
			l.answered = true
		}
	}
	if l.claim() {
		l.kick <- struct{}{}
	}
	return err
}
