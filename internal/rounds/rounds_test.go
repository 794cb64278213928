//go:build linux

package rounds

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/background"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/internal/socket"
)

// An echo sends back what it gets, in turns where it can.
type echo struct {
	conn   *Conn
	direct *socket.Conn
	turn   Turn
	buf    [64]byte
	short  bool // the last read found less than there was room for
	// before is called with what has come, before it is sent back.
	before func(e *echo, b []byte)
	turns  atomic.Int64
	alone  atomic.Int64 // how often it was resumed
	ended  chan error   // has why it ended
}

func (e *echo) Ready(t Turn) {
	e.turns.Add(1)
	e.turn = t
	e.serve()
}

func (e *echo) Resume() {
	e.alone.Add(1)
	e.turn = Turn{}
	e.serve()
}

func (e *echo) serve() {
	for {
		if e.short {
			turn := e.turn
			e.short, e.turn = false, Turn{}
			if e.conn.Park() {
				return
			}
			e.turn = turn
		}
		read := e.direct.Read
		if e.turn.InRound() {
			read = e.direct.ReadSome
		}
		n, err := read(e.buf[:])
		if err != nil {
			e.turn.Leave()
			_ = e.conn.Close()
			e.ended <- err
			return
		}
		e.short = n < len(e.buf)
		if n == 0 {
			continue
		}
		if e.before != nil {
			e.before(e, e.buf[:n])
		}
		e.turn.Leave() // a write may wait
		if _, err := e.direct.Write(e.buf[:n]); err != nil {
			_ = e.conn.Close()
			e.ended <- err
			return
		}
	}
}

// startPoller starts a poller and returns what makes connections that echo: of a network, "tcp" or "unix".
func startPoller(t *testing.T) func(network string, before func(e *echo, b []byte)) (net.Conn, *echo) {
	t.Helper()
	p, err := newPoller(2) // whatever processors there are
	if err != nil {
		t.Fatal(err)
	}
	var all []*echo
	t.Cleanup(func() {
		for _, e := range all {
			_ = e.conn.Close()
			<-e.ended
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		for fd, c := range p.conns {
			if c != nil {
				t.Errorf("descriptor %d is open", fd)
			}
		}
	})
	return func(network string, before func(e *echo, b []byte)) (net.Conn, *echo) {
		t.Helper()
		client, server := pair(t, network)
		c, err := p.Take(server)
		if err != nil {
			t.Fatal(err)
		}
		e := &echo{conn: c, before: before, ended: make(chan error, 2)}
		_, e.direct = socket.Of(c)
		c.Serve(e)
		all = append(all, e)
		go e.serve()
		return client, e
	}
}

func pair(t *testing.T, network string) (client, server net.Conn) {
	t.Helper()
	addr := "127.0.0.1:0"
	if network == "unix" {
		addr = t.TempDir() + "/s"
	}
	l, err := net.Listen(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if client, err = net.Dial(network, l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	return client, server
}

// ask sends something and wants it back.
func ask(t *testing.T, c net.Conn, what string) {
	t.Helper()
	if _, err := io.WriteString(c, what); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, len(what))
	if _, err := io.ReadFull(c, b); err != nil || string(b) != what {
		t.Fatalf("%q came back as %q, %v", what, b, err)
	}
}

// Clients send messages of all sizes, in pieces. Handlers leave the round, wait in it and leave it in
// time by chance. Each byte comes back, and what turns put off until the end of the round is done.
func TestEveryByteIsServed(t *testing.T) {
	open := startPoller(t)
	const clients, messages = 24, 150
	var turns, putOff, done atomic.Int64
	var all sync.WaitGroup
	for i := range clients {
		client, _ := open([]string{"tcp", "unix"}[i%2], func(e *echo, _ []byte) {
			if e.turn.InRound() {
				turns.Add(1)
			}
			putsOff := func() {
				putOff.Add(1)
				e.turn.AtEnd(func() { done.Add(1) })
			}
			if rand.IntN(2) == 0 {
				putsOff()
			} else {
				defer putsOff()
			}
			switch rand.IntN(200) {
			case 0: // it waits in its turn until another leads
				for before := e.conn.p.state.Load(); e.turn.InRound() && !e.turn.isHelpers() && e.conn.p.state.Load() == before; {
					runtime.Gosched()
				}
			case 1, 2, 3, 4:
				e.turn.Leave()
				runtime.Gosched()
			}
		})
		all.Add(1)
		go func() {
			defer all.Done()
			for j := range messages {
				message := strings.Repeat(fmt.Sprintf("%d:%d,", i, j), 1+rand.IntN(40))
				go func() {
					cut := rand.IntN(len(message))
					_, _ = io.WriteString(client, message[:cut])
					_, _ = io.WriteString(client, message[cut:])
				}()
				b := make([]byte, len(message))
				if _, err := io.ReadFull(client, b); err != nil || string(b) != message {
					t.Errorf("%q came back as %q, %v", message, b, err)
					return
				}
			}
		}()
	}
	all.Wait()
	if turns.Load() == 0 {
		t.Error("nothing was served in a turn")
	}
	resptest.WaitFor(t, "all that was put off is done", func() bool { return done.Load() == putOff.Load() })
}

// What a turn puts off is done after the turns that came with it, once for all that add to it.
func TestPutOffWorkFollowsTheTurns(t *testing.T) {
	open := startPoller(t)
	const clients = share - 1 // without helpers
	var turns, pending, most, ends atomic.Int64
	all := make([]net.Conn, clients)
	for i := range all {
		all[i], _ = open("unix", func(e *echo, b []byte) {
			if b[0] != '!' || !e.turn.InRound() {
				return
			}
			turns.Add(1)
			if n := pending.Add(1); n > 1 {
				most.Store(max(most.Load(), n))
				return // the first one's end is that of all
			}
			e.turn.AtEnd(func() {
				ends.Add(1)
				pending.Store(0)
			})
		})
		ask(t, all[i], "a")
	}
	resptest.WaitFor(t, "several turns have one end", func() bool {
		for i := range all {
			if _, err := io.WriteString(all[i], "!"); err != nil {
				t.Fatal(err)
			}
		}
		for i := range all {
			if _, err := io.ReadFull(all[i], make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
		}
		return most.Load() > 1
	})
	resptest.WaitFor(t, "the last end is over", func() bool { return pending.Load() == 0 })
	if turns.Load() <= ends.Load() {
		t.Errorf("%d ends of %d turns", ends.Load(), turns.Load())
	}
}

// What is put off late, when the leader waits for the next round already, is done all the same.
func TestPutOffWorkNeedsNoFurtherRound(t *testing.T) {
	for _, helpers := range []bool{false, true} {
		open := startPoller(t)
		var late, done atomic.Int64
		all := make([]net.Conn, 4*share)
		for i := range all {
			all[i], _ = open("tcp", func(e *echo, b []byte) {
				if b[0] != '!' || !e.turn.InRound() || e.turn.isHelpers() != helpers || late.Add(1) > 1 {
					return
				}
				for began := time.Now(); !e.conn.p.waits.Load() && time.Since(began) < resptest.Patience; {
					runtime.Gosched()
				}
				e.turn.AtEnd(func() { done.Add(1) })
				e.turn.Leave()
				if done.Load() != 1 {
					t.Errorf("helpers %v: it is not done", helpers)
				}
			})
			ask(t, all[i], "a")
		}
		resptest.WaitFor(t, "a turn takes long", func() bool {
			for _, c := range all {
				if _, err := io.WriteString(c, "!"); err != nil {
					t.Fatal(err)
				}
			}
			for _, c := range all {
				if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
					t.Fatal(err)
				}
			}
			return late.Load() > 0
		})
	}
}

// Helpers take turns of large rounds.
func TestHelpersTakeTurns(t *testing.T) {
	open := startPoller(t)
	var helped atomic.Int64
	clients := make([]net.Conn, 4*share)
	for i := range clients {
		clients[i], _ = open("tcp", func(e *echo, _ []byte) {
			if e.turn.isHelpers() {
				helped.Add(1)
			}
		})
		ask(t, clients[i], "hello")
	}
	resptest.WaitFor(t, "a helper has a turn", func() bool {
		for _, c := range clients {
			if _, err := c.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range clients {
			if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
		}
		return helped.Load() > 0
	})
}

// While a handler waits in its turn, other connections are served.
func TestTurnThatDoesNotEndIsPassedBy(t *testing.T) {
	open := startPoller(t)
	release, waits := make(chan struct{}), make(chan struct{}, 1)
	stuck, e := open("tcp", func(e *echo, b []byte) {
		if b[0] == '!' {
			waits <- struct{}{}
			<-release
		}
	})
	other, _ := open("tcp", nil)
	ask(t, stuck, "a")
	ask(t, other, "a")
	resptest.WaitFor(t, "the connection is parked", e.conn.parked.Load) // else its own goroutine reads on
	if _, err := stuck.Write([]byte("!")); err != nil {
		t.Fatal(err)
	}
	<-waits
	for range 100 {
		ask(t, other, "b")
	}
	close(release)
	b := make([]byte, 1)
	if _, err := io.ReadFull(stuck, b); err != nil || b[0] != '!' {
		t.Fatalf("%q, %v", b, err)
	}
	ask(t, stuck, "c")
	if e.turns.Load() == 0 {
		t.Error("it had no turn")
	}
}

// TestWorkInTheBackgroundGivesWay has work in the background compute on the only processor: a request gets its turn
// when that yields, and need not wait until the scheduler looks for requests by itself, every ten milliseconds.
func TestWorkInTheBackgroundGivesWay(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	open := startPoller(t)
	client, e := open("unix", nil) // what is written is there at once
	soon := 0
	const requests, yields = 20, 8
	for range requests {
		ask(t, client, "a")
		resptest.WaitFor(t, "the connection is parked", e.conn.parked.Load)
		resptest.WaitFor(t, "the leader waits", e.conn.p.waits.Load)
		if _, err := client.Write([]byte("b")); err != nil {
			t.Fatal(err)
		}
		before := e.turns.Load() + e.alone.Load()
		for y := 0; y < yields && e.turns.Load()+e.alone.Load() == before; y++ {
			background.Yield()
		}
		if e.turns.Load()+e.alone.Load() > before {
			soon++
		}
		if _, err := io.ReadFull(client, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if soon < requests/2 { // the system may take the processor from the test
		t.Errorf("%d of %d requests had their turn within %d yields", soon, requests, yields)
	}
}

// Close and the deadline for reads resume a parked connection.
func TestParkedConnectionsEnd(t *testing.T) {
	open := startPoller(t)
	for name, test := range map[string]struct {
		end  func(client net.Conn, e *echo)
		want error
	}{
		"closed":       {func(_ net.Conn, e *echo) { _ = e.conn.Close() }, net.ErrClosed},
		"time is over": {func(_ net.Conn, e *echo) { _ = e.conn.SetReadDeadline(time.Unix(1, 0)) }, os.ErrDeadlineExceeded},
		"time ends":    {func(_ net.Conn, e *echo) { _ = e.conn.SetReadDeadline(time.Now().Add(time.Millisecond)) }, os.ErrDeadlineExceeded},
		"client left":  {func(client net.Conn, _ *echo) { _ = client.Close() }, io.EOF},
	} {
		for range 50 {
			client, e := open("tcp", nil)
			ask(t, client, "hello")
			test.end(client, e)
			err := <-e.ended
			if !errors.Is(err, test.want) {
				t.Errorf("%s: %v", name, err)
			}
			e.ended <- err
		}
	}
}

// The end of a stream that comes with its last bytes is seen.
func TestEndIsSeenBehindTheLastBytes(t *testing.T) {
	open := startPoller(t)
	for i := range 200 {
		client, e := open("tcp", nil)
		ask(t, client, "hello")
		if _, err := client.Write([]byte("last")); err != nil {
			t.Fatal(err)
		}
		if err := client.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(client); err != nil || string(b) != "last" {
			t.Fatalf("attempt %d: %q, %v", i, b, err)
		}
		err := <-e.ended
		if !errors.Is(err, io.EOF) {
			t.Errorf("ended with %v", err)
		}
		e.ended <- err
	}
}

// A write waits for a client that reads slowly, and for its deadline.
func TestWritesWaitForRoom(t *testing.T) {
	open := startPoller(t)
	client, e := open("tcp", nil)
	large := bytes.Repeat([]byte("0123456789"), 1<<20)
	written := make(chan error, 1)
	go func() {
		_, err := e.conn.Write(large)
		written <- err
	}()
	got := make([]byte, len(large))
	if _, err := io.ReadFull(client, got); err != nil || !bytes.Equal(got, large) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
	_ = e.conn.SetWriteDeadline(time.Now().Add(10 * time.Millisecond))
	var err error
	for err == nil { // buffers of the system take many megabytes
		_, err = e.conn.Write(large)
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
}

// Connections come and go while others are served: descriptors are used again at once.
func TestConnectionsComeAndGo(t *testing.T) {
	open := startPoller(t)
	stays, _ := open("tcp", nil)
	for i := range 200 {
		client, e := open("tcp", nil)
		ask(t, client, "hello")
		go func() { _, _ = client.Write(bytes.Repeat([]byte("x"), 300)) }()
		if i%2 == 0 {
			_ = client.Close()
		} else {
			_ = e.conn.Close()
		}
		ask(t, stays, "still here")
		err := <-e.ended
		e.ended <- err
	}
}

func TestOnlySocketsAreTaken(t *testing.T) {
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if _, err := p.Take(a); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a pipe: %v", err)
	}
}
