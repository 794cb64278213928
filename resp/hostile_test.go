package resp

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/settings"
	"github.com/ringside-kv/ringside/resp/wire/wiretest"
	"go.uber.org/goleak"
)

// hostileTest is serveTest for tests that end with nothing left: no goroutine and no
// byte of the clients' memory.
func hostileTest(t *testing.T, change func(*settings.Settings)) (*Server, string) {
	t.Helper()
	ignore := goleak.IgnoreCurrent()
	var srv *Server
	t.Cleanup(func() { // runs after the server is closed
		goleak.VerifyNone(t, ignore)
		if n := srv.budget.InUse(); n != 0 {
			t.Errorf("%d bytes are still charged", n)
		}
	})
	srv, addr := serveTest(t, func(c *Config, _ *serveStore) {
		if change != nil {
			change(&c.Settings)
		}
	})
	return srv, addr
}

// served fails the test if another client is not served.
func served(t *testing.T, addr string) {
	t.Helper()
	o := resptest.DialRaw(t, addr)
	defer o.C.Close()
	o.Want("+OK", "SET", "other", "value")
	o.Want("$value", "GET", "other")
}

func heapInuse() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse)
}

// TestGarbage: whatever bytes come, from many at once, the server goes on.
func TestGarbage(t *testing.T) {
	seed := randomtest.Seed(t)
	srv, addr := hostileTest(t, nil)
	seeds := wiretest.FrameSeeds()
	var clients sync.WaitGroup
	for i := range 16 {
		rnd := rand.New(rand.NewPCG(seed, uint64(i)))
		clients.Go(func() {
			for range 25 {
				var b []byte
				for range rnd.IntN(30) {
					switch part := seeds[rnd.IntN(len(seeds))]; rnd.IntN(3) {
					case 0:
						b = append(b, part...)
					case 1:
						b = append(b, part[:rnd.IntN(len(part)+1)]...)
					default:
						for range rnd.IntN(300) {
							b = append(b, byte(rnd.Uint32()))
						}
					}
				}
				c, err := net.Dial("tcp", addr)
				if err != nil {
					t.Error(err)
					return
				}
				_ = c.SetDeadline(time.Now().Add(resptest.Patience))
				_, _ = c.Write(b)
				_ = c.(*net.TCPConn).CloseWrite()
				if _, err := io.Copy(io.Discard, c); err != nil && err.(net.Error).Timeout() {
					t.Errorf("%q: the connection stays open", b)
				}
				c.Close()
			}
		})
	}
	clients.Wait()
	served(t, addr)
	resptest.WaitFor(t, "all are gone", func() bool { return srv.count.Load() == 0 })
}

// TestSlowReaders: clients that ask for much and read nothing take no more memory
// than they may, and others are served.
func TestSlowReaders(t *testing.T) {
	randomtest.Draw(t, 3)
	const (
		memory  = 8 << 20
		clients = 40
		reply   = 520 << 10
		// What the heap may grow by: the clients' memory, half of it again for
		// what the collector has not found yet, and 32 MiB for the store's own.
		growth = 2*memory + memory/2 + 32<<20
	)
	srv, addr := hostileTest(t, func(s *settings.Settings) { s.ClientMemory, s.OutputBuffer = memory, 4<<20 })
	o := resptest.DialRaw(t, addr)
	o.Want("+OK", "SET", "a", strings.Repeat("x", 500<<10))
	runtime.GC()
	before := heapInuse()
	for i := range clients {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
		_ = c.SetWriteDeadline(time.Now().Add(5 * time.Second))
		get := "*2\r\n$3\r\nGET\r\n$1\r\na\r\n"
		if i%2 == 0 { // in a unit that waits for its commit
			get = "*3\r\n$3\r\nSET\r\n$1\r\nb\r\n$1\r\nx\r\n" + get
		}
		_, _ = io.WriteString(c, strings.Repeat(get, 100)) // 50 MB of replies
	}
	stuck := func() (n int) {
		for _, c := range srv.snapshot() {
			if at := c.blockedAt.Load(); at > 0 {
				n++
			}
		}
		return n
	}
	resptest.WaitFor(t, "replies are stuck", func() bool { return stuck() > 0 })
	for deadline := time.Now().Add(time.Second); time.Now().Before(deadline); {
		// Each client may hold one reply that it has just been charged for, until it
		// is closed, or another one has been.
		if n := srv.budget.InUse(); n > memory+clients*reply {
			t.Fatalf("clients hold %d bytes of %d", n, memory)
		}
		o.Want("+PONG", "PING")
		served(t, addr)
	}
	// What stays while they are stuck, not the peak: replies being put together are
	// charged only once they are whole.
	first, grown := int64(-1), int64(0)
	resptest.WaitFor(t, "the heap is within its bound", func() bool {
		runtime.GC()
		grown = heapInuse() - before
		if first < 0 {
			first = grown
		}
		return grown <= growth
	})
	t.Logf("the heap grew by %d MiB, at first by %d, bound %d; %d of 40 slow readers are left",
		grown>>20, first>>20, growth>>20, srv.count.Load()-1)
}

// TestAnnouncedButNotSent: memory is taken for what has come, not for what is to.
func TestAnnouncedButNotSent(t *testing.T) {
	srv, addr := hostileTest(t, func(s *settings.Settings) { s.ClientMemory = 4 << 20 })
	const head = "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$536870912\r\n"
	for range 100 {
		c := resptest.DialRaw(t, addr)
		_, _ = io.WriteString(c.C, head+strings.Repeat("x", 1000))
	}
	resptest.WaitFor(t, "all has come", func() bool { return srv.stats.BytesIn.Load() == 100*int64(len(head)+1000) })
	if n := srv.budget.InUse(); n > 100*4<<10 {
		t.Errorf("%d bytes are taken", n)
	}
	served(t, addr)
}

// TestTrickle: who sends a large request a byte at a time, with all memory in hand,
// does not keep others waiting for longer than who stops.
func TestTrickle(t *testing.T) {
	if testing.Short() {
		t.Skip("takes as long as a sender may stall")
	}
	srv, addr := hostileTest(t, func(s *settings.Settings) { s.ClientMemory = 1 << 20 })
	c := resptest.DialRaw(t, addr)
	_, _ = io.WriteString(c.C, "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$536870912\r\n"+strings.Repeat("x", 3<<20))
	resptest.WaitFor(t, "it holds memory", func() bool { return srv.budget.InUse() > 2<<20 })
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for {
			if _, err := c.C.Write([]byte("x")); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	served(t, addr) // a small request needs no memory to speak of
	o := resptest.DialRaw(t, addr)
	o.Want("+OK", "SET", "b", strings.Repeat("x", 500<<10))
	select {
	case <-gone:
	case <-time.After(resptest.Patience):
		t.Error("it goes on")
		c.C.Close()
		<-gone
	}
}

// TestConnectionFlood: connections beyond the limit are told so, those within it go on,
// and there is room again when some have gone.
func TestConnectionFlood(t *testing.T) {
	srv, addr := hostileTest(t, func(s *settings.Settings) { s.MaxClients = 10 })
	var clients []*resptest.Conn
	for range 10 {
		o := resptest.DialRaw(t, addr)
		o.Want("+PONG", "PING")
		clients = append(clients, o)
	}
	var flood sync.WaitGroup
	for range 8 {
		flood.Go(func() {
			for range 50 {
				if got := refusedBy(addr); got != "-ERR max number of clients reached\r\n" && got != "" {
					t.Errorf("refused with %q", got)
				}
			}
		})
	}
	for range 20 {
		for _, o := range clients {
			o.Want("+PONG", "PING")
		}
	}
	flood.Wait()
	if n := srv.stats.Refused.Load(); n != 400 {
		t.Errorf("%d refused", n)
	}
	for _, o := range clients[:5] {
		o.C.Close()
	}
	resptest.WaitFor(t, "slots come back", func() bool { return srv.count.Load() == 5 })
	for range 5 {
		resptest.DialRaw(t, addr).Want("+PONG", "PING")
	}
}

// refusedBy returns what a connection is told; it may be lost to a reset.
func refusedBy(addr string) string {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err.Error()
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(resptest.Patience))
	got, _ := io.ReadAll(c)
	return string(got)
}

// TestIdle: who sends nothing, or stops in the middle of a small request, is closed;
// who is still sending a large one is not. The hours go by in the test alone.
func TestIdle(t *testing.T) {
	srv, addr := hostileTest(t, func(s *settings.Settings) { s.IdleTimeout = time.Hour })
	silent, half, busy := resptest.DialRaw(t, addr), resptest.DialRaw(t, addr), resptest.DialRaw(t, addr)
	const size, part = 2 << 20, 256 << 10
	head := fmt.Sprintf("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$%d\r\n", size)
	begun := "*2\r\n$3\r\nGET\r\n$1"
	_, _ = io.WriteString(half.C, begun)
	_, _ = io.WriteString(busy.C, head)
	sent := int64(len(begun) + len(head))
	for range size / part {
		_, _ = busy.C.Write(make([]byte, part))
		sent += part
		resptest.WaitFor(t, "all has come", func() bool { return srv.stats.BytesIn.Load() == sent && len(srv.snapshot()) == 3 })
		srv.closeIdle()
		if n := len(srv.snapshot()); n != 3 {
			t.Fatalf("%d connections are left", n)
		}
		for _, c := range srv.snapshot() {
			if c.session.bytesIn.Load() > int64(len(head)) { // busy
				c.session.lastUsed.Add(-int64(2 * time.Hour))
			}
		}
	}
	_, _ = io.WriteString(busy.C, "\r\n")
	if got := busy.Next().String(); got != "+OK" {
		t.Errorf("got %s", got)
	}
	for _, c := range srv.snapshot() {
		c.session.lastUsed.Add(-int64(2 * time.Hour))
	}
	busy.Want("+PONG", "PING")
	srv.closeIdle()
	silent.Ended()
	half.Ended()
	busy.Want("+PONG", "PING")
}

// TestHalfRequestsAtClose: requests that are not whole do not hold Close up.
func TestHalfRequestsAtClose(t *testing.T) {
	srv, addr := hostileTest(t, func(s *settings.Settings) { s.ClientMemory = 1 << 20 })
	var clients []*resptest.Conn
	sent := int64(0)
	for _, part := range []string{"", "PI", "*", "*2\r\n$3\r\nGE", "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$536870912\r\n" + strings.Repeat("x", 1<<20)} {
		o := resptest.DialRaw(t, addr)
		_, _ = io.WriteString(o.C, part)
		clients = append(clients, o)
		sent += int64(len(part))
	}
	resptest.WaitFor(t, "all has come", func() bool { return srv.stats.BytesIn.Load() == sent })
	waiting := resptest.DialRaw(t, addr) // for memory, or else for its own bytes
	_, _ = io.WriteString(waiting.C, "*2\r\n$4\r\nECHO\r\n$2000000\r\n"+strings.Repeat("x", 100<<10))
	ctx, cancel := context.WithTimeout(context.Background(), resptest.Patience)
	defer cancel()
	if err := srv.Close(ctx); err != nil {
		t.Errorf("Close: %v", err)
	}
	for _, o := range append(clients, waiting) {
		o.Ended()
	}
}

// TestDisconnectDuringLargeRequestLeavesNothing: who leaves during a large request leaves nothing behind.
func TestDisconnectDuringLargeRequestLeavesNothing(t *testing.T) {
	srv, addr := hostileTest(t, nil)
	for i := range 20 {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, "*3\r\n$3\r\nSET\r\n$4\r\nhalf\r\n$8000000\r\n"+strings.Repeat("x", i*100_000))
		if i%2 == 0 {
			_ = c.(*net.TCPConn).SetLinger(0) // a reset
		}
		c.Close()
	}
	resptest.WaitFor(t, "all are gone", func() bool { return srv.count.Load() == 0 && srv.budget.InUse() == 0 })
	resptest.DialRaw(t, addr).Want("_$", "GET", "half")
}

func TestManyPingsInOneWrite(t *testing.T) {
	_, addr := hostileTest(t, nil)
	for _, ping := range []string{"PING\r\n", "*1\r\n$4\r\nPING\r\n"} {
		const n = 10_000
		got := exchange(t, addr, strings.Repeat(ping, n)+wiretest.Quit)
		if want := strings.Repeat("+PONG\r\n", n) + wiretest.QuitText; got != want {
			t.Errorf("%q: %d bytes of replies, want %d", ping, len(got), len(want))
		}
	}
}

// TestAsManyArgumentsAsThereMayBe and, then, one more.
func TestAsManyArgumentsAsThereMayBe(t *testing.T) {
	randomtest.DrawShort(t, 4)
	n := 1 << 20
	switch {
	case testing.Short():
		n = 1 << 16
	case os.Getenv("RINGSIDE_LONG") == "": // test:random takes as many as there may be by default
		n = 1 << 18
	}
	_, addr := hostileTest(t, func(s *settings.Settings) { s.MaxArgs = n })
	o := resptest.DialRaw(t, addr)
	request := func(name string, args int, arg func(i int) int) {
		b := bufio.NewWriter(o.C)
		fmt.Fprintf(b, "*%d\r\n$%d\r\n%s\r\n", args, len(name), name)
		for i := range args - 1 {
			fmt.Fprintf(b, "$7\r\n%07d\r\n", arg(i))
		}
		_ = b.Flush()
	}
	answer := func(want string) {
		t.Helper()
		_ = o.C.SetDeadline(time.Now().Add(resptest.Patience))
		if v, err := o.Read(); err != nil || v.String() != want {
			t.Fatalf("%v, %v; want %s", v, err, want)
		}
	}
	// The store has tests of its own with as many keys that differ.
	const keys = 5000
	key := func(i int) int { return i % keys }
	request("MSET", n-1, key)
	answer("+OK")
	o.Want(fmt.Sprint(":", keys/2), "DBSIZE") // keys and values take turns
	request("EXISTS", n, func(i int) int { return 2 * i % keys })
	answer(fmt.Sprint(":", n-1))
	request("DEL", n, key)
	answer(fmt.Sprint(":", keys/2))
	o.Want(":0", "DBSIZE")
	_, _ = fmt.Fprintf(o.C, "*%d\r\n", n+1)
	answer("-ERR Protocol error: invalid multibulk length")
	o.Ended()
}

// TestNestedFrames: what looks like a request within an argument is none.
func TestNestedFrames(t *testing.T) {
	_, addr := hostileTest(t, nil)
	o := resptest.DialRaw(t, addr)
	value := "PING\r\n"
	for range 12 {
		var b bytes.Buffer
		resptest.Write(&b, "SET", "a", value)
		o.Want("+OK", "SET", "a", value)
		o.Want("$"+value, "GET", "a")
		value = b.String() + b.String()
	}
}
