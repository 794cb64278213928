package members

import (
	"net"
	"testing"
	"time"
)

func TestCloseDoesNotWaitForASilentPeer(t *testing.T) {
	cfg := testConfig(t, "a", 1)
	cfg.Timing.StreamTimeout = time.Hour
	a := open(t, cfg)
	// It connects and says nothing.
	silent, err := net.Dial("tcp", addr(a))
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	// A peer that accepts and says nothing.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cfg = testConfig(t, "b", 1, l.Addr().String())
	cfg.Timing.StreamTimeout = time.Hour
	b := open(t, cfg)
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, m := range []*Members{a, b} {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestConnectionsOfPeersAreBounded(t *testing.T) {
	a := start(t, "a", 1)
	var conns []net.Conn
	for range maxStreams + 8 {
		conn, err := net.Dial("tcp", addr(a))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conns = append(conns, conn)
	}
	// Those beyond the bound are closed at once, without waiting for the time-out.
	for _, conn := range conns[maxStreams:] {
		if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			t.Error("a connection too many is served")
		} else if e, ok := err.(net.Error); ok && e.Timeout() {
			t.Error("a connection too many is kept")
		}
	}
	for _, conn := range conns {
		conn.Close()
	}
	b := start(t, "b", 1, addr(a)) // and there is room again
	awaitNode(t, a, "b", Alive, 1)
	awaitNode(t, b, "a", Alive, 1)
}
