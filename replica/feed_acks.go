package replica

import (
	"context"
	"errors"
	"net"
	"sync"
)

// acks are the groups of frames that were taken in and may not be durable yet. They
// belong to a session, over all its connections.
type acks struct {
	mu     sync.Mutex
	groups []*ackGroup // in order, the first that is not durable first
	upTo   uint64
	err    error // of one that did not become durable
	w      *ackWriter
	idle   chan struct{} // closed when there is no group, if somebody waits
}

type ackGroup struct {
	k    uint64
	done bool
	err  error
}

// add notes a group by its last frame. What it returns is to be called once.
func (a *acks) add(k uint64) (done func(error)) {
	g := &ackGroup{k: k}
	a.mu.Lock()
	a.groups = append(a.groups, g)
	a.mu.Unlock()
	return func(err error) { a.durable(g, err) }
}

func (a *acks) durable(g *ackGroup, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	g.done, g.err = true, err
	moved := false
	for len(a.groups) > 0 && a.groups[0].done {
		if err := a.groups[0].err; err != nil {
			if a.err = errors.Join(a.err, err); a.w != nil {
				a.w.fail(err)
			}
		} else if a.err == nil {
			a.upTo, moved = a.groups[0].k, true
		}
		a.groups[0] = nil
		a.groups = a.groups[1:]
	}
	if len(a.groups) == 0 {
		a.groups = nil
		if a.idle != nil {
			close(a.idle)
			a.idle = nil
		}
	}
	if moved && a.w != nil {
		a.w.acked(a.upTo)
	}
}

// wait waits until all that was taken in is durable, or has failed.
func (a *acks) wait(ctx context.Context) error {
	a.mu.Lock()
	if len(a.groups) == 0 {
		a.mu.Unlock()
		return nil
	}
	if a.idle == nil {
		a.idle = make(chan struct{})
	}
	idle := a.idle
	a.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// failed is why something did not become durable. reset forgets it, for a new session.
func (a *acks) failed(reset bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if reset {
		a.err = nil
	}
	return a.err
}

// still waits without an end.
func (a *acks) still() { _ = a.wait(context.Background()) }

// begin has acknowledgements written to a connection.
func (a *acks) begin(conn net.Conn, have uint64) *ackWriter {
	w := &ackWriter{a: a, conn: conn, told: have, upTo: have, frames: appendFrame(nil, frameReady, sequence(have))}
	w.wake.L = &w.mu
	a.mu.Lock()
	a.upTo, a.w = have, w
	a.mu.Unlock()
	w.done.Go(w.write)
	return w
}

// An ackWriter writes to the primary, from a goroutine of its own, since whoever says
// that something is durable may not wait for a network.
type ackWriter struct {
	a    *acks
	conn net.Conn
	done sync.WaitGroup

	mu     sync.Mutex
	wake   sync.Cond
	upTo   uint64
	told   uint64
	frames []byte
	err    error
	ended  bool
}

func (w *ackWriter) say(frame []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.frames = append(w.frames, frame...)
	w.wake.Signal()
}

func (w *ackWriter) acked(k uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.upTo = k
	w.wake.Signal()
}

func (w *ackWriter) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = errors.Join(w.err, err)
	w.wake.Signal()
}

func (w *ackWriter) write() {
	for {
		w.mu.Lock()
		for w.told == w.upTo && len(w.frames) == 0 && !w.ended && w.err == nil {
			w.wake.Wait()
		}
		frames := w.frames
		w.frames = nil
		if w.told < w.upTo {
			w.told = w.upTo
			frames = appendFrame(frames, frameAck, sequence(w.upTo))
		}
		over := w.ended || w.err != nil
		if w.err != nil {
			frames = appendFrame(frames, frameFail, []byte(w.err.Error()))
		}
		w.mu.Unlock()
		var err error
		if len(frames) > 0 {
			_, err = w.conn.Write(frames)
		}
		if err != nil || over {
			_ = w.conn.Close()
			return
		}
	}
}

// end writes why, if there is something, and waits.
func (w *ackWriter) end(err error) {
	if err == nil {
		_ = w.conn.Close() // who writes does not wait any more
	}
	w.a.mu.Lock()
	if w.a.w == w {
		w.a.w = nil
	}
	w.a.mu.Unlock()
	w.mu.Lock()
	w.ended = true
	w.err = errors.Join(w.err, err)
	w.wake.Signal()
	w.mu.Unlock()
	w.done.Wait()
}
