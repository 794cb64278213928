package memconn

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
)

// TestStreamArrivesWhole sends more than the window in pieces of random sizes, in both directions.
func TestStreamArrivesWhole(t *testing.T) {
	a, b := Pipe()
	sent := make([]byte, Window+Window/2)
	for i := range sent {
		sent[i] = byte(rand.Uint32())
	}
	for _, ends := range [][2]*Conn{{a, b}, {b, a}} {
		go func() {
			for rest := sent; len(rest) > 0; {
				n, err := ends[0].Write(rest[:min(len(rest), rand.IntN(300_000))])
				if err != nil {
					t.Error(err)
					return
				}
				rest = rest[n:]
			}
		}()
		got := make([]byte, len(sent))
		if _, err := io.ReadFull(iotest.HalfReader(ends[1]), got); err != nil || !bytes.Equal(got, sent) {
			t.Errorf("%v, or other bytes arrived", err)
		}
	}
	if err := errors.Join(a.Close(), b.Close()); err != nil {
		t.Error(err)
	}
	if n := cap(a.in.buf) + cap(b.in.buf); n > 2*keepBuffer {
		t.Errorf("%d bytes are kept for connections that are closed", n)
	}
}

// TestWriterWaitsForReader fills the window: the writer waits, in virtual time, until its deadline or until the
// reader makes room.
func TestWriterWaitsForReader(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		a, b := Pipe()
		if n, err := a.Write(make([]byte, Window)); n != Window || err != nil {
			t.Fatal(n, err)
		}
		_ = a.SetWriteDeadline(time.Now().Add(time.Second))
		began := time.Now()
		n, err := a.Write([]byte("more"))
		var timeout net.Error
		if n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &timeout) || !timeout.Timeout() || time.Since(began) != time.Second {
			t.Errorf("%d bytes, %v after %v", n, err, time.Since(began))
		}
		_ = a.SetWriteDeadline(time.Time{})
		time.AfterFunc(time.Second, func() { _, _ = io.ReadFull(b, make([]byte, Window/2)) })
		if n, err := a.Write([]byte("more")); n != 4 || err != nil || time.Since(began) != 2*time.Second {
			t.Errorf("%d bytes, %v after %v", n, err, time.Since(began))
		}
		time.AfterFunc(time.Second, func() { _ = b.Close() })
		if n, err := a.Write(make([]byte, Window)); n >= Window || !errors.Is(err, syscall.EPIPE) {
			t.Errorf("%d bytes, %v", n, err)
		}
	})
}

// TestWaitsEnd ends a read that waits: by a deadline, one that is set meanwhile, and by closing either end.
func TestWaitsEnd(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(a, b *Conn)
		want error
	}{
		"deadline":   {func(a, _ *Conn) { _ = a.SetDeadline(time.Now()) }, os.ErrDeadlineExceeded},
		"own end":    {func(a, _ *Conn) { _ = a.Close() }, net.ErrClosed},
		"other end":  {func(_, b *Conn) { _ = b.Close() }, io.EOF},
		"last bytes": {func(_, b *Conn) { _, _ = b.Write([]byte("x")); _ = b.Close() }, nil},
	} {
		fakenet.Bubble(t, func(t *testing.T) {
			a, b := Pipe()
			time.AfterFunc(time.Second, func() { test.end(a, b) })
			began := time.Now()
			if _, err := a.Read(make([]byte, 1)); !errors.Is(err, test.want) || time.Since(began) != time.Second {
				t.Errorf("%s: %v after %v", name, err, time.Since(began))
			}
			if name == "last bytes" {
				if _, err := a.Read(make([]byte, 1)); err != io.EOF || !a.Ended() {
					t.Errorf("after the last bytes: %v", err)
				}
			}
			_ = a.Close()
			if _, err := a.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
				t.Errorf("%s: write to a closed end: %v", name, err)
			}
			if err := a.Close(); !errors.Is(err, net.ErrClosed) {
				t.Errorf("%s: second close: %v", name, err)
			}
		})
	}
}

func TestListener(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		l := Listen()
		go func() {
			conn, err := l.Accept()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.Copy(conn, conn)
			_ = conn.Close()
		}()
		conn, err := l.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte("echo")); err != nil {
			t.Error(err)
		}
		got := make([]byte, 4)
		if _, err := io.ReadFull(conn, got); err != nil || string(got) != "echo" {
			t.Errorf("%q, %v", got, err)
		}
		if !IsLocal(conn.RemoteAddr()) || !IsLocal(l.Addr()) || conn.LocalAddr().String() != "memory:0" {
			t.Errorf("addresses %v, %v and %v", conn.RemoteAddr(), conn.LocalAddr(), l.Addr())
		}
		_ = conn.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := l.Dial(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("nobody accepts: %v", err)
		}
		if _, err := l.Dial(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the context was done before: %v", err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if _, err := l.Dial(t.Context()); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("closed: %v", err)
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
		if err := l.Close(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("second close: %v", err)
		}
	})
}

func TestSmallMessagesTakeNoMemory(t *testing.T) {
	a, b := Pipe()
	p, q := []byte("hello"), make([]byte, 16)
	n := testing.AllocsPerRun(100, func() {
		_, _ = a.Write(p)
		_, _ = b.Read(q)
	})
	if n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkRoundTrip is a request and its reply between two goroutines.
func BenchmarkRoundTrip(b *testing.B) {
	near, far := Pipe()
	go func() { _, _ = io.Copy(far, far) }()
	p := make([]byte, 64)
	for b.Loop() {
		_, _ = near.Write(p)
		_, _ = io.ReadFull(near, p)
	}
	_ = near.Close()
}
