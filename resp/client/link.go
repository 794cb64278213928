package client

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// A link is one connection of a Peer, and the next one when it breaks.
//
// Who holds the role of the writer (writing is true, and it is you) owns out and
// written and may write to the connection; everything else is under mu. A sender
// that finds the role free takes it and writes what others queue meanwhile. It
// hands it to run, through kick, when the connection takes no more, when it has
// written for others long enough, or when the link is no longer up.
type link struct {
	peer   *Peer
	demand chan struct{} // capacity 1: there is a first call
	kick   chan struct{} // capacity 1: the role of the writer goes to run

	mu       sync.Mutex
	state    linkState
	refusal  error // what calls get while down or closed; matches ErrNotSent
	queue    callQueue
	slots    slots
	inFlight int    // bytes written and not answered
	encoded  uint64 // bytes on this connection
	earliest int64  // no deadline on this link lies before it
	writing  bool

	// The writer's.
	conn    net.Conn
	direct  *directWriter // nil if the connection has no such way
	out     []byte
	written uint64 // bytes that the connection took

	answered bool // the reader's: this connection has brought a reply
}

type linkState int

const (
	linkIdle       linkState = iota // never used
	linkConnecting                  // calls wait for the outcome
	linkUp
	linkDown // calls fail at once; run tries to connect
	linkClosed
)

func newLink(p *Peer) *link {
	return &link{
		peer:     p,
		demand:   make(chan struct{}, 1),
		kick:     make(chan struct{}, 1),
		earliest: math.MaxInt64,
	}
}

func (l *link) send(c *Call) error {
	l.mu.Lock()
	switch l.state {
	case linkDown, linkClosed:
		err := l.refusal
		l.mu.Unlock()
		c.finish(err)
		return err
	case linkIdle:
		l.state = linkConnecting
		l.demand <- struct{}{}
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
			err = l.converse()
			if l.answered {
				pause = l.peer.cfg.MinBackoff
				l.lost(linkConnecting, err)
				if ctx.Err() == nil {
					continue
				}
			}
		}
		if ctx.Err() != nil {
			l.shut()
			return
		}
		l.lost(linkDown, err)
		// Spread, so that the nodes that lost a peer do not return in step.
		timer := time.NewTimer(pause/2 + rand.N(pause/2+1))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
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
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn, l.direct = conn, newDirectWriter(conn)
	l.out, l.encoded, l.written = l.out[:0], 0, 0
	l.answered = false
	if l.state == linkDown {
		l.peer.cfg.Logger.Info("client: peer is reachable again")
	}
	l.state = linkUp
	return nil
}

// converse sends and receives until the connection ends, and says why it did.
// Afterwards no call is on its way.
func (l *link) converse() error {
	conn := l.conn
	defer context.AfterFunc(l.peer.ctx, func() { _ = conn.Close() })()
	ended := make(chan error, 1)
	go func() {
		err := l.read(conn)
		_ = conn.Close() // ends a write, too
		ended <- err
	}()

	l.mu.Lock()
	lead := l.claim()
	l.mu.Unlock()
	var readErr, writeErr error
	if lead {
		writeErr = l.drain()
	}
	for readErr == nil && writeErr == nil {
		select {
		case <-l.kick:
			writeErr = l.drain()
		case readErr = <-ended:
		}
	}
	_ = conn.Close()
	if readErr == nil {
		readErr = <-ended
	}
	cause := writeErr
	if cause == nil || errors.Is(cause, net.ErrClosed) {
		cause = readErr
	}
	l.recallWriter(writeErr != nil)
	return cause
}

// recallWriter ends the time of a sender that writes, unless run itself holds the
// role.
func (l *link) recallWriter(mine bool) {
	l.mu.Lock()
	l.state = linkConnecting // nobody claims the role now
	elsewhere := l.writing && !mine
	l.mu.Unlock()
	if elsewhere {
		<-l.kick
	}
	l.mu.Lock()
	l.writing = false
	l.mu.Unlock()
}

// lost fails all calls and sets what comes next.
func (l *link) lost(next linkState, cause error) {
	l.mu.Lock()
	known := l.state == linkDown
	l.mu.Unlock()
	if !known && l.peer.ctx.Err() == nil {
		l.peer.cfg.Logger.Warn("client: no connection to the peer", "err", cause)
	}
	l.end(next, fmt.Errorf("%w: %w", ErrDown, cause))
}

func (l *link) shut() { l.end(linkClosed, ErrClosed) }

// end fails all calls: those of which the connection took a byte with an unknown
// outcome. The role of the writer is free or run's.
func (l *link) end(next linkState, cause error) {
	maybe, not := unknown(cause), notSent(cause)
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
