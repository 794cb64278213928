package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/internal/socket"
)

// A muxConn is what the links of a Peer and the lanes of a Ring have in common: one
// connection, and the next one when it breaks, that many callers write to.
//
// Who holds the role of the writer (writing is true, and it is you) owns out and
// written and may write to the connection; everything else is under mu. A sender
// that finds the role free takes it and writes what others queue meanwhile. It
// hands it to run, through kick, when the connection takes no more, when it has
// written for others long enough, or when the connection is no longer up.
type muxConn struct {
	end    muxEnd
	demand chan struct{} // capacity 1: there is a first request
	asked  chan struct{} // capacity 1: a request has failed since the connection is down
	again  chan struct{} // capacity 1: redial was called since
	kick   chan struct{} // capacity 1: the role of the writer goes to run

	mu       sync.Mutex
	state    muxState
	refusal  error  // what requests get while down or closed; matches ErrNotSent
	inFlight int    // bytes written and not answered
	encoded  uint64 // bytes on this connection
	writing  bool

	// The writer's.
	conn    net.Conn
	direct  *socket.Conn // conn, nil where a write may wait
	out     []byte
	written uint64 // bytes that the connection took
}

// A muxEnd is what a link and a lane do each in its own way: they queue requests of
// their own kind, and await replies to them.
type muxEnd interface {
	// due tells whether the first request in the queue, if there is one, may be written
	// now. The caller holds mu.
	due() bool
	// encode moves requests from the queue to out, until that is enough to write. A
	// large one is the last: its body is returned, to be copied without mu; copied is
	// called then. The caller holds mu and the role of the writer.
	encode() (large []byte)
	copied()
	// write writes out and counts it in written. The caller holds the role.
	write() error
	// read delivers replies until the connection ends.
	read() error
}

type muxState int

const (
	muxIdle       muxState = iota // not wanted so far
	muxConnecting                 // requests wait for the outcome
	muxUp
	muxDown // requests fail at once; run tries to connect
	muxClosed
)

func newMuxConn(end muxEnd) muxConn {
	return muxConn{end: end, demand: make(chan struct{}, 1), asked: make(chan struct{}, 1), again: make(chan struct{}, 1), kick: make(chan struct{}, 1)}
}

// admit says why a request cannot go now, or has somebody connect for it. The caller
// holds mu, and queues it.
func (w *muxConn) admit() error {
	switch w.state {
	case muxDown:
		select {
		case w.asked <- struct{}{}:
		default:
		}
		return w.refusal
	case muxClosed:
		return w.refusal
	case muxIdle:
		w.state = muxConnecting
		w.demand <- struct{}{}
	}
	return nil
}

// up begins with a connection. The caller holds mu.
func (w *muxConn) up(conn net.Conn) {
	w.conn, w.direct = socket.Of(conn)
	w.out, w.encoded, w.written = w.out[:0], 0, 0
	w.state = muxUp
}

// converse sends and receives until the connection ends, or ctx does, and says why.
// Afterwards nobody reads or writes.
func (w *muxConn) converse(ctx context.Context) error {
	conn := w.conn
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	ended := make(chan error, 1)
	go func() {
		err := w.end.read()
		_ = conn.Close() // ends a write, too
		ended <- err
	}()

	w.mu.Lock()
	lead := w.claim()
	w.mu.Unlock()
	var readErr, writeErr error
	if lead {
		writeErr = w.drain()
	}
	for readErr == nil && writeErr == nil {
		select {
		case <-w.kick:
			writeErr = w.drain()
		case readErr = <-ended:
		}
	}
	if readErr == nil && !errors.Is(writeErr, os.ErrDeadlineExceeded) {
		// The peer has closed. What it said before, perhaps that it reads no more, is there to
		// be read, or about to be.
		_ = conn.SetReadDeadline(time.Now().Add(endTimeout))
		readErr = <-ended
	}
	_ = conn.Close()
	if readErr == nil {
		readErr = <-ended
	}
	w.recallWriter(writeErr != nil)
	if writeErr == nil || errors.Is(writeErr, net.ErrClosed) || errors.Is(readErr, errPeerEnds) {
		return readErr // what was written after an end was not read either
	}
	return writeErr
}

// recallWriter ends the time of a sender that writes, unless run itself holds the
// role.
func (w *muxConn) recallWriter(mine bool) {
	w.mu.Lock()
	w.state = muxConnecting // no other caller connects at the same time
	elsewhere := w.writing && !mine
	w.mu.Unlock()
	if elsewhere {
		<-w.kick
	}
	w.mu.Lock()
	w.writing = false
	w.mu.Unlock()
}

// backOff pauses before the next attempt to connect; false if ctx ends.
func backOff(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(spread(pause))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// backOffUnlessAsked is backOff for a connection that is down, but takes no longer than least as
// long as requests come: whoever sends them waits for the node to be back. It ends at once when
// redial says that the node is back.
func (w *muxConn) backOffUnlessAsked(ctx context.Context, pause, least time.Duration) bool {
	select {
	case <-w.asked: // before the attempt that has failed
	default:
	}
	timer := time.NewTimer(spread(min(pause, least)))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.again:
		return true
	case <-ctx.Done():
		return false
	}
	if pause <= least {
		return true
	}
	timer.Reset(spread(pause - least))
	select {
	case <-w.asked:
	case <-w.again:
	case <-timer.C:
	case <-ctx.Done():
		return false
	}
	return true
}

// redial has the next attempt to connect made at once, if the connection is down.
func (w *muxConn) redial() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.state != muxDown {
		return
	}
	select {
	case w.again <- struct{}{}:
	default:
	}
}

// spread is about a pause, so that the many that lost a node do not return in step.
func spread(pause time.Duration) time.Duration { return pause/2 + rand.N(pause/2+1) }
