package stream

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/replica/internal/frame"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A taker is a Receiver.
type taker struct{ apply func(int, []byte) error }

func (k taker) Open(p []byte) error {
	if string(p) != "handoff 7" {
		return errors.New("another purpose")
	}
	return nil
}

func (k taker) Begin([]byte) error { return nil }

func (k taker) Apply(r int, batch []byte, done func(error)) error {
	err := k.apply(r, batch)
	if err == nil {
		done(nil)
	}
	return err
}

func (k taker) Ask(_ int, question []byte) ([]byte, error) {
	return append([]byte("re: "), question...), nil
}

// receiving runs a receiver and returns what it ends with.
func receiving(conn net.Conn, apply func(int, []byte) error) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- Receive(conn, taker{apply}) }()
	return ended
}

func TestStreamKeepsTheOrder(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	fakenet.Bubble(t, func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		here, there := net.Pipe()
		var got [][]byte
		ended := receiving(there, func(_ int, b []byte) error {
			got = append(got, bytes.Clone(b))
			return nil
		})
		s := New(here, []byte("handoff 7"))
		var want [][]byte
		var mu sync.Mutex
		var senders sync.WaitGroup
		sizes := make([]int, 400)
		for i := range sizes {
			sizes[i] = rnd.IntN(5000)
		}
		for w := range 4 {
			senders.Go(func() {
				for _, size := range sizes[w*100 : (w+1)*100] {
					batch := bytes.Repeat([]byte{byte(w)}, size)
					mu.Lock()
					want = append(want, batch)
					if err := s.Send(0, batch); err != nil {
						t.Error(err)
					}
					mu.Unlock()
					if err := s.Room(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
		senders.Wait()
		if err := s.Drained(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if len(got) != len(want) {
			t.Fatalf("%d batches arrived, %d were sent", len(got), len(want))
		}
		for i := range want {
			if !bytes.Equal(got[i], want[i]) {
				t.Fatalf("batch %d is another", i)
			}
		}
	})
}

func TestRoomWaitsForTheReceiver(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		here, there := net.Pipe()
		release := make(chan struct{})
		ended := receiving(there, func(int, []byte) error { <-release; return nil })
		s := New(here, []byte("handoff 7"))
		if err := s.Send(0, make([]byte, streamWindow)); err != nil {
			t.Fatal(err)
		}
		room := make(chan error, 1)
		go func() { room <- s.Room(t.Context()) }()
		synctest.Wait()
		select {
		case <-room:
			t.Fatal("there is room in a full window")
		default:
		}
		close(release)
		if err := <-room; err != nil {
			t.Error(err)
		}
		s.Close()
		<-ended
	})
}

// Those who write are held back while a receiver is behind: each for a bounded time, all
// until there is memory again, and nobody once a cutover waits for them.
func TestWritersAreHeldBack(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		here, there := net.Pipe()
		release := make(chan struct{})
		ended := receiving(there, func(int, []byte) error { <-release; return nil })
		s := New(here, []byte("handoff 7"))
		s.limit = 64 << 20
		took := func() time.Duration {
			start := time.Now()
			s.Pace()
			return time.Since(start)
		}
		if d := took(); d != 0 {
			t.Errorf("%v with nothing under way", d)
		}
		_ = s.Send(0, make([]byte, ThrottleAbove))
		if d := took(); d != MaxThrottle {
			t.Errorf("%v with a full stream", d)
		}
		s.SetUnthrottled(true)
		if d := took(); d != 0 {
			t.Errorf("%v at a cutover", d)
		}
		s.SetUnthrottled(false)
		_ = s.Send(0, make([]byte, s.limit/2))
		var waiting sync.WaitGroup
		waiting.Go(func() {
			if d := took(); d != 10*time.Second {
				t.Errorf("%v with memory that runs out", d)
			}
		})
		time.Sleep(10 * time.Second)
		close(release)
		waiting.Wait()
		if err := s.Drained(t.Context()); err != nil {
			t.Fatal(err)
		}
		if d := took(); d != 0 {
			t.Errorf("%v when all has arrived", d)
		}
		_ = s.Send(0, make([]byte, ThrottleAbove))
		s.Close()
		if d := took(); d != 0 {
			t.Errorf("%v when the stream has ended", d)
		}
		<-ended
	})
}

func TestIdleReceiverIsGivenUp(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		here, there := net.Pipe()
		release := make(chan struct{})
		ended := receiving(there, func(int, []byte) error { <-release; return nil })
		s := New(here, []byte("handoff 7"))
		if err := s.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * stallTimeout) // nothing is expected of it
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
		_ = s.Send(0, []byte("x"))
		if err := s.Drained(t.Context()); !errors.Is(err, ErrStalled) {
			t.Error(err)
		}
		s.Close()
		close(release)
		<-ended
	})
}

func TestAnswersFollowSentFrames(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		here, there := net.Pipe()
		applied := 0
		ended := receiving(there, func(int, []byte) error { applied++; return nil })
		s := New(here, []byte("handoff 7"))
		for range 5 {
			_ = s.Send(0, []byte("x"))
		}
		answer, err := s.Ask(t.Context(), 0, []byte("all?"))
		if err != nil || string(answer) != "re: all?" || applied != 5 {
			t.Errorf("%q, %v, after %d of 5", answer, err, applied)
		}
		s.Close()
		<-ended
	})
}

func TestStreamGivesUpOnSlowReceiver(t *testing.T) {
	here, there := net.Pipe()
	defer there.Close()
	s := New(here, nil)
	defer s.Close()
	s.mu.Lock()
	s.limit = 1000
	s.mu.Unlock()
	if err := s.Send(0, make([]byte, 1001)); !errors.Is(err, ErrBehind) {
		t.Error(err)
	}
	if err := s.Drained(context.Background()); !errors.Is(err, ErrBehind) {
		t.Error(err)
	}
}

func TestWhyAReceiverGivesUpIsKnown(t *testing.T) {
	for name, apply := range map[string]func(int, []byte) error{
		"no space": func(int, []byte) error { return errors.New("no space") },
	} {
		here, there := net.Pipe()
		ended := receiving(there, apply)
		s := New(here, []byte("handoff 7"))
		if err := s.Send(0, []byte("x")); err != nil {
			t.Fatal(err)
		}
		if err := s.Drained(context.Background()); err == nil || !strings.Contains(err.Error(), name) {
			t.Error(err)
		}
		if err := <-ended; err == nil || !strings.Contains(err.Error(), name) {
			t.Error(err)
		}
		s.Close()
	}
	here, there := net.Pipe()
	ended := receiving(there, nil)
	s := New(here, []byte("something else"))
	defer s.Close()
	if err := <-ended; err == nil || err.Error() != "another purpose" {
		t.Error(err)
	}
}

// A batch that does not follow the one before is refused: without that rule a
// receiver would acknowledge what it has not got.
func TestGapsAreRefused(t *testing.T) {
	here, there := net.Pipe()
	defer here.Close()
	ended := receiving(there, func(int, []byte) error { return nil })
	go func() { _, _ = io.Copy(io.Discard, here) }()
	frames := frame.Append(nil, frame.Open, []byte("handoff 7"))
	frames = frame.Append(frames, frame.Batch, frame.Sequence(1), []byte("\x00\x00\x00\x00a"))
	frames = frame.Append(frames, frame.Batch, frame.Sequence(3), []byte("\x00\x00\x00\x00c"))
	if _, err := here.Write(frames); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, frame.ErrMalformed) {
		t.Error(err)
	}
}

func TestFalseAcknowledgementsEndTheStream(t *testing.T) {
	for _, n := range []uint64{2, 1 << 63} {
		here, there := net.Pipe()
		s := New(here, nil)
		go func() { _, _ = io.Copy(io.Discard, there) }()
		if err := s.Send(0, []byte("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := there.Write(frame.Append(nil, frame.Ack, frame.Sequence(n))); err != nil {
			t.Fatal(err)
		}
		if err := s.Drained(context.Background()); !errors.Is(err, frame.ErrMalformed) {
			t.Error(err)
		}
		s.Close()
		_ = there.Close()
	}
}

func FuzzReceive(f *testing.F) {
	good := frame.Append(nil, frame.Open, []byte("handoff 7"))
	good = frame.Append(good, frame.Batch, frame.Sequence(1), []byte("\x00\x00\x00\x00abc"))
	f.Add(good)
	f.Add(binary.BigEndian.AppendUint32(nil, frame.MaxSize))
	f.Fuzz(func(t *testing.T, data []byte) {
		here, there := net.Pipe()
		ended := receiving(there, func(int, []byte) error { return nil })
		go func() { _, _ = io.Copy(io.Discard, here) }()
		_, _ = here.Write(data)
		_ = here.Close()
		<-ended
	})
}

// Most queues are taken with a frame or two in them.
func TestQueueOfOneFrameTakesLittleMemory(t *testing.T) {
	var q queue
	head := make([]byte, 20)
	for range 3 {
		q.add(frame.Kind(1), head, nil)
		parts := q.take()
		if len(parts) != 1 || cap(parts[0]) > frame.PartSize/8 {
			t.Errorf("%d parts of %d bytes", len(parts), cap(parts[0]))
		}
	}
	for range frame.PartSize / 10 {
		q.add(frame.Kind(1), head, nil)
	}
	if parts := q.take(); len(parts) > 6 {
		t.Errorf("many frames are in %d parts", len(parts))
	}
}
