package socket

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// ends are two ends of a connection.
func ends(t *testing.T, network string) (a, b net.Conn) {
	t.Helper()
	addr := "127.0.0.1:0"
	if network == "unix" {
		addr = filepath.Join(t.TempDir(), "s")
	}
	l, err := net.Listen(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if a, err = net.Dial(network, l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if b, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = a.Close()
		_ = b.Close()
	})
	return a, b
}

func of(t *testing.T, c net.Conn) *Conn {
	t.Helper()
	_, s := Of(c)
	if s == nil {
		t.Skip("sockets are no files here")
	}
	return s
}

// Whatever is written arrives, however slowly it is read.
func TestWritesArriveAtSlowReader(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		a, b := ends(t, network)
		from, to := of(t, a), of(t, b)
		sent := make([]byte, 8<<20)
		for i := range sent {
			sent[i] = byte(rand.Uint32())
		}
		wrote := make(chan error, 1)
		go func() {
			rest := sent
			for len(rest) > 0 { // now with waiting, now without
				n, err := from.Write(rest[:min(len(rest), 1+rand.IntN(3<<20))])
				if rest = rest[n:]; err == nil {
					n, err = from.WriteSome(rest[:min(len(rest), 300_000)])
					rest = rest[n:]
				}
				if err != nil {
					wrote <- err
					return
				}
			}
			wrote <- from.Close()
		}()
		var got []byte
		buf := make([]byte, 100_000)
		for {
			n, err := to.Read(buf[:1+rand.IntN(len(buf))])
			got = append(got, buf[:n]...)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := <-wrote; err != nil || !bytes.Equal(got, sent) {
			t.Errorf("%s: %d of %d bytes arrived as they were sent (%v)", network, len(got), len(sent), err)
		}
	}
}

// A full socket takes nothing more, and says so without an error.
func TestWriteSomeDoesNotWait(t *testing.T) {
	a, _ := ends(t, "tcp")
	s := of(t, a)
	p := make([]byte, 1<<20)
	for range 1000 {
		n, err := s.WriteSome(p)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return
		}
	}
	t.Error("it takes a gigabyte that nobody reads")
}

// Deadlines and Close end whatever waits, with the errors of package net.
func TestWaitingEnds(t *testing.T) {
	full := make([]byte, 64<<20)
	for name, wait := range map[string]func(*Conn) error{
		"read":  func(s *Conn) error { _, err := s.Read(full[:1]); return err },
		"write": func(s *Conn) error { _, err := s.Write(full); return err },
	} {
		a, _ := ends(t, "tcp")
		s := of(t, a)
		_ = s.SetDeadline(time.Now().Add(5 * time.Millisecond))
		err := wait(s)
		var timeout net.Error
		if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("%s: %v", name, err)
		}
		_ = s.SetDeadline(time.Time{})
		time.AfterFunc(5*time.Millisecond, func() { _ = s.Close() })
		if err := wait(s); !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A peer that is gone is told as package net tells it.
func TestClosedPeerGivesErrorsOfPackageNet(t *testing.T) {
	a, b := ends(t, "tcp")
	s := of(t, a)
	_ = b.(*net.TCPConn).SetLinger(0)
	_ = b.Close()
	_, err := s.Read(make([]byte, 1))
	var op *net.OpError
	if !errors.Is(err, syscall.ECONNRESET) || !errors.As(err, &op) || op.Op != "read" || op.Addr.String() != b.LocalAddr().String() {
		t.Errorf("read: %v", err)
	}
	for _, write := range []func([]byte) (int, error){s.Write, s.WriteSome} {
		if _, err := write([]byte("x")); !errors.Is(err, syscall.EPIPE) || !errors.As(err, &op) || op.Op != "write" {
			t.Errorf("write: %v", err)
		}
	}
	if n, err := s.Read(nil); n != 0 || err != nil {
		t.Errorf("nothing read: %d, %v", n, err)
	}
}

// What is no bare socket stays as it is.
func TestOtherConnectionsStayAsTheyAre(t *testing.T) {
	a, _ := ends(t, "tcp")
	pipe, other := net.Pipe()
	defer other.Close()
	for _, c := range []net.Conn{pipe, tls.Client(a, &tls.Config{})} {
		if as, s := Of(c); as != c || s != nil {
			t.Errorf("%T became %T", c, as)
		}
	}
	if s := of(t, a); s.Descriptor() <= 2 {
		t.Errorf("descriptor %d", s.Descriptor())
	}
}

func TestReadingAndWritingTakeNoMemory(t *testing.T) {
	a, b := ends(t, "tcp")
	from, to := of(t, a), of(t, b)
	p, q := []byte("hello"), make([]byte, 16)
	n := testing.AllocsPerRun(100, func() {
		_, _ = from.Write(p)
		_, _ = to.Read(q)
		_, _ = to.WriteSome(p)
		_, _ = from.Read(q)
	})
	if n > 0 {
		t.Errorf("%v allocations", n)
	}
}
