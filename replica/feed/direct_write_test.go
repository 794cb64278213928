package feed

import (
	"bufio"
	"context"
	"errors"
	"github.com/ringside-kv/ringside/replica/internal/frame"
	"math/rand/v2"
	"net"
	"testing"
	"time"
)

// playedByTCP has a member played behind a socket.
func playedByTCP(t *testing.T, play func(r *bufio.Reader, conn net.Conn)) *sessionSender {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return askedLineBy(t, func(hub *Feed) (net.Conn, error) {
		here, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			return nil, err
		}
		there, err := l.Accept()
		if err != nil {
			return nil, errors.Join(err, here.Close())
		}
		hub.done.Go(func() {
			defer func() { _ = there.Close() }()
			r := bufio.NewReader(there)
			if _, _, _, err := frame.Read(r, nil); err == nil { // the greeting
				play(r, there)
			}
		})
		return here, nil
	})
}

// Frames arrive in order, whether those who commit write them or the line's goroutine. The
// race detector sees if both do at the same time.
func TestFramesArriveInOrderFromAllWriters(t *testing.T) {
	const frames = 3000
	wrong := make(chan uint64, 1)
	fl := playedByTCP(t, func(r *bufio.Reader, conn net.Conn) {
		_, _ = conn.Write(frame.Append(nil, frame.Ready, frame.Sequence(0)))
		var buf []byte
		for last := uint64(1); ; last++ {
			_, payload, next, err := frame.Read(r, buf)
			if buf = next; err != nil {
				return
			}
			k, _, _ := frame.CutSequence(payload)
			if k != last {
				wrong <- k
				return
			}
			// Some acknowledgements stand for several frames.
			if last%7 != 3 || r.Buffered() == 0 {
				_, _ = conn.Write(frame.Append(nil, frame.Ack, frame.Sequence(k)))
			}
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	f := fl.feed
	if err := f.waitUntil(ctx, func() (bool, error) { return fl.ready, nil }); err != nil {
		t.Fatal("the member does not answer:", err)
	}
	f.mu.Lock()
	direct := fl.direct != nil
	f.mu.Unlock()
	if !direct {
		t.Skip("sockets are no files here")
	}
	alone := 0
	for range frames {
		size := 1 + rand.IntN(200)
		if rand.IntN(50) == 0 {
			size = rand.IntN(4 * maxDirectWrite)
		}
		f.mu.Lock()
		idle := len(fl.backlog.parts) == 0 && !fl.writing
		k := fl.send(&feedFrame{kind: kindBatch, body: make([]byte, size)})
		if left, _ := fl.backlog.buffersFrom(fl.written, k); idle && len(left) == 0 {
			alone++
		}
		f.mu.Unlock()
		if rand.IntN(3) > 0 {
			continue
		}
		if err := fl.waitAcked(ctx, k); err != nil {
			t.Fatalf("frame %d: %v", k, err)
		}
	}
	select {
	case k := <-wrong:
		t.Fatalf("frame %d does not follow", k)
	default:
	}
	if err := fl.waitAcked(ctx, frames); err != nil {
		t.Fatal("not all arrive:", err)
	}
	if alone < frames/20 {
		t.Errorf("of %d frames %d were written by who brought them", frames, alone)
	}
}
