package bus

import (
	"io"
	"net"
	"testing"
	"time"
)

// Connections that say nothing must not keep others out: when there are too many,
// the oldest goes.
func TestSilentConnectionsDoNotKeepPeersOut(t *testing.T) {
	cfg := testConfig("b")
	cfg.MaxHandshakes = 4
	cfg.HandshakeTimeout = time.Hour
	b := startBus(t, cfg)
	a := startBus(t, testConfig("a"))
	var silent []net.Conn
	for range 20 {
		conn, err := net.Dial("tcp", b.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		// Half a hello, as from someone in no hurry.
		if _, err := conn.Write([]byte(magic + "\x01")); err != nil {
			t.Fatal(err)
		}
		silent = append(silent, conn)
	}
	conn, _, err := a.Dial(t.Context(), b.Addr().String(), "b", Stream)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// All but the last few were closed.
	for _, c := range silent[:len(silent)-cfg.MaxHandshakes] {
		if _, err := io.ReadAll(c); err != nil && isTimeout(err) {
			t.Error(err)
		}
	}
	b.mu.Lock()
	open := len(b.conns)
	b.mu.Unlock()
	if open > cfg.MaxHandshakes+1 {
		t.Errorf("%d connections are open", open)
	}
}

func TestSlowHandshakesEnd(t *testing.T) {
	cfg := testConfig("b")
	cfg.HandshakeTimeout = time.Millisecond
	b := startBus(t, cfg)
	conn, err := net.Dial("tcp", b.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(magic)); err != nil {
		t.Fatal(err)
	}
	_, _ = io.ReadAll(conn) // until the bus closes it
}
