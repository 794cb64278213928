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

// A Stream carries batches to one other node, in order, and knows which of them the
// node has applied. Any goroutine may use it.
//
// Invariant: batches are numbered in the order in which Send is called, leave in that
// order, and the receiver applies none that does not follow the one before. So when
// sent and acked are equal, the receiver has everything that was handed to Send.
type Stream struct {
	conn        net.Conn
	window      int64
	limit       int64
	stall       time.Duration
	inFlight    atomic.Int64 // bytes of batches that are not acknowledged
	unthrottled atomic.Bool  // nobody is to be held back
	sentBytes   atomic.Int64
	received    atomic.Int64 // bytes

	mu      sync.Mutex
	wake    sync.Cond // there is something to write, or the stream has ended
	queue   queue     // frames not yet written
	sent    uint64    // number of the last batch
	acked   uint64
	sizes   []int64 // of the batches that are not acknowledged
	ready   bool
	answers [][]byte // that have come
	err     error
	change  chan struct{} // closed at each message of the receiver and at the end
	timer   *time.Timer
	done    sync.WaitGroup
}

const (
	// streamWindow is how many bytes may be under way before a copy waits.
	streamWindow = 4 << 20
	// throttleAbove is how many before those wait who write in what has been copied, but
	// for paceMost at the most each time: the receiver takes in what they write as
	// fast as they do, and the copy gets its turn.
	ThrottleAbove = 2 * streamWindow
	// streamLimit is how many the stream holds before it gives up. It is more than two
	// of the longest values. From half of it on nobody writes who has not begun.
	Limit = 1 << 30
	// stallTimeout is how long a receiver may let a stream wait.
	stallTimeout = 20 * time.Second
	// maxThrottle is how long a writer is held back for a receiver.
	MaxThrottle = 50 * time.Millisecond
)

// Errors that end a stream.
var (
	// ErrBehind says that a receiver did not keep up with the writes.
	ErrBehind = errors.New("the receiver does not keep up")
	// ErrStalled says that a receiver has done nothing for some time.
	ErrStalled = errors.New("the receiver does not answer")
)

// NewStream opens a stream on a connection, which it then owns, and tells the
// receiver what it is for. Close must be called.
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

// Ready waits until the receiver takes part.
func (s *Stream) Ready(ctx context.Context) error {
	return s.waitUntil(ctx, func() bool { return s.ready })
}

// Begin tells which ranges follow, by the numbers that Send is given, and waits until
// the receiver is ready for them.
func (s *Stream) Begin(ctx context.Context, ranges []byte) error {
	if err := s.send(frame.Begin, nil, ranges); err != nil {
		return err
	}
	return s.Drained(ctx)
}

// Ask asks the receiver something about a range, and waits for the answer, which stands
// behind everything that was sent before. One at a time.
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

// Send hands a batch of one of the stream's ranges over, by its number, without waiting
// for the network. It keeps the batch.
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

// Sent is how many bytes have been handed over so far.
func (s *Stream) Sent() int64 { return s.sentBytes.Load() }

// Received is how many bytes the receiver has sent so far: digests, above all.
func (s *Stream) Received() int64 { return s.received.Load() }

// Room waits until a copy may send more: before latches are taken, since none may be
// held while the network is waited for.
func (s *Stream) Room(ctx context.Context) error {
	return s.waitUntil(ctx, func() bool { return s.inFlight.Load() < s.window })
}

// Drained waits until the receiver has applied everything that was sent before the
// call.
func (s *Stream) Drained(ctx context.Context) error {
	s.mu.Lock()
	last := s.sent
	s.mu.Unlock()
	return s.waitUntil(ctx, func() bool { return s.acked >= last })
}

// Pace holds those back who are about to write in a range of the stream, while the
// receiver is behind: each for a bounded time, unless memory would run out.
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

// SetUnthrottled lets nobody be held back any more, or again.
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

// Err is why the stream has ended, nil while it has not.
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

// wakeWaiters wakes those who wait; mu is held.
func (s *Stream) wakeWaiters() {
	close(s.change)
	s.change = make(chan struct{})
}

// errStream says that the connection of a stream has failed.
var ErrStream = errors.New("stream")

// errStreamClosed is the end that Close makes.
var errStreamClosed = errors.New("stream closed")

// Close ends the stream. What was not acknowledged may or may not have arrived.
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

// handleMessage takes in a message of the receiver.
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

// ErrGaveUp says that a receiver has ended a stream, and why.
var ErrGaveUp = errors.New("the receiver gave up")

// ErrReceiving says that a node already receives from other nodes.
var ErrReceiving = errors.New("other nodes hand ranges to it first")
