package stream

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"github.com/ringside-kv/ringside/replica/internal/frame"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A Stream sends batches to one other node, in order, and knows which of them the node has applied.
// Any goroutine may use it.
//
// Invariant: batches are numbered in the order of Send and leave in that order, and the receiver
// applies none that does not follow the one before. So when sent and acked are equal, the receiver
// has everything that was passed to Send.
type Stream struct {
	conn        net.Conn
	window      int64
	limit       int64
	stall       time.Duration
	inFlight    atomic.Int64 // bytes of unacknowledged batches
	unthrottled atomic.Bool  // Pace does not block
	sentBytes   atomic.Int64
	received    atomic.Int64 // bytes from the receiver

	mu      sync.Mutex
	wake    sync.Cond // a frame is queued, or the stream has ended
	queue   queue     // frames not yet written
	sent    uint64    // number of the last batch
	acked   uint64
	sizes   []int64 // of the unacknowledged batches
	ready   bool
	answers [][]byte // received and not yet returned by Ask
	err     error
	change  chan struct{} // closed at each message of the receiver and at the end
	timer   *time.Timer
	done    sync.WaitGroup
}

const (
	// streamWindow is the number of bytes in flight at which a copy waits.
	streamWindow = 4 << 20
	// ThrottleAbove is the number of bytes in flight at which writers in the copied part wait, for
	// MaxThrottle at most each time. So the receiver keeps up with them and the copy makes
	// progress.
	ThrottleAbove = 2 * streamWindow
	// Limit is the number of bytes in flight at which the stream fails. It is more than two of the
	// longest values. From half of it on no new unit writes in the copied part.
	Limit = 1 << 30
	// stallTimeout is how long a receiver may acknowledge nothing.
	stallTimeout = 20 * time.Second
	// MaxThrottle is the longest delay of a writer.
	MaxThrottle = 50 * time.Millisecond
)

// Errors that end a stream.
var (
	// ErrBehind says that a receiver does not keep up with the writes.
	ErrBehind = errors.New("the receiver does not keep up")
	// ErrStalled says that a receiver has acknowledged nothing for some time.
	ErrStalled = errors.New("the receiver does not answer")
)

// New opens a stream on a connection, which it owns from then on, and sends its purpose. The caller
// must Close it.
func New(conn net.Conn, purpose []byte) *Stream {
	s := &Stream{
		conn: conn, window: streamWindow, limit: Limit, stall: stallTimeout,
		change: make(chan struct{}),
	}
	s.wake.L = &s.mu
	s.queue.add(frame.Open, nil, purpose)
	s.timer = time.AfterFunc(s.stall, func() { s.fail(ErrStalled) })
	s.done.Add(2)
	go s.write()
	go s.readAcks()
	return s
}

// Ready waits until the receiver accepts the stream.
func (s *Stream) Ready(ctx context.Context) error {
	return s.waitUntil(ctx, func() bool { return s.ready })
}

// Begin names the ranges that follow, by the numbers that Send is given, and waits until the
// receiver is ready for them.
func (s *Stream) Begin(ctx context.Context, ranges []byte) error {
	if err := s.send(frame.Begin, nil, ranges); err != nil {
		return err
	}
	return s.Drained(ctx)
}

// Ask sends the receiver a question about a range and waits for the answer. The receiver answers
// after all earlier batches. One question at a time.
func (s *Stream) Ask(ctx context.Context, r int, question []byte) ([]byte, error) {
	if err := s.send(frame.Ask, binary.BigEndian.AppendUint32(nil, uint32(r)), question); err != nil {
		return nil, err
	}
	var answer []byte
	err := s.waitUntil(ctx, func() bool {
		if len(s.answers) == 0 {
			return false
		}
		answer, s.answers = s.answers[0], nil
		return true
	})
	return answer, err
}

// Send queues a batch for a range, given by its number, without waiting for the network. It keeps
// the batch.
func (s *Stream) Send(r int, batch []byte) error {
	return s.send(frame.Batch, binary.BigEndian.AppendUint32(nil, uint32(r)), batch)
}

func (s *Stream) send(kind frame.Kind, head, body []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	n := int64(len(head) + len(body))
	if s.inFlight.Load()+n > s.limit {
		s.failLocked(ErrBehind)
		return ErrBehind
	}
	if s.acked == s.sent {
		s.timer.Reset(s.stall)
	}
	s.sent++
	s.queue.add(kind, append(frame.Sequence(s.sent), head...), body)
	s.inFlight.Add(n)
	s.sentBytes.Add(n)
	s.sizes = append(s.sizes, n)
	s.wake.Signal()
	return nil
}

// Sent returns the number of bytes queued so far.
func (s *Stream) Sent() int64 { return s.sentBytes.Load() }

// Received returns the number of bytes from the receiver so far, mostly digests.
func (s *Stream) Received() int64 { return s.received.Load() }

// Room waits until a copy may send more. Call it before taking latches: none may be held while
// waiting for the network.
func (s *Stream) Room(ctx context.Context) error {
	return s.waitUntil(ctx, func() bool { return s.inFlight.Load() < s.window })
}

// Drained waits until the receiver has applied everything that was sent before the call.
func (s *Stream) Drained(ctx context.Context) error {
	s.mu.Lock()
	last := s.sent
	s.mu.Unlock()
	return s.waitUntil(ctx, func() bool { return s.acked >= last })
}

// Pace delays a writer in a range of the stream while the receiver is behind: for MaxThrottle, or
// while half of Limit is in flight.
func (s *Stream) Pace() {
	if s.inFlight.Load() < ThrottleAbove || s.unthrottled.Load() {
		return
	}
	late := time.NewTimer(MaxThrottle)
	defer late.Stop()
	expired := late.C
	for {
		s.mu.Lock()
		under, ended, change := s.inFlight.Load(), s.err != nil, s.change
		s.mu.Unlock()
		switch {
		case ended || s.unthrottled.Load() || under < ThrottleAbove:
			return
		case expired == nil && under < s.limit/2:
			return
		}
		select {
		case <-change:
		case <-expired:
			expired = nil
			if s.inFlight.Load() < s.limit/2 {
				return
			}
		}
	}
}

// SetUnthrottled stops Pace from blocking, or allows it again.
func (s *Stream) SetUnthrottled(on bool) {
	s.unthrottled.Store(on)
	s.mu.Lock()
	s.wakeWaiters()
	s.mu.Unlock()
}

// waitUntil waits for a condition that messages of the receiver bring about.
func (s *Stream) waitUntil(ctx context.Context, holds func() bool) error {
	for {
		s.mu.Lock()
		err, change := s.err, s.change
		ok := err == nil && holds()
		s.mu.Unlock()
		switch {
		case err != nil:
			return err
		case ok:
			return nil
		}
		select {
		case <-change:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Err returns why the stream has ended; nil while it has not.
func (s *Stream) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (s *Stream) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failLocked(err)
}

func (s *Stream) failLocked(err error) {
	if s.err == nil {
		s.err = err
		s.timer.Stop()
		s.queue = queue{}
		_ = s.conn.Close()
		s.wake.Signal()
		s.wakeWaiters()
	}
}

// wakeWaiters wakes all goroutines in waitUntil. mu is held.
func (s *Stream) wakeWaiters() {
	close(s.change)
	s.change = make(chan struct{})
}

// ErrStream says that the connection of a stream has failed.
var ErrStream = errors.New("stream")

// errStreamClosed ends a stream by Close.
var errStreamClosed = errors.New("stream closed")

// Close ends the stream. Unacknowledged batches may or may not have arrived.
func (s *Stream) Close() {
	s.fail(errStreamClosed)
	s.done.Wait()
}

func (s *Stream) write() {
	defer s.done.Done()
	for {
		s.mu.Lock()
		for len(s.queue.parts) == 0 && s.err == nil {
			s.wake.Wait()
		}
		if s.err != nil {
			s.mu.Unlock()
			return
		}
		parts := s.queue.take()
		s.mu.Unlock()
		if _, err := parts.WriteTo(s.conn); err != nil {
			s.fail(fmt.Errorf("%w: %w", ErrStream, err))
			return
		}
	}
}

func (s *Stream) readAcks() {
	defer s.done.Done()
	r := bufio.NewReader(s.conn)
	var buf []byte
	for {
		kind, payload, next, err := frame.Read(r, buf)
		buf = next
		s.received.Add(int64(len(payload)))
		if err == nil {
			err = s.handleMessage(kind, payload)
		}
		if err != nil {
			s.fail(fmt.Errorf("%w: %w", ErrStream, err))
			return
		}
	}
}

// handleMessage processes a message of the receiver.
func (s *Stream) handleMessage(kind frame.Kind, payload []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch kind {
	case frame.Ack:
		n, _, err := frame.CutSequence(payload)
		if err != nil {
			return err
		}
		if n < s.acked || n > s.sent {
			return fmt.Errorf("%w: %d is acknowledged, of %d to %d", frame.ErrMalformed, n, s.acked, s.sent)
		}
		for range n - s.acked {
			s.inFlight.Add(-s.sizes[0])
			s.sizes = s.sizes[1:]
		}
		s.acked = n
	case frame.Ready:
		s.ready = true
	case frame.Answer:
		if len(s.answers) > 0 {
			return fmt.Errorf("%w: an answer to nothing", frame.ErrMalformed)
		}
		s.answers = append(s.answers, append([]byte(nil), payload...))
	case frame.Busy:
		return ErrReceiving
	case frame.Fail:
		return fmt.Errorf("%w: %.300s", ErrGaveUp, payload)
	default:
		return fmt.Errorf("%w: kind %d from a receiver", frame.ErrMalformed, kind)
	}
	if s.acked == s.sent && s.ready {
		s.timer.Stop()
	} else {
		s.timer.Reset(s.stall)
	}
	s.wakeWaiters()
	return nil
}

// ErrGaveUp says that the receiver has ended the stream, and why.
var ErrGaveUp = errors.New("the receiver gave up")

// ErrReceiving says that the receiver is busy with streams of other nodes.
var ErrReceiving = errors.New("other nodes hand ranges to it first")
