package environment

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/replica/bus"
	"github.com/ringside-kv/ringside/replica/members"
)

// A wire that is cut ends every socket at once, both ends of streams hear so, and none begins
// anew.
func TestWireIsCut(t *testing.T) {
	w := new(ConnSet)
	b, m := trackedBus{w, bus.System{}}, trackedMembers{w, members.System{}}
	l, err := b.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gossip, err := m.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	packets, err := m.ListenPacket("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	accepted := make(chan net.Conn, 1)
	go func() {
		conn, _ := l.Accept()
		accepted <- conn
	}()
	outside, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	inside := <-accepted
	if _, ok := inside.(*net.TCPConn); !ok {
		t.Errorf("%T is no TCP any more", inside)
	}
	elsewhere, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer elsewhere.Close()
	dialled, err := b.Dial(context.Background(), elsewhere.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	other, err := elsewhere.Accept()
	if err != nil {
		t.Fatal(err)
	}
	var served []net.Conn // connections of clients
	for _, network := range []string{"tcp", "unix"} {
		l := listenFor(t, w, network)
		client, err := net.Dial(network, l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		served = append(served, w.Rounds.Take(conn), client)
	}
	runtime.GC() // they are kept as long as somebody has them
	w.CloseAll()
	for what, conn := range map[string]net.Conn{"accepted": outside, "dialled": other} {
		_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF) {
			t.Errorf("the other end of what was %s: %v", what, err)
		}
	}
	for what, conn := range map[string]net.Conn{"accepted": inside, "dialled": dialled} {
		if _, err := conn.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
			t.Errorf("what was %s: %v", what, err)
		}
	}
	for i := 0; i < len(served); i += 2 {
		if _, err := served[i].Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a client's: %v", err)
		}
		_ = served[i+1].SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := served[i+1].Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF) {
			t.Errorf("the end of a client: %v", err)
		}
	}
	w.Rounds.Close()
	for what, l := range map[string]net.Listener{"the bus": l, "gossip": gossip} {
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s goes on to listen: %v", what, err)
		}
	}
	if _, err := packets.WriteTo([]byte("x"), packets.LocalAddr()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("packets: %v", err)
	}
	if _, err := b.Dial(context.Background(), elsewhere.Addr().String()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("it dials: %v", err)
	}
	if _, err := m.Listen("127.0.0.1:0"); !errors.Is(err, net.ErrClosed) {
		t.Errorf("it listens: %v", err)
	}
}

// listenFor listens for clients on a network, "tcp" or "unix".
func listenFor(t *testing.T, w *ConnSet, network string) net.Listener {
	t.Helper()
	addr := "127.0.0.1:0"
	if network == "unix" {
		addr = t.TempDir() + "/s"
	}
	l, err := net.Listen(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	if l, err = w.Track(l); err != nil {
		t.Fatal(err)
	}
	return l
}

// Connections that nobody has any more are forgotten.
func TestWireForgetsConnections(t *testing.T) {
	w := new(ConnSet)
	b := trackedBus{w, bus.System{}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range 20 {
		conn, err := b.Dial(context.Background(), l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
	}
	resptest.WaitFor(t, "they are forgotten", func() bool {
		runtime.GC()
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.tcp) == 0
	})
}
