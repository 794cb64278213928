package resp

import (
	"bufio"
	"io"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/store"
)

// serveStore is the store's configuration as serveTest hands it in.
type serveStore = store.Config

// defaultKeepAlive is Redis' default.
const defaultKeepAlive = 300 * time.Second

// stream sends commands, separated by |, in one go and returns all that is answered
// until the server closes the connection.
func stream(t *testing.T, addr, script string) string {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for command := range strings.SplitSeq(script, "|") {
		writeCommand(c, strings.Fields(command)...)
	}
	c.SetReadDeadline(time.Now().Add(patience))
	all, err := io.ReadAll(c)
	if err != nil && !strings.Contains(err.Error(), "reset") {
		t.Fatalf("%s: %v", script, err)
	}
	return string(all)
}

var idField = regexp.MustCompile(`\$2\r\nid\r\n:\d+`)

func withoutID(s string) string { return idField.ReplaceAllString(s, "id") }

func writeCommand(w io.Writer, args ...string) {
	_, _ = w.Write(encodeCommands([][]string{args}))
}

// send sends one command without waiting for its reply.
func (o *oracle) send(args ...string) { writeCommand(o.c, args...) }

// next returns the next reply.
func (o *oracle) next() respValue {
	o.t.Helper()
	o.c.SetDeadline(time.Now().Add(patience))
	v, err := readValue(o.r)
	if err != nil {
		o.t.Fatal(err)
	}
	return v
}

// silent fails the test if anything arrives within a moment.
func (o *oracle) silent(d time.Duration) {
	o.t.Helper()
	o.c.SetReadDeadline(time.Now().Add(d))
	if b, err := o.r.Peek(1); err == nil {
		o.t.Errorf("unexpected reply: %q", b)
	}
	o.c.SetReadDeadline(time.Time{})
}

// ended fails the test unless the server closes the connection.
func (o *oracle) ended() {
	o.t.Helper()
	o.c.SetReadDeadline(time.Now().Add(patience))
	if v, err := readValue(o.r); err == nil {
		o.t.Errorf("unexpected reply: %v", v)
	} else if ne, ok := err.(net.Error); ok && ne.Timeout() {
		o.t.Error("the connection stays open")
	}
}

// dialRaw connects without HELLO.
func dialRaw(t *testing.T, addr string) *oracle {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &oracle{t: t, c: c, r: bufio.NewReader(c)}
}

// want runs a command and compares the reply.
func (o *oracle) want(reply string, args ...string) {
	o.t.Helper()
	if got := o.do(args...).String(); got != reply {
		o.t.Errorf("%q: %s, want %s", args, got, reply)
	}
}

// patience is for what takes a moment when the machine does nothing else.
const patience = time.Minute

// waitFor waits until ok is true.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: did not happen", what)
		}
	}
}
