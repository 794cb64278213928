package client

import (
	"errors"
	"fmt"
)

// errAbandoned is why calls fail after Abandon that have not left.
var errAbandoned = errors.New("another node has taken its place")

// Abandon gives up what is on its way to starts of the peer before an incarnation, and what
// waits for a connection: calls of which a byte has left fail with an unknown outcome, others
// with ErrNotSent. It is for a peer that is known to answer them no more, so that nobody waits
// for that as long as the time-out allows. Later calls go on a new connection, once there is
// one. A connection that does not say where it leads is one to an earlier start.
func (p *Peer) Abandon(before uint64) {
	for _, l := range p.links {
		l.abandon(before)
	}
}

func (l *link) abandon(before uint64) {
	var queued callQueue
	l.mu.Lock()
	switch l.state {
	case muxUp:
		if l.incarnation < before {
			_ = l.conn.Close() // the calls end with it
		}
	case muxConnecting:
		queued, l.queue = l.queue, callQueue{}
	}
	l.mu.Unlock()
	not := notSent(fmt.Errorf("%w: %w", ErrDown, errAbandoned))
	for queued.first != nil {
		queued.pop().finish(not)
	}
}
