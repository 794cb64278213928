package resp

import (
	"net"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// WAIT blocks for ever here, so what arrives before it is unblocked has not waited for it.
func TestWaitLetsEarlierRepliesLeave(t *testing.T) {
	_, addr := serveTest(t, nil)
	o, admin := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
	id := o.Do("CLIENT", "ID").Text
	if _, err := o.C.Write([]byte("SET a 1\r\nPING\r\nWAIT 1 0\r\nGET a\r\n")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"+OK", "+PONG"} {
		if got := o.Next().String(); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
	awaitBlocked(t, admin, 1)
	admin.Want(":0", "EXISTS", "nothing") // the server goes on
	admin.Want(":1", "CLIENT", "UNBLOCK", id)
	for _, want := range []string{":0", "$1"} {
		if got := o.Next().String(); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
}

// What arrives while WAIT blocks runs afterwards, in whatever pieces it comes.
func TestWaitReadsOnWhileItBlocks(t *testing.T) {
	_, addr := serveTest(t, nil)
	o, admin := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
	id := o.Do("CLIENT", "ID").Text
	for _, part := range []string{"WAIT 2 0\r\n", "PI", "NG\r\nSET a", " 1\r\n"} {
		if _, err := o.C.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
		awaitBlocked(t, admin, 1)
	}
	admin.Want(":1", "CLIENT", "UNBLOCK", id)
	for _, want := range []string{":0", "+PONG", "+OK"} {
		if got := o.Next().String(); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
	// More than the buffer takes.
	large := strings.Repeat("x", 60_000)
	if _, err := o.C.Write([]byte("WAIT 2 200\r\nECHO " + large[:50_000] + "\r\nECHO " + large + "\r\n")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{1, 50_000, 60_000} {
		if got := o.Next(); len(got.Text) != want {
			t.Fatalf("%.100s; want %d bytes", got, want)
		}
	}
}

// The deadline of a WAIT does not end the connection that it belonged to.
func TestConnectionOutlivesDeadlineOfWait(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	o.Want(":0", "WAIT", "1", "1")
	o.Want("_*", "BLPOP", "nothing", "0.05") // the deadline is long past
	o.Want("+PONG", "PING")
}

func TestWaitEndsWhenItsClientGoes(t *testing.T) {
	srv, addr := serveTest(t, nil)
	for _, more := range []string{"", "PING\r\n"} {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte("WAIT 1 0\r\n" + more)); err != nil {
			t.Fatal(err)
		}
		admin := resptest.DialRaw(t, addr)
		awaitBlocked(t, admin, 1)
		_, _ = c.Close(), admin.C.Close()
		resptest.WaitFor(t, "no connection is left", func() bool { return srv.count.Load() == 0 })
	}
}

func TestWaitEndsWhenTheConnectionIsClosed(t *testing.T) {
	srv, addr := serveTest(t, nil)
	for _, more := range []int{0, 100_000} { // an empty buffer, and a full one
		o, admin := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
		if _, err := o.C.Write(append([]byte("WAIT 1 0\r\n"), make([]byte, more)...)); err != nil {
			t.Fatal(err)
		}
		awaitBlocked(t, admin, 1)
		for _, c := range srv.snapshot() {
			c.close()
		}
		resptest.WaitFor(t, "no connection is left", func() bool { return srv.count.Load() == 0 })
	}
}

// Close waits neither for ever nor for its context.
func TestCloseEndsWait(t *testing.T) {
	srv, addr := serveTest(t, nil)
	for _, more := range []int{0, 0, 100_000} {
		o := resptest.Dial(t, addr, 2)
		if _, err := o.C.Write(append([]byte("WAIT 1 0\r\n"), make([]byte, more)...)); err != nil {
			t.Fatal(err)
		}
	}
	awaitBlocked(t, resptest.Dial(t, addr, 2), 3)
	if err := srv.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
