package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A lane is one connection to a node, and the next one when it breaks, on which many
// callers' commands travel in RESP. It is to a Ring what a link is to a Peer, and the
// role of the writer is held and handed on in the same way: whoever holds it owns out
// and written and may write; everything else is under mu. The replies come in the order
// of the commands, so what is sent waits in line.
type lane struct {
	cfg     *Config
	dial    func(ctx context.Context) (net.Conn, *replyReader, error) // with the greeting done
	ctx     context.Context                                           // done once the lane closes
	demand  chan struct{}                                             // capacity 1: there is a first op
	kick    chan struct{}                                             // capacity 1: the role of the writer goes to run
	metrics *metrics

	mu       sync.Mutex
	state    linkState
	refusal  error // what ops get while down or closed; matches ErrNotSent
	queue    opQueue
	line     opQueue // sent, and not yet the reader's
	inFlight int     // bytes sent and not answered
	encoded  uint64  // bytes on this connection
	writing  bool

	// The writer's.
	conn    net.Conn
	direct  *directWriter // nil if the connection has no such way
	out     []byte
	written uint64 // bytes that the connection took

	// The reader's.
	mine     opQueue // taken from line
	answered int     // bytes of ops that have ended, still in inFlight

	progress atomic.Uint64 // counts what arrives and what is taken
	// Of watch, under mu.
	last    uint64
	silent  int  // how often in a row there was no progress
	stalled bool // the connection ended for that
}

// watchesInTimeout is how often watch is called in the time of Timeout.
const watchesInTimeout = 4

// send puts an op on its way, and does not wait for the network.
func (l *lane) send(o *op) {
	o.state.Store(callPending)
	l.mu.Lock()
	switch l.state {
	case linkDown, linkClosed:
		err := l.refusal
		l.mu.Unlock()
		o.finish(err)
		return
	case linkIdle:
		l.state = linkConnecting
		l.demand <- struct{}{}
	}
	l.queue.push(o)
	lead := l.claim()
	l.mu.Unlock()
	if lead {
		l.lead()
	}
}

// sent tells whether a byte of an op that its caller has left may have gone out. If not,
// none will.
func (l *lane) sent(o *op) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return o.sent
}

// run keeps the lane connected until it closes.
func (l *lane) run() {
	pause := l.cfg.MinBackoff
	for wanted := true; ; {
		if wanted {
			select {
			case <-l.demand:
				wanted = false
			case <-l.ctx.Done():
				l.end(linkClosed, ErrClosed)
				return
			}
		}
		replies, err := l.connect()
		if err == nil {
			err = l.converse(replies)
			if l.ctx.Err() == nil {
				// The next op connects anew; nobody else has to.
				pause, wanted = l.cfg.MinBackoff, true
				l.lost(linkIdle, err)
				continue
			}
		}
		if l.ctx.Err() != nil {
			l.end(linkClosed, ErrClosed)
			return
		}
		l.lost(linkDown, err)
		timer := time.NewTimer(pause/2 + rand.N(pause/2+1)) // spread, as in link
		select {
		case <-timer.C:
		case <-l.ctx.Done():
			timer.Stop()
			l.end(linkClosed, ErrClosed)
			return
		}
		pause = min(2*pause, l.cfg.MaxBackoff)
	}
}

func (l *lane) connect() (*replyReader, error) {
	ctx, cancel := context.WithTimeout(l.ctx, l.cfg.DialTimeout)
	defer cancel()
	conn, replies, err := l.dial(ctx)
	if err != nil {
		return nil, err
	}
	l.metrics.connects.Inc(1)
	replies.waiting = l.beforeRead
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn, l.direct = conn, newDirectWriter(conn)
	l.out, l.encoded, l.written = l.out[:0], 0, 0
	l.stalled, l.silent = false, 0
	l.state = linkUp
	return replies, nil
}

// converse sends and receives until the connection ends, and says why it did.
func (l *lane) converse(replies *replyReader) error {
	conn := l.conn
	defer context.AfterFunc(l.ctx, func() { _ = conn.Close() })()
	ended := make(chan error, 1)
	go func() {
		err := l.read(replies)
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
	l.recallWriter(writeErr != nil)
	switch {
	case l.stalled:
		return ErrTimeout
	case writeErr == nil || errors.Is(writeErr, net.ErrClosed):
		return readErr
	}
	return writeErr
}

// recallWriter ends the time of a sender that writes, unless run itself holds the role.
func (l *lane) recallWriter(mine bool) {
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

// lost fails all ops and sets what comes next.
func (l *lane) lost(next linkState, cause error) {
	if next == linkDown && l.ctx.Err() == nil {
		l.metrics.lost.Inc(1)
	}
	l.end(next, fmt.Errorf("%w: %w", ErrDown, cause))
}

// end fails all ops: those of which the connection took a byte with an unknown outcome.
// Neither the reader nor a writer runs.
func (l *lane) end(next linkState, cause error) {
	maybe, not := unknown(cause), notSent(cause)
	l.mu.Lock()
	l.state, l.refusal = next, not
	queued, line := l.queue, l.mine
	line.join(&l.line)
	l.queue, l.mine = opQueue{}, opQueue{}
	l.inFlight, l.answered = 0, 0
	written := l.written
	l.mu.Unlock()
	for line.first != nil {
		if o := line.pop(); o.start < written {
			o.finish(maybe)
		} else {
			o.finish(not)
		}
	}
	for queued.first != nil {
		queued.pop().finish(not)
	}
}

// watch is called every quarter of Timeout. It ends a connection that has brought nothing,
// and taken nothing, for so long though replies are due.
func (l *lane) watch() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.progress.Load()
	if l.state != linkUp || l.inFlight == 0 || now != l.last {
		l.last, l.silent = now, 0
		return
	}
	if l.silent++; l.silent >= watchesInTimeout {
		l.stalled = true
		_ = l.conn.Close()
	}
}

// busy tells that some commands wait for a reply, or to be sent.
func (l *lane) busy() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inFlight > 0 || l.queue.first != nil
}
