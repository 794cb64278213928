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
func (a *acks) begin(conn net.Conn, have uint64, reached func(Step)) *ackWriter {
	w := &ackWriter{a: a, conn: conn, reached: reached, told: have, upTo: have, frames: appendFrame(nil, frameReady, sequence(have))}
	w.wake.L = &w.mu
	a.mu.Lock()
	a.upTo, a.w = have, w
	a.mu.Unlock()
	w.done.Go(w.run)
	return w
}

// An ackWriter writes to the primary, from a goroutine of its own, since whoever says
// that something is durable may not wait for a network. The goroutine that reads from the
// primary may: it writes by itself what becomes durable while it takes frames in, between
// hold and flush.
type ackWriter struct {
	a       *acks
	conn    net.Conn
	reached func(Step)
	done    sync.WaitGroup

	mu     sync.Mutex
	wake   sync.Cond
	upTo   uint64
	told   uint64
	frames []byte
	err    error
	ended  bool
	held   bool   // the reader is going to write
	busy   bool   // somebody writes
	room   []byte // for what is written; of who is busy
	over   bool   // nothing is written any more
}

func (w *ackWriter) say(frame []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.frames = append(w.frames, frame...)
	w.stir()
}

func (w *ackWriter) acked(k uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.upTo = k
	w.stir()
}

func (w *ackWriter) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = errors.Join(w.err, err)
	w.stir()
}

// stir wakes the goroutine, unless somebody else will write; mu is held.
func (w *ackWriter) stir() {
	if !w.held && !w.busy {
		w.wake.Signal()
	}
}

// due tells whether there is something to write; mu is held.
func (w *ackWriter) due() bool {
	return w.told < w.upTo || len(w.frames) > 0 || w.err != nil || w.ended
}

// hold leaves what there is to write to the reader, until flush.
func (w *ackWriter) hold() {
	w.mu.Lock()
	w.held = true
	w.mu.Unlock()
}

// flush writes what there is, if the goroutine is not at it.
func (w *ackWriter) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = false
	if !w.busy && !w.over && w.due() {
		w.write()
	}
	if w.over || w.due() {
		w.wake.Signal()
	}
}

func (w *ackWriter) run() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !w.over {
		if w.busy || w.held || !w.due() {
			w.wake.Wait()
			continue
		}
		w.write()
	}
}

// write writes what there is, and closes the connection after the last; mu is held but
// for the writing.
func (w *ackWriter) write() {
	b := append(w.room[:0], w.frames...)
	w.frames = w.frames[:0]
	acks := w.told < w.upTo
	if acks {
		w.told = w.upTo
		b = appendFrame(b, frameAck, sequence(w.upTo))
	}
	over := w.ended || w.err != nil
	if w.err != nil {
		b = appendFrame(b, frameFail, []byte(w.err.Error()))
	}
	w.busy, w.room = true, nil
	w.mu.Unlock()
	var err error
	if len(b) > 0 {
		_, err = w.conn.Write(b)
	}
	if acks && err == nil {
		w.reached(WriteAcked)
	}
	if err != nil || over {
		over = true
		_ = w.conn.Close()
	}
	w.mu.Lock()
	w.busy, w.over = false, over
	if cap(b) <= outboxLong {
		w.room = b
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
