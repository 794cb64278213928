package resp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// TestMemoryComesBack: whatever clients did, nothing is charged once they are gone.
func TestMemoryComesBack(t *testing.T) {
	srv, addr := serveTest(t, nil)
	big := strings.Repeat("x", 300<<10)
	for range 4 {
		o := resptest.Dial(t, addr, 2)
		o.Want("+OK", "SET", "a", big)
		o.Send("GET", "a")
		o.Send("SET", "b", big)
		o.Send("GET", "b")
		o.C.Close()
		o = resptest.Dial(t, addr, 2)
		if got := o.Do("GET", "a").Text; got != big {
			t.Error("GET: another value")
		}
		o.C.Write([]byte("*2\r\n$3\r\nGET\r\n$200000\r\n" + big[:150000]))
		o.C.Close()
	}
	resptest.WaitFor(t, "all memory is given back", func() bool { return srv.budget.InUse() == 0 && srv.count.Load() == 0 })
}

// TestRequestsLargerThanTheBudgetPass, one at a time.
func TestRequestsLargerThanTheBudgetPass(t *testing.T) {
	_, addr := serveTest(t, func(c *Config, _ *serveStore) { c.Settings.ClientMemory = 1 << 20 })
	value := strings.Repeat("x", 3<<20)
	done := make(chan string, 4)
	for i := range cap(done) {
		o := resptest.DialRaw(t, addr)
		go func() {
			resptest.Write(o.C, "SET", fmt.Sprint("k", i), value)
			v, err := o.Read()
			done <- fmt.Sprint(v, err)
		}()
	}
	for range cap(done) {
		select {
		case got := <-done:
			if got != "+OK <nil>" {
				t.Errorf("SET: %s", got)
			}
		case <-time.After(resptest.Patience):
			t.Fatal("a request waits for ever")
		}
	}
}

// TestStalledSenderIsClosed: who stops half-way through a large request does not keep
// others from sending theirs, and small requests pass meanwhile.
func TestStalledSenderIsClosed(t *testing.T) {
	if testing.Short() {
		t.Skip("takes as long as a sender may stall")
	}
	srv, addr := serveTest(t, func(c *Config, _ *serveStore) { c.Settings.ClientMemory = 1 << 20 })
	stalled := resptest.DialRaw(t, addr)
	stalled.C.Write([]byte("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$8000000\r\n" + strings.Repeat("x", 2<<20)))
	resptest.WaitFor(t, "it holds memory", func() bool { return srv.budget.InUse() > 2<<20 })
	o := resptest.Dial(t, addr, 2)
	o.Want("+PONG", "PING")
	o.Want("+OK", "SET", "b", strings.Repeat("x", 200<<10))
	stalled.Ended()
	wantClosed(t, o, 1, 1)
}

// wantClosed compares how many clients INFO says were closed for the memory of all, and how many of these since they had
// not sent all of a request. None has exceeded its own buffer.
func wantClosed(t *testing.T, o *resptest.Conn, evicted, sending int) {
	t.Helper()
	for field, want := range map[string]int{
		"evicted_clients": evicted, "client_query_buffer_limit_disconnections": sending, "client_output_buffer_limit_disconnections": 0,
	} {
		if n := o.InfoField(field, "INFO", "stats"); n != want {
			t.Errorf("%s is %d, want %d", field, n, want)
		}
	}
	if n := o.InfoField("slow_clients_closed", "INFO", "everything"); n != evicted {
		t.Errorf("slow_clients_closed is %d, want %d", n, evicted)
	}
}

// TestLongPipelineOfLargeReplies: what a pipeline reads may be more than the output
// buffer holds, if the client takes it.
func TestLongPipelineOfLargeReplies(t *testing.T) {
	randomtest.DrawShort(t, 4)
	_, addr := serveTest(t, func(c *Config, _ *serveStore) {
		c.Settings.ClientMemory = 4 << 20
		c.Settings.OutputBuffer = 2 << 20
	})
	o := resptest.Dial(t, addr, 2)
	value := strings.Repeat("x", 1000<<10)
	o.Want("+OK", "SET", "a", value)
	const n = 30
	go func() {
		o.Send("SET", "b", "1")
		for range n {
			o.Send("GET", "a")
		}
	}()
	o.Next()
	for range n {
		if got := o.Next().Text; got != value {
			t.Fatalf("GET: %d bytes", len(got))
		}
	}
}

// TestSlowReaderIsClosed: who does not take replies does not keep others waiting.
func TestSlowReaderIsClosed(t *testing.T) {
	srv, addr := serveTest(t, func(c *Config, _ *serveStore) { c.Settings.ClientMemory = 4 << 20 })
	o := resptest.Dial(t, addr, 2)
	o.Want("+OK", "SET", "a", strings.Repeat("x", 1000<<10))
	o.Want("+OK", "CONFIG", "SET", "client-memory", "1mb")
	slow := resptest.DialRaw(t, addr)
	resptest.WaitFor(t, "the slow reader is accepted", func() bool { return srv.count.Load() == 2 })
	slow.Send("SET", "c", "1")
	for range 60 {
		slow.Send("GET", "a")
	}
	// The kernel takes replies for a while, so that the first values may find room.
	resptest.WaitFor(t, "the slow reader is gone", func() bool {
		o.Want("+OK", "SET", "b", strings.Repeat("x", 500<<10))
		return srv.count.Load() == 1
	})
	wantClosed(t, o, 1, 0)
}
