package client

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
)

// A lane is one of the connections of a Ring to a node, on which commands travel in RESP.
// The replies come in the order of the commands, so what is sent waits in line.
type lane struct {
	muxConn
	cfg     *Config
	dial    func(ctx context.Context) (net.Conn, *replyReader, error) // with the greeting done
	ctx     context.Context                                           // done once the lane closes
	metrics *metrics

	// Under mu.
	queue opQueue
	line  opQueue // sent, and not yet the reader's

	large *op // the writer's: it is being copied

	// The reader's.
	replies  *replyReader
	mine     opQueue // taken from line
	answered int     // bytes of ops that have ended, still in inFlight

	progress atomic.Uint64 // counts what arrives and what is taken
	// Of watch, under mu.
	last    uint64
	silent  int  // how often in a row there was no progress
	stalled bool // the connection ended for that
}

func newLane(ctx context.Context, cfg *Config, m *metrics, addr string) *lane {
	l := &lane{
		cfg: cfg, ctx: ctx, metrics: m,
		dial: func(ctx context.Context) (net.Conn, *replyReader, error) { return cfg.open(ctx, addr) },
	}
	l.muxConn = newMuxConn(l)
	return l
}

// watchesInTimeout is how often watch is called in the time of Timeout.
const watchesInTimeout = 4

// send puts an op on its way, and does not wait for the network.
func (l *lane) send(o *op) {
	o.state.Store(callPending)
	l.mu.Lock()
	if err := l.admit(); err != nil {
		l.mu.Unlock()
		o.finish(err)
		return
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
				l.fail(muxClosed, ErrClosed)
				return
			}
		}
		err := l.connect()
		if err == nil {
			if err = l.converse(l.ctx); l.stalled {
				err = ErrTimeout
			}
			if l.ctx.Err() == nil {
				// The next op connects anew; nobody else has to.
				pause, wanted = l.cfg.MinBackoff, true
				l.lost(muxIdle, err)
				continue
			}
		}
		if l.ctx.Err() != nil {
			l.fail(muxClosed, ErrClosed)
			return
		}
		l.lost(muxDown, err)
		if !backOff(l.ctx, pause) {
			l.fail(muxClosed, ErrClosed)
			return
		}
		pause = min(2*pause, l.cfg.MaxBackoff)
	}
}

func (l *lane) connect() error {
	ctx, cancel := context.WithTimeout(l.ctx, l.cfg.DialTimeout)
	defer cancel()
	conn, replies, err := l.dial(ctx)
	if err != nil {
		return err
	}
	l.metrics.connects.Inc(1)
	replies.waiting = l.beforeRead
	l.mu.Lock()
	defer l.mu.Unlock()
	l.replies = replies
	l.stalled, l.silent = false, 0
	l.up(conn)
	return nil
}

// lost fails all ops and sets what comes next.
func (l *lane) lost(next muxState, cause error) {
	if next == muxDown && l.ctx.Err() == nil {
		l.metrics.lost.Inc(1)
	}
	l.fail(next, fmt.Errorf("%w: %w", ErrDown, cause))
}

// fail ends all ops: those of which the connection took a byte with an unknown outcome.
// Neither the reader nor a writer runs.
func (l *lane) fail(next muxState, cause error) {
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
	if l.state != muxUp || l.inFlight == 0 || now != l.last {
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

func (l *lane) connected() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state == muxUp
}
