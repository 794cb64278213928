package feed

import (
	"context"
	"errors"
	"github.com/ringside-kv/ringside/replica/internal/frame"
	"github.com/ringside-kv/ringside/replica/step"
	"net"
	"sync"
)

// An ackTracker keeps the groups of accepted frames that may not be durable yet. It belongs to a
// session and outlives its connections.
type ackTracker struct {
	mu     sync.Mutex
	groups []*ackGroup // in order; the first one is not durable
	upTo   uint64
	err    error // of a group that did not become durable
	writer *ackWriter
	idle   chan struct{} // closed when no group is left; nil while no goroutine waits
}

type ackGroup struct {
	seq  uint64
	done bool
	err  error
}

// add starts a group that ends with frame k. The caller calls done once.
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

// waitDurable waits until all accepted frames are durable or have failed.
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

// failure returns why a group did not become durable. reset clears it, for a new session.
func (t *ackTracker) failure(reset bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if reset {
		t.err = nil
	}
	return t.err
}

// waitIdle waits without a limit.
func (t *ackTracker) waitIdle() { _ = t.waitDurable(context.Background()) }

// attach starts to write acknowledgements to a connection.
func (t *ackTracker) attach(conn net.Conn, have uint64, reached func(step.Step)) *ackWriter {
	w := &ackWriter{tracker: t, conn: conn, reached: reached, written: have, upTo: have, frames: frame.Append(nil, frame.Ready, frame.Sequence(have))}
	w.wake.L = &w.mu
	t.mu.Lock()
	t.upTo, t.writer = have, w
	t.mu.Unlock()
	w.done.Go(w.run)
	return w
}

// An ackWriter writes acknowledgements to the primary from its own goroutine, since the store's
// callbacks must not wait for a network. The goroutine that reads frames may wait: between hold and
// flush it writes itself what becomes durable.
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
	held    bool   // the reading goroutine is going to write
	busy    bool   // a goroutine is writing
	buf     []byte // memory of the goroutine that writes
	closed  bool   // no further write
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

// wakeWriter wakes the goroutine unless another one will write. mu is held.
func (w *ackWriter) wakeWriter() {
	if !w.held && !w.busy {
		w.wake.Signal()
	}
}

// hasWork reports whether there is anything to write. mu is held.
func (w *ackWriter) hasWork() bool {
	return w.written < w.upTo || len(w.frames) > 0 || w.err != nil || w.ended
}

// hold leaves all writing to the caller until flush.
func (w *ackWriter) hold() {
	w.mu.Lock()
	w.held = true
	w.mu.Unlock()
}

// flush writes what is pending, unless the goroutine is writing.
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

// write writes what is pending, and closes the connection after the last write. mu is held, but
// released during the write.
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

// close writes an error, if there is one, and waits for the goroutine.
func (w *ackWriter) close(err error) {
	if err == nil {
		_ = w.conn.Close() // ends a write that is waiting
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
