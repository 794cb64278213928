package stream

import (
	"bufio"
	"errors"
	"fmt"
	"github.com/ringside-kv/ringside/replica/internal/frame"
	"io"
	"net"
	"sync"
)

// A Receiver processes the frames of a [Stream], in order, from one goroutine. It must not keep
// their memory.
type Receiver interface {
	// Open is called first, with the purpose of the stream.
	Open(purpose []byte) error
	// Begin is called with the ranges that follow. They are numbered from 0.
	Begin(ranges []byte) error
	// Apply applies a batch of a range. done is called once the batch is durable or has failed.
	Apply(r int, batch []byte, done func(error)) error
	// Ask answers a question about a range.
	Ask(r int, question []byte) (answer []byte, err error)
}

// Receive is the other end of a [Stream]. It closes the connection and returns nil when the sender
// ends the stream, or the error that ended it.
func Receive(conn net.Conn, to Receiver) error {
	a := newAnswers(conn)
	err := receive(conn, to, a)
	a.close(err)
	return err
}

func receive(conn net.Conn, to Receiver, a *replyWriter) error {
	r := bufio.NewReaderSize(conn, 256<<10)
	kind, payload, buf, err := frame.Read(r, nil)
	if err != nil {
		return fmt.Errorf("stream: %w", err)
	}
	if kind != frame.Open {
		return fmt.Errorf("%w: kind %d at the beginning", frame.ErrMalformed, kind)
	}
	if err := to.Open(payload); err != nil {
		return err
	}
	a.queueFrame(frame.Append(nil, frame.Ready))
	for last := uint64(0); ; last++ {
		kind, payload, buf, err = frame.Read(r, buf)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, net.ErrClosed), errors.Is(err, io.ErrClosedPipe):
			return a.failure()
		case err != nil:
			return errors.Join(a.failure(), fmt.Errorf("stream: %w", err))
		}
		n, payload, err := frame.CutSequence(payload)
		if err == nil && n != last+1 {
			err = fmt.Errorf("%w: %d does not follow %d", frame.ErrMalformed, n, last)
		}
		if err == nil {
			err = a.failure()
		}
		if err == nil {
			err = dispatchFrame(kind, n, payload, to, a)
		}
		if err != nil {
			return err
		}
		if cap(buf) > 8<<20 {
			buf = nil // of an unusually long value
		}
	}
}

// dispatchFrame passes a frame to the receiver.
func dispatchFrame(kind frame.Kind, n uint64, payload []byte, to Receiver, a *replyWriter) error {
	if kind == frame.Begin {
		err := to.Begin(payload)
		a.markApplied(n, err)
		return err
	}
	r, payload, err := frame.CutRange(payload)
	if err != nil {
		return err
	}
	switch kind {
	case frame.Batch:
		return to.Apply(r, payload, func(err error) { a.markApplied(n, err) })
	case frame.Ask:
		answer, err := to.Ask(r, payload)
		if err != nil {
			return err
		}
		a.queueFrame(frame.Append(nil, frame.Answer, answer))
		a.markApplied(n, nil)
		return nil
	}
	return fmt.Errorf("%w: kind %d from a sender", frame.ErrMalformed, kind)
}

// A replyWriter writes to the sender from its own goroutine, since the store's callbacks must not
// wait for a network.
type replyWriter struct {
	conn net.Conn
	done sync.WaitGroup

	mu          sync.Mutex
	wake        sync.Cond
	ackedUpTo   uint64              // durable, with all frames before it
	ackedBeyond map[uint64]struct{} // durable, but not all frames before them
	writtenUpTo uint64
	frames      []byte
	err         error
	ended       bool
}

func newAnswers(conn net.Conn) *replyWriter {
	a := &replyWriter{conn: conn, ackedBeyond: make(map[uint64]struct{})}
	a.wake.L = &a.mu
	a.done.Go(a.write)
	return a
}

func (a *replyWriter) queueFrame(frame []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.frames = append(a.frames, frame...)
	a.wake.Signal()
}

// markApplied records that a frame has been processed.
func (a *replyWriter) markApplied(n uint64, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	defer a.wake.Signal()
	if err != nil {
		a.err = errors.Join(a.err, err)
		return
	}
	a.ackedBeyond[n] = struct{}{}
	for {
		if _, ok := a.ackedBeyond[a.ackedUpTo+1]; !ok {
			return
		}
		a.ackedUpTo++
		delete(a.ackedBeyond, a.ackedUpTo)
	}
}

func (a *replyWriter) failure() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

func (a *replyWriter) write() {
	for {
		a.mu.Lock()
		for a.writtenUpTo == a.ackedUpTo && len(a.frames) == 0 && !a.ended && a.err == nil {
			a.wake.Wait()
		}
		ended := a.ended || a.err != nil
		frames := a.frames
		a.frames = nil
		if a.err != nil {
			frames = frame.Append(nil, frame.Fail, []byte(a.err.Error()))
			if errors.Is(a.err, ErrReceiving) {
				frames = frame.Append(nil, frame.Busy)
			}
		} else if a.writtenUpTo < a.ackedUpTo {
			a.writtenUpTo = a.ackedUpTo
			frames = frame.Append(frames, frame.Ack, frame.Sequence(a.ackedUpTo))
		}
		a.mu.Unlock()
		var err error
		if len(frames) > 0 {
			_, err = a.conn.Write(frames)
		}
		if err != nil || ended {
			// The sender's further frames are not read.
			_ = a.conn.Close()
			return
		}
	}
}

// close tells the sender why the stream ends, closes the connection and waits.
func (a *replyWriter) close(err error) {
	a.mu.Lock()
	a.ended = true
	if a.err == nil {
		a.err = err
	}
	a.wake.Signal()
	a.mu.Unlock()
	a.done.Wait()
	_ = a.conn.Close()
}
