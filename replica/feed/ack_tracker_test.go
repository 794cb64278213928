package feed

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/replica/internal/frame"
	"github.com/ringside-kv/ringside/replica/step"
)

// An ackConn notes what is written to it, each time when it is let.
type ackConn struct {
	net.Conn
	let chan struct{} // nil: at once

	mu     sync.Mutex
	wrote  []byte
	closed bool
}

func (c *ackConn) Write(b []byte) (int, error) {
	if c.let != nil {
		<-c.let
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, net.ErrClosed
	}
	c.wrote = append(c.wrote, b...)
	return len(b), nil
}

func (c *ackConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	return nil
}

// takes checks what was written since the last call, once nothing goes on.
func (c *ackConn) takes(t *testing.T, want ...[]byte) {
	t.Helper()
	synctest.Wait()
	c.has(t, want...)
}

// has checks what was written since the last call.
func (c *ackConn) has(t *testing.T, want ...[]byte) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if all := bytes.Join(want, nil); !bytes.Equal(c.wrote, all) {
		t.Errorf("written: %x, not %x", c.wrote, all)
	}
	c.wrote = nil
}

func ackOf(k uint64) []byte { return frame.Append(nil, frame.Ack, frame.Sequence(k)) }

// Who reads writes what has become durable meanwhile, once; what becomes durable later is
// written, too.
func TestReaderWritesAcknowledgements(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		conn, a := &ackConn{}, &ackTracker{}
		w := a.attach(conn, 7, func(step.Step) {})
		defer w.close(nil)
		conn.takes(t, frame.Append(nil, frame.Ready, frame.Sequence(7)))
		w.hold()
		a.add(8)(nil)
		later := a.add(9)
		a.add(10)(nil)
		conn.takes(t)
		w.flush()
		conn.has(t, ackOf(8)) // by now, so no other goroutine had to be woken
		w.hold()
		w.flush()
		conn.takes(t)
		later(nil)
		conn.takes(t, ackOf(10))
	})
}

// Who reads does not wait for a write that is under way, which is followed by another.
func TestReaderDoesNotWaitForAnAcknowledgement(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		conn, a := &ackConn{let: make(chan struct{})}, &ackTracker{}
		w := a.attach(conn, 0, func(step.Step) {})
		conn.takes(t) // the greeting is under way
		w.hold()
		a.add(1)(nil)
		w.flush()
		conn.let <- struct{}{}
		conn.takes(t, frame.Append(nil, frame.Ready, frame.Sequence(0)))
		w.queueFrame([]byte("x"))
		conn.let <- struct{}{}
		conn.takes(t, ackOf(1))
		conn.let <- struct{}{}
		conn.takes(t, []byte("x"))
		w.close(nil)
	})
}

// What becomes durable while who reads writes is written afterwards.
func TestFramesDurableDuringWriteAreAcknowledged(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		conn, a := &ackConn{let: make(chan struct{}, 1)}, &ackTracker{}
		conn.let <- struct{}{}
		w := a.attach(conn, 0, func(step.Step) {})
		conn.takes(t, frame.Append(nil, frame.Ready, frame.Sequence(0)))
		w.hold()
		a.add(1)(nil)
		later := a.add(2)
		var done sync.WaitGroup
		done.Go(w.flush)
		synctest.Wait()
		later(nil)
		conn.let <- struct{}{}
		conn.takes(t, ackOf(1))
		conn.let <- struct{}{}
		conn.takes(t, ackOf(2))
		done.Wait()
		w.close(nil)
	})
}

// What does not become durable ends the connection, whoever writes it, and nothing that
// comes after it is acknowledged.
func TestFailedSyncEndsTheConnection(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		for _, held := range []bool{false, true} {
			conn, a := &ackConn{}, &ackTracker{}
			w := a.attach(conn, 0, func(step.Step) {})
			conn.takes(t, frame.Append(nil, frame.Ready, frame.Sequence(0)))
			if held {
				w.hold()
			}
			a.add(1)(errors.New("no space"))
			a.add(2)(nil)
			if held {
				w.flush()
			}
			conn.takes(t, frame.Append(nil, frame.Fail, []byte("no space")))
			if !conn.closed {
				t.Error("the connection goes on")
			}
			w.close(nil)
			if err := a.waitDurable(context.Background()); err != nil || a.failure(false) == nil {
				t.Error(err, "it is forgotten")
			}
		}
	})
}
