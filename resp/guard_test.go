package resp

import (
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/resp/wire/wiretest"
)

// exchange sends bytes over a connection of their own and returns all that comes
// back until the server ends it.
func exchange(t testing.TB, addr, sent string) string {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(resptest.Patience))
	if _, err := io.WriteString(c, sent); err != nil {
		t.Fatalf("send %.60q: %v", sent, err)
	}
	return drain(t, c, sent)
}

// drain reads until the server ends the connection.
func drain(t testing.TB, c net.Conn, sent string) string {
	t.Helper()
	got, err := io.ReadAll(c)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%.60q: answered %.60q, and the connection stays open", sent, got)
	} else if err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%.60q: %v", sent, err)
	}
	return string(got)
}

// TestProtocolErrors: each ends the connection with Redis' words, whatever follows.
func TestProtocolErrors(t *testing.T) {
	srv, addr := serveTest(t, nil)
	for i, m := range wiretest.ProtocolErrors {
		before := srv.stats.ProtocolErrors.Load()
		sent := m.Sent
		if len(sent) < wire.MaxLine {
			sent += wiretest.Quit
		}
		if got := exchange(t, addr, sent); got != m.Reply() {
			t.Errorf("%d: %.60q: %q, want %q", i, m.Sent, got, m.Reply())
		}
		if n := srv.stats.ProtocolErrors.Load() - before; n != 1 {
			t.Errorf("%.60q: %d protocol errors", m.Sent, n)
		}
	}
}

// TestProtocolErrorsOfRedis: what this file says Redis says is what it says.
func TestProtocolErrorsOfRedis(t *testing.T) {
	addr := redistest.Start7(t)
	for _, m := range wiretest.ProtocolErrors {
		sent := m.Sent
		if len(sent) < wire.MaxLine {
			sent += wiretest.Quit
		}
		if got := exchange(t, addr, sent); got != m.Reply() {
			t.Errorf("%.60q: %q, want %q", m.Sent, got, m.Reply())
		}
	}
}

// TestUnexpectedBytesAsInRedis: the error names any byte as Redis does.
func TestUnexpectedBytesAsInRedis(t *testing.T) {
	theirs := redistest.Start7(t)
	_, ours := serveTest(t, nil)
	for c := 1; c < 256; c++ { // to Redis nothing follows a NUL, not even the end of the line
		sent := "*1\r\n" + string([]byte{byte(c)}) + "1\r\n1\r\n" + wiretest.Quit
		if got, want := exchange(t, ours, sent), exchange(t, theirs, sent); got != want {
			t.Errorf("%q: %q, Redis %q", sent, got, want)
		}
	}
}

func TestRequestsInAllForms(t *testing.T) {
	_, addr := serveTest(t, nil)
	for _, a := range wiretest.Accepted {
		if got, want := exchange(t, addr, a.Sent+wiretest.Quit), a.Want+wiretest.QuitText; got != want {
			t.Errorf("%.60q: %.90q, want %.90q", a.Sent, got, want)
		}
	}
}

func TestRequestsInAllFormsOfRedis(t *testing.T) {
	addr := redistest.Start7(t)
	for _, a := range wiretest.Accepted {
		if got, want := exchange(t, addr, a.Sent+wiretest.Quit), a.Want+wiretest.QuitText; got != want {
			t.Errorf("%.60q: %.90q, want %.90q", a.Sent, got, want)
		}
	}
}

func TestBeforeAuth(t *testing.T) {
	_, addr := serveTest(t, func(c *Config, _ *serveStore) { c.Settings.Password = "secret" })
	testBeforeAuth(t, addr)
	m := wiretest.Malformed{Sent: strings.Repeat("x", wire.UnauthedBytes+1), Want: "too big inline request"}
	if got := exchange(t, addr, m.Sent); got != m.Reply() {
		t.Errorf("%.60q: %q, want %q", m.Sent, got, m.Reply())
	}
}

func TestBeforeAuthOfRedis(t *testing.T) {
	testBeforeAuth(t, redistest.Start7(t, "--requirepass", "secret"))
}

func testBeforeAuth(t *testing.T, addr string) {
	for _, m := range wiretest.Unauthenticated {
		if got := exchange(t, addr, m.Sent+wiretest.Quit); got != m.Reply() {
			t.Errorf("%.60q: %q, want %q", m.Sent, got, m.Reply())
		}
	}
	const (
		auth   = "*2\r\n$4\r\nAUTH\r\n$6\r\nsecret\r\n"
		noAuth = "-NOAUTH Authentication required.\r\n"
	)
	ten := "*10\r\n" + strings.Repeat("$4\r\nECHO\r\n", 10)
	long := "*2\r\n$4\r\nECHO\r\n$16384\r\n" + strings.Repeat("x", 16384) + "\r\n"
	longer := "*2\r\n$4\r\nECHO\r\n$16385\r\n" + strings.Repeat("x", 16385) + "\r\n"
	for _, a := range []struct{ sent, want string }{
		{"PING\r\n", noAuth},
		{"*0\r\n*-1\r\n\r\n", ""},
		{ten, "-ERR wrong number of arguments for 'echo' command\r\n"},
		{long, noAuth},
		// What follows AUTH in a pipeline has the limits that follow it.
		{auth + longer, "+OK\r\n" + longer[len("*2\r\n$4\r\nECHO\r\n"):]},
		{"AUTH secret\nPING\n", "+OK\r\n+PONG\r\n"},
	} {
		if got, want := exchange(t, addr, a.sent+wiretest.Quit), a.want+wiretest.QuitText; got != want {
			t.Errorf("%.60q: %.90q, want %.90q", a.sent, got, want)
		}
	}
}

// TestStricterThanRedis: what Redis lets pass although it is malformed.
func TestStricterThanRedis(t *testing.T) {
	_, addr := serveTest(t, func(c *Config, _ *serveStore) { c.Settings.MaxArgs, c.Settings.MaxValue = 100, 2000 })
	for _, m := range []wiretest.Malformed{
		{Sent: "*1\r\n$4\r\nPINGxx", Want: "invalid bulk length"},
		{Sent: "*1\r\n$4\r\nPING\n\n", Want: "invalid bulk length"},
		{Sent: "*1\n", Want: "invalid multibulk length"},
		{Sent: "*1\r\n$4\nPING\r\n", Want: "invalid bulk length"},
		{Sent: "*101\r\n", Want: "invalid multibulk length"},
		{Sent: "*1\r\n$2001\r\n", Want: "invalid bulk length"},
	} {
		if got := exchange(t, addr, m.Sent+wiretest.Quit); got != m.Reply() {
			t.Errorf("%.60q: %q, want %q", m.Sent, got, m.Reply())
		}
	}
}

// TestInputsThatBreakRedconAreRefused: three inputs at which redcon 1.6.2 panics, loops, and buffers
// without end.
func TestInputsThatBreakRedconAreRefused(t *testing.T) {
	srv, addr := serveTest(t, nil)
	for _, m := range []wiretest.Malformed{
		{Sent: "*1\r\n$9223372036854775800\r\n" + strings.Repeat("x", 100) + "\r\n", Want: "invalid bulk length"},
		{Sent: "*9223372036854775800\r\n$4\r\nPING\r\n", Want: "invalid multibulk length"},
	} {
		if got := exchange(t, addr, m.Sent); got != m.Reply() {
			t.Errorf("%q: %q, want %q", m.Sent, got, m.Reply())
		}
	}
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(resptest.Patience))
	part := []byte(strings.Repeat("x", 1<<16))
	for sent := 0; err == nil; sent += len(part) {
		if sent > 64<<20 {
			t.Fatal("a line without end is read for ever")
		}
		if n := srv.budget.InUse(); n > 4*wire.MaxLine {
			t.Fatalf("%d bytes are kept of a line", n)
		}
		_, err = c.Write(part)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the connection stays open")
	}
	resptest.WaitFor(t, "it is forgotten", func() bool { return srv.count.Load() == 0 && srv.budget.InUse() == 0 })
}

// TestErrorBehindAWrite: the error follows the replies to what was written before it,
// which leave only once they are durable.
func TestErrorBehindAWrite(t *testing.T) {
	_, addr := serveTest(t, nil)
	for i := range 50 {
		got := exchange(t, addr, strings.Repeat("SET a 1\r\n", 1+i)+"*1\r\n:")
		if want := strings.Repeat("+OK\r\n", 1+i) + "-ERR Protocol error: expected '$', got ':'\r\n"; got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}

// TestByteByByte sends a pipeline one byte at a time.
func TestByteByByte(t *testing.T) {
	_, addr := serveTest(t, nil)
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(resptest.Patience))
	for _, b := range []byte(wiretest.Mixed + wiretest.Quit) { // each is a segment of its own: Go sets TCP_NODELAY
		if _, err := c.Write([]byte{b}); err != nil {
			t.Fatal(err)
		}
	}
	if got := drain(t, c, wiretest.Mixed); got != wiretest.MixedWant+wiretest.QuitText {
		t.Errorf("got %q, want %q", got, wiretest.MixedWant+wiretest.QuitText)
	}
}

// TestCutAnywhere sends a pipeline in two parts, cut at every byte; the server has run
// what it can of the first before it sees the second.
func TestCutAnywhere(t *testing.T) {
	srv, addr := serveTest(t, nil)
	all := wiretest.Mixed + wiretest.Quit
	for cut := 1; cut < len(all); cut++ {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(resptest.Patience))
		before := srv.stats.BytesIn.Load()
		if _, err := io.WriteString(c, all[:cut]); err != nil {
			t.Fatal(err)
		}
		resptest.WaitFor(t, "the first part is read", func() bool { return srv.stats.BytesIn.Load() == before+int64(cut) })
		if _, err := io.WriteString(c, all[cut:]); err != nil {
			t.Fatal(err)
		}
		if got := drain(t, c, all); got != wiretest.MixedWant+wiretest.QuitText {
			t.Fatalf("cut at %s: %q, want %q", strconv.Quote(all[:cut]), got, wiretest.MixedWant+wiretest.QuitText)
		}
		c.Close()
	}
}
