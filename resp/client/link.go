package client

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// A link is one of the connections of a Peer.
type link struct {
	muxConn
	peer *Peer

	// Under mu.
	queue    callQueue
	slots    slots
	earliest int64 // no deadline on this link lies before it
	// clock is the peer's, as this connection tells it.
	clock peerClock

	large    *Call // the writer's: it is being copied
	largeID  uint64
	largeEnd time.Duration // its deadline, on the peer's clock
	answered bool          // the reader's: this connection has brought a reply
	// heard is the reader's: the peer's time, if hears tells that it has just been read.
	heard time.Duration
	hears bool
	// incarnation is which start of the peer this connection leads to, 0 if it does not say;
	// under mu.
	incarnation uint64
	// version is that of the protocol that the peer speaks, 0 if it does not say.
	version uint16
}

func newLink(p *Peer) *link {
	l := &link{peer: p, earliest: math.MaxInt64}
	l.muxConn = newMuxConn(l)
	return l
}

func (l *link) send(c *Call) error {
	l.mu.Lock()
	if err := l.admit(); err != nil {
		l.mu.Unlock()
		return c.reject(err)
	}
	l.queue.push(c)
	if c.deadline != 0 && c.deadline < l.earliest {
		l.earliest = c.deadline
		select {
		case l.peer.alarm <- struct{}{}:
		default:
		}
	}
	lead := l.claim()
	l.mu.Unlock()
	if lead {
		l.lead()
	}
	return nil
}

// run keeps the link connected until the peer closes.
func (l *link) run() {
	ctx := l.peer.ctx
	select {
	case <-l.demand:
	case <-ctx.Done():
		l.shut()
		return
	}
	pause := l.peer.cfg.MinBackoff
	for {
		err := l.connect()
		if err == nil {
			err = l.converse(ctx)
			if l.answered {
				pause = l.peer.cfg.MinBackoff
				l.lost(muxConnecting, err)
				if ctx.Err() == nil {
					continue
				}
			}
		}
		if ctx.Err() != nil {
			l.shut()
			return
		}
		l.lost(muxDown, err)
		if !l.backOffUnlessAsked(ctx, pause, l.peer.cfg.MinBackoff) {
			l.shut()
			return
		}
		pause = min(2*pause, l.peer.cfg.MaxBackoff)
	}
}

func (l *link) connect() error {
	ctx, cancel := context.WithTimeout(l.peer.ctx, l.peer.cfg.DialTimeout)
	defer cancel()
	conn, err := l.peer.cfg.Dial(ctx)
	if err != nil {
		return err
	}
	theirs, err := readClock(ctx, conn)
	if err != nil {
		_ = conn.Close()
		return err
	}
	mine := l.peer.cfg.Clock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.peer.ctx.Err(); err != nil {
		_ = conn.Close()
		return err
	}
	if l.state == muxDown {
		l.peer.cfg.Logger.Info("client: peer is reachable again")
	}
	l.answered = false
	l.incarnation, l.version = 0, 0
	l.clock = newPeerClock(theirs, mine)
	if c, ok := conn.(interface{ PeerIncarnation() uint64 }); ok {
		l.incarnation = c.PeerIncarnation()
	}
	if c, ok := conn.(interface{ PeerVersion() uint16 }); ok {
		l.version = c.PeerVersion()
	}
	l.up(conn)
	return nil
}

// lost fails all calls and sets what comes next.
func (l *link) lost(next muxState, cause error) {
	l.mu.Lock()
	known := l.state == muxDown
	l.mu.Unlock()
	if !known && l.peer.ctx.Err() == nil {
		l.peer.cfg.Logger.Info("client: no connection to the peer", "err", cause)
	}
	l.fail(next, fmt.Errorf("%w: %w", ErrDown, cause))
}

func (l *link) shut() { l.fail(muxClosed, ErrClosed) }

// fail ends all calls: those of which the connection took a byte with an unknown
// outcome, unless the peer has said that it read no more. The role of the writer is free
// or run's.
func (l *link) fail(next muxState, cause error) {
	maybe, not := unknown(cause), notSent(cause)
	if errors.Is(cause, errPeerEnds) {
		maybe = not
	}
	l.mu.Lock()
	l.state, l.refusal = next, not
	queued := l.queue
	l.queue = callQueue{}
	onWay := l.slots.clear()
	l.inFlight, l.earliest = 0, math.MaxInt64
	written := l.written
	l.mu.Unlock()
	for _, c := range onWay {
		if c.start < written {
			c.finish(maybe)
		} else {
			c.finish(not)
		}
	}
	for queued.first != nil {
		queued.pop().finish(not)
	}
}

// flows puts off the end of a call of which bytes have just been sent or received: its time
// is for waiting, not for a value that takes long to travel. It returns when that is now, on the
// peer's clock; 0 if there is no such call, or no end.
func (l *link) flows(id uint64) time.Duration {
	mine := l.peer.cfg.Clock()
	t := now()
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.slots.find(id)
	if c == nil || c.deadline == 0 {
		return 0
	}
	c.deadline = max(c.deadline, t+int64(c.Timeout))
	return l.clock.deadline(mine, time.Duration(c.deadline-t))
}

// expire ends the calls whose time is over at t, and returns the earliest deadline
// of the others.
func (l *link) expire(t int64) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.earliest > t {
		return l.earliest
	}
	l.earliest = math.MaxInt64
	late := func(c *Call) bool {
		if c.deadline == 0 {
			return false
		}
		if c.deadline > t || c.pinned {
			l.earliest = min(l.earliest, c.deadline)
			return false
		}
		return true
	}
	var kept callQueue
	for l.queue.first != nil {
		if c := l.queue.pop(); late(c) {
			c.finish(errTimeoutNotSent)
		} else {
			kept.push(c)
		}
	}
	l.queue = kept
	for i := range l.slots.all {
		if c := l.slots.all[i].call; c != nil && late(c) {
			l.slots.release(uint32(i))
			l.inFlight -= c.size
			c.finish(errTimeoutUnknown)
		}
	}
	if l.claim() {
		l.kick <- struct{}{}
	}
	return l.earliest
}
