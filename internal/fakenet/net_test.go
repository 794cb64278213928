package fakenet

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"testing"
	"time"
)

// pipe connects a to b.
func pipe(t *testing.T, n *Net) (near, far net.Conn) {
	t.Helper()
	l, err := n.Host("10.0.0.2").Listen("10.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accepted := make(chan net.Conn)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			t.Error(err)
		}
		accepted <- conn
	}()
	near, err = n.Host("10.0.0.1").Dial(t.Context(), l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return near, <-accepted
}

func TestStreamArrivesCompleteAndInOrder(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	Bubble(t, func(t *testing.T) {
		near, far := pipe(t, New(seed, 10*time.Millisecond, 0.5))
		rnd := rand.New(rand.NewPCG(seed, 2))
		text := make([]byte, 5<<20)
		for i := range text {
			text[i] = byte(rnd.Uint32())
		}
		go func() {
			for rest := text; len(rest) > 0; {
				n := min(len(rest), 1+rnd.IntN(200_000))
				if _, err := near.Write(rest[:n]); err != nil {
					t.Error(err)
				}
				rest = rest[n:]
			}
			near.Close()
		}()
		got, err := io.ReadAll(far)
		if err != nil || !bytes.Equal(got, text) {
			t.Errorf("%d bytes of %d, %v", len(got), len(text), err)
		}
		if _, err := far.Write(make([]byte, 1)); err == nil {
			t.Error("a closed end takes more")
		}
		far.Close()
	})
}

func TestCutStreamWaitsAndThenBreaks(t *testing.T) {
	for _, heals := range []bool{true, false} {
		Bubble(t, func(t *testing.T) {
			n := New(1, time.Millisecond, 0)
			near, far := pipe(t, n)
			n.Move(1, "10.0.0.2")
			if _, err := near.Write([]byte("word")); err != nil {
				t.Error(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if _, err := n.Host("10.0.0.1").Dial(ctx, far.LocalAddr().String()); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("dial: %v", err)
			}
			cancel()
			b := make([]byte, 10)
			_ = far.SetReadDeadline(time.Now().Add(time.Second))
			if _, err := far.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("over the cut: %q, %v", b, err)
			}
			_ = far.SetReadDeadline(time.Time{})
			if heals {
				time.AfterFunc(time.Second, func() { n.Move(0, "10.0.0.2") })
			}
			got, err := far.Read(b)
			if heals && (err != nil || string(b[:got]) != "word") || !heals && err == nil {
				t.Errorf("heals %v: %q, %v", heals, b[:got], err)
			}
			near.Close()
			far.Close()
			time.Sleep(patience) // virtual
		})
	}
}

func TestCrashBreaksStreams(t *testing.T) {
	Bubble(t, func(t *testing.T) {
		n := New(1, time.Millisecond, 0)
		near, far := pipe(t, n)
		time.AfterFunc(time.Second, func() { n.Crash("10.0.0.2") })
		if _, err := near.Read(make([]byte, 1)); err == nil {
			t.Error("goes on")
		}
		near.Close()
		far.Close()
	})
}

func TestPacketsGetLost(t *testing.T) {
	Bubble(t, func(t *testing.T) {
		n := New(1, time.Millisecond, 0.3)
		a, err := n.Host("10.0.0.1").ListenPacket("10.0.0.1:1")
		if err != nil {
			t.Fatal(err)
		}
		b, err := n.Host("10.0.0.2").ListenPacket("10.0.0.2:1")
		if err != nil {
			t.Fatal(err)
		}
		for i := range 1000 {
			if _, err := a.WriteTo([]byte{byte(i)}, b.LocalAddr()); err != nil {
				t.Error(err)
			}
		}
		time.AfterFunc(time.Second, func() { b.Close() })
		got := 0
		for {
			if _, _, err := b.ReadFrom(make([]byte, 1)); err != nil {
				break
			}
			got++
		}
		if got < 600 || got > 800 {
			t.Errorf("%d of 1000 arrive", got)
		}
		a.Close()
	})
}

func TestShutAddressKeepsItsStreams(t *testing.T) {
	Bubble(t, func(t *testing.T) {
		n := New(1, time.Millisecond, 0)
		near, far := pipe(t, n)
		addr := far.LocalAddr().String()
		n.Shut(addr, true)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		if _, err := n.Host("10.0.0.3").Dial(ctx, addr); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("dial: %v", err)
		}
		cancel()
		n.Break(addr, "10.0.0.3")
		if _, err := near.Write([]byte("word")); err != nil {
			t.Errorf("a stream that exists: %v", err)
		}
		n.Break(addr, "10.0.0.1")
		if _, err := near.Write([]byte("word")); err == nil {
			t.Error("a broken stream takes more")
		}
		near.Close()
		far.Close()
	})
}

func TestOneWayIsCut(t *testing.T) {
	Bubble(t, func(t *testing.T) {
		n := New(1, time.Millisecond, 0)
		near, far := pipe(t, n)
		n.Mute("10.0.0.1", "10.0.0.2", true)
		b := make([]byte, 10)
		for _, end := range []net.Conn{near, far} {
			if _, err := end.Write([]byte("word")); err != nil {
				t.Error(err)
			}
			_ = end.SetReadDeadline(time.Now().Add(time.Second))
		}
		if got, err := near.Read(b); err != nil || string(b[:got]) != "word" {
			t.Errorf("the way that is left: %q, %v", b[:got], err)
		}
		if _, err := far.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("over the cut: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		if _, err := n.Host("10.0.0.2").Dial(ctx, "10.0.0.1:1"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("dial: %v", err)
		}
		cancel()
		_ = far.SetReadDeadline(time.Time{})
		n.Heal()
		if got, err := far.Read(b); err != nil || string(b[:got]) != "word" {
			t.Errorf("after the cut: %q, %v", b[:got], err)
		}
		near.Close()
		far.Close()
		time.Sleep(patience) // virtual
	})
}

func TestThawedHostContinues(t *testing.T) {
	Bubble(t, func(t *testing.T) {
		n := New(1, time.Millisecond, 0)
		near, far := pipe(t, n)
		n.Freeze("10.0.0.2", true)
		began := time.Now()
		time.AfterFunc(time.Minute, func() { n.Freeze("10.0.0.2", false) })
		go func() {
			if _, err := far.Write([]byte("late")); err != nil {
				t.Error(err)
			}
		}()
		if _, err := near.Write([]byte("word")); err != nil {
			t.Error(err)
		}
		b := make([]byte, 10)
		for _, end := range []net.Conn{near, far} {
			if got, err := end.Read(b); err != nil || got != 4 {
				t.Errorf("%q, %v", b[:got], err)
			}
			if d := time.Since(began); d < time.Minute || d > time.Minute+time.Second {
				t.Errorf("after %v", d)
			}
		}
		near.Close()
		far.Close()
	})
}

// Nothing but plugging it in again brings an unplugged host back.
func TestUnpluggedHostStaysUnreachable(t *testing.T) {
	Bubble(t, func(t *testing.T) {
		n := New(1, time.Millisecond, 0)
		near, far := pipe(t, n)
		n.Unplug("10.0.0.2", true)
		n.Move(0, "10.0.0.2")
		n.Mute("10.0.0.1", "10.0.0.2", false)
		n.Heal()
		if _, err := near.Write([]byte("word")); err != nil {
			t.Error(err)
		}
		b := make([]byte, 10)
		_ = far.SetReadDeadline(time.Now().Add(time.Second))
		if _, err := far.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("to an unplugged host: %v", err)
		}
		_ = far.SetReadDeadline(time.Time{})
		n.Unplug("10.0.0.2", false)
		if got, err := far.Read(b); err != nil || string(b[:got]) != "word" {
			t.Errorf("plugged in again: %q, %v", b[:got], err)
		}
		near.Close()
		far.Close()
	})
}
