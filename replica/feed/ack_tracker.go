package feed

import (
	"context"
	"errors"
	"github.com/ringside-kv/ringside/replica/internal/frame"
	"github.com/ringside-kv/ringside/replica/step"
	"net"
	"sync"
)

// ackTracker are the groups of frames that were taken in and may not be durable yet. They
// belong to a session, over all its connections.
type ackTracker struct {
	mu     sync.Mutex
	groups []*ackGroup // in order, the first that is not durable first
	upTo   uint64
	err    error // of one that did not become durable
	writer *ackWriter
	idle   chan struct{} // closed when there is no group, if somebody waits
}

type ackGroup struct {
	seq  uint64
	done bool
	err  error
}

// add notes a group by its last frame. What it returns is to be called once.
func (t *ackTracker) add(k uint64) (done func(error)) {
	g := &ackGroup{seq: k}
	t.mu.Lock()
	t.groups = append(t.groups, g)
	t.mu.Unlock()
	return func(err error) { t.markDurable(g, err) }
}

func (t *ackTracker) markDurable(g *ackGroup, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	g.done, g.err = true, err
	moved := false
	for len(t.groups) > 0 && t.groups[0].done {
		if err := t.groups[0].err; err != nil {
			if t.err = errors.Join(t.err, err); t.writer != nil {
				t.writer.fail(err)
			}
		} else if t.err == nil {
			t.upTo, moved = t.groups[0].seq, true
		}
		t.groups[0] = nil
		t.groups = t.groups[1:]
	}
	if len(t.groups) == 0 {
		t.groups = nil
		if t.idle != nil {
			close(t.idle)
			t.idle = nil
		}
	}
	if moved && t.writer != nil {
		t.writer.advance(t.upTo)
	}
}

// waitDurable waits until all that was taken in is durable, or has failed.
func (t *ackTracker) waitDurable(ctx context.Context) error {
	t.mu.Lock()
	if len(t.groups) == 0 {
		t.mu.Unlock()
		return nil
	}
	if t.idle == nil {
		t.idle = make(chan struct{})
	}
	idle := t.idle
	t.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// failure is why something did not become durable. reset forgets it, for a new session.
func (t *ackTracker) failure(reset bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if reset {
		t.err = nil
	}
	return t.err
}

// still waits without an end.
func (t *ackTracker) waitIdle() { _ = t.waitDurable(context.Background()) }

// attach has acknowledgements written to a connection.
func (t *ackTracker) attach(conn net.Conn, have uint64, reached func(step.Step)) *ackWriter {
	w := &ackWriter{tracker: t, conn: conn, reached: reached, written: have, upTo: have, frames: frame.Append(nil, frame.Ready, frame.Sequence(have))}
	w.wake.L = &w.mu
	t.mu.Lock()
	t.upTo, t.writer = have, w
	t.mu.Unlock()
	w.done.Go(w.run)
	return w
}

// An ackWriter writes to the primary, from a goroutine of its own, since whoever says
// that something is durable may not wait for a network. The goroutine that reads from the
// primary may: it writes by itself what becomes durable while it takes frames in, between
// hold and flush.
type ackWriter struct {
	tracker *ackTracker
	conn    net.Conn
	reached func(step.Step)
	done    sync.WaitGroup

	mu      sync.Mutex
	wake    sync.Cond
	upTo    uint64
	written uint64
	frames  []byte
	err     error
	ended   bool
	held    bool   // the reader is going to write
	busy    bool   // somebody writes
	buf     []byte // for what is written; of who is busy
	closed  bool   // nothing is written any more
}

func (w *ackWriter) queueFrame(frame []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.frames = append(w.frames, frame...)
	w.wakeWriter()
}

func (w *ackWriter) advance(k uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.upTo = k
	w.wakeWriter()
}

func (w *ackWriter) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = errors.Join(w.err, err)
	w.wakeWriter()
}

// wakeWriter wakes the goroutine, unless somebody else will write; mu is held.
func (w *ackWriter) wakeWriter() {
	if !w.held && !w.busy {
		w.wake.Signal()
	}
}

// hasWork tells whether there is something to write; mu is held.
func (w *ackWriter) hasWork() bool {
	return w.written < w.upTo || len(w.frames) > 0 || w.err != nil || w.ended
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
	if !w.busy && !w.closed && w.hasWork() {
		w.write()
	}
	if w.closed || w.hasWork() {
		w.wake.Signal()
	}
}

func (w *ackWriter) run() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !w.closed {
		if w.busy || w.held || !w.hasWork() {
			w.wake.Wait()
			continue
		}
		w.write()
	}
}

// write writes what there is, and closes the connection after the last; mu is held but
// for the writing.
func (w *ackWriter) write() {
	b := append(w.buf[:0], w.frames...)
	w.frames = w.frames[:0]
	acks := w.written < w.upTo
	if acks {
		w.written = w.upTo
		b = frame.Append(b, frame.Ack, frame.Sequence(w.upTo))
	}
	over := w.ended || w.err != nil
	if w.err != nil {
		b = frame.Append(b, frame.Fail, []byte(w.err.Error()))
	}
	w.busy, w.buf = true, nil
	w.mu.Unlock()
	var err error
	if len(b) > 0 {
		_, err = w.conn.Write(b)
	}
	if acks && err == nil {
		w.reached(step.WriteAcked)
	}
	if err != nil || over {
		over = true
		_ = w.conn.Close()
	}
	w.mu.Lock()
	w.busy, w.closed = false, over
	if cap(b) <= frame.LongBody {
		w.buf = b
	}
}

// close writes why, if there is something, and waits.
func (w *ackWriter) close(err error) {
	if err == nil {
		_ = w.conn.Close() // who writes does not wait any more
	}
	w.tracker.mu.Lock()
	if w.tracker.writer == w {
		w.tracker.writer = nil
	}
	w.tracker.mu.Unlock()
	w.mu.Lock()
	w.ended = true
	w.err = errors.Join(w.err, err)
	w.wake.Signal()
	w.mu.Unlock()
	w.done.Wait()
}
