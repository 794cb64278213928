package replica

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
)

// A Stream carries batches to one other node, in order, and knows which of them the
// node has applied. Any goroutine may use it.
//
// Invariant: batches are numbered in the order in which Send is called, leave in that
// order, and the receiver applies none that does not follow the one before. So when
// sent and acked are equal, the receiver has everything that was handed to Send.
type Stream struct {
	conn   net.Conn
	window int64
	limit  int64

	mu     sync.Mutex
	wake   sync.Cond // there is something to write, or the stream has ended
	queue  []byte    // frames not yet written
	spare  []byte
	sent   uint64 // number of the last batch
	acked  uint64
	inAir  int64   // bytes of batches that are not acknowledged
	sizes  []int64 // of those batches
	err    error
	change chan struct{} // closed at each acknowledgement and at the end
	done   sync.WaitGroup
}

const (
	// streamWindow is how many bytes may be under way before a copy waits.
	streamWindow = 4 << 20
	// streamLimit is how many the stream holds for a receiver that does not keep up,
	// before it gives up: live writes never wait for a copy.
	streamLimit = 256 << 20
)

// ErrBehind says that a receiver did not keep up with the writes.
var ErrBehind = errors.New("the receiver does not keep up")

// NewStream opens a stream on a connection, which it then owns, and tells the
// receiver what it is for. Close must be called.
func NewStream(conn net.Conn, purpose []byte) *Stream {
	s := &Stream{conn: conn, window: streamWindow, limit: streamLimit, change: make(chan struct{})}
	s.wake.L = &s.mu
	s.queue = appendFrame(nil, frameOpen, purpose)
	s.done.Add(2)
	go s.write()
	go s.readAcks()
	return s
}

// Send hands a batch of one of the stream's ranges over, by its number, without waiting
// for the network. It keeps no reference to the batch.
func (s *Stream) Send(r int, batch []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	if s.inAir+int64(len(batch)) > s.limit {
		s.failLocked(ErrBehind)
		return ErrBehind
	}
	s.sent++
	s.queue = appendFrame(s.queue, frameBatch, sequence(s.sent), binary.BigEndian.AppendUint32(nil, uint32(r)), batch)
	s.inAir += int64(len(batch))
	s.sizes = append(s.sizes, int64(len(batch)))
	s.wake.Signal()
	return nil
}

// Room waits until a copy may send more: before latches are taken, since none may be
// held while the network is waited for.
func (s *Stream) Room(ctx context.Context) error {
	return s.until(ctx, func() bool { return s.inAir < s.window })
}

// Drained waits until the receiver has applied everything that was sent before the
// call.
func (s *Stream) Drained(ctx context.Context) error {
	s.mu.Lock()
	last := s.sent
	s.mu.Unlock()
	return s.until(ctx, func() bool { return s.acked >= last })
}

// until waits for a condition that acknowledgements bring about.
func (s *Stream) until(ctx context.Context, holds func() bool) error {
	for {
		s.mu.Lock()
		err, ok, change := s.err, holds(), s.change
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
		_ = s.conn.Close()
		s.wake.Signal()
		close(s.change)
		s.change = make(chan struct{})
	}
}

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
		for len(s.queue) == 0 && s.err == nil {
			s.wake.Wait()
		}
		if s.err != nil {
			s.mu.Unlock()
			return
		}
		frames := s.queue
		s.queue, s.spare = s.spare[:0], nil
		s.mu.Unlock()
		if _, err := s.conn.Write(frames); err != nil {
			s.fail(fmt.Errorf("stream: %w", err))
			return
		}
		s.mu.Lock()
		if cap(frames) <= 2*streamWindow {
			s.spare = frames
		}
		s.mu.Unlock()
	}
}

func (s *Stream) readAcks() {
	defer s.done.Done()
	r := bufio.NewReader(s.conn)
	var buf []byte
	for {
		kind, payload, next, err := readFrame(r, buf)
		buf = next
		if err != nil {
			s.fail(fmt.Errorf("stream: %w", err))
			return
		}
		switch kind {
		case frameAck:
			n, _, err := sequenced(payload)
			if err == nil {
				err = s.ack(n)
			}
			if err != nil {
				s.fail(err)
				return
			}
		case frameFail:
			s.fail(fmt.Errorf("the receiver gave up: %.300s", payload))
			return
		default:
			s.fail(fmt.Errorf("%w: kind %d from a receiver", ErrFrame, kind))
			return
		}
	}
}

func (s *Stream) ack(n uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n < s.acked || n > s.sent {
		return fmt.Errorf("%w: %d is acknowledged, of %d to %d", ErrFrame, n, s.acked, s.sent)
	}
	for range n - s.acked {
		s.inAir -= s.sizes[0]
		s.sizes = s.sizes[1:]
	}
	s.acked = n
	close(s.change)
	s.change = make(chan struct{})
	return nil
}
