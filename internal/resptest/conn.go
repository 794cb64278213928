package resptest

import (
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/resp/wire"
)

// A Conn is a test's connection to a server. A reply that does not come within [Patience] fails the
// test.
type Conn struct {
	*Reader
	T testing.TB
	C net.Conn
}

// Dial connects and chooses the version of the protocol.
func Dial(t testing.TB, addr string, proto int) *Conn {
	t.Helper()
	o := DialRaw(t, addr)
	if v := o.Do("HELLO", strconv.Itoa(proto)); v.Kind == wire.KindError {
		t.Fatalf("HELLO %d: %s", proto, v.Text)
	}
	return o
}

// DialRaw connects and sends nothing.
func DialRaw(t testing.TB, addr string) *Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &Conn{NewReader(c), t, c}
}

// Do runs one command and returns its reply. Tests against Redis call it hundreds of thousands of
// times, so it marks itself as a helper only where it fails.
func (o *Conn) Do(words ...string) Value {
	_ = o.C.SetDeadline(time.Now().Add(Patience))
	if _, err := o.C.Write(EncodeCommands([][]string{words})); err != nil {
		o.T.Helper()
		o.T.Fatal(err)
	}
	v, err := o.Read()
	if err != nil {
		o.T.Helper()
		o.T.Fatalf("reply to %.300q: %v", words, err)
	}
	return v
}

// DoAll sends commands at once and returns their replies.
func (o *Conn) DoAll(commands [][]string) []Value {
	o.T.Helper()
	_ = o.C.SetDeadline(time.Now().Add(Patience))
	go func() { _, _ = o.C.Write(EncodeCommands(commands)) }()
	replies := make([]Value, len(commands))
	for i := range replies {
		var err error
		if replies[i], err = o.Read(); err != nil {
			o.T.Fatalf("reply to %.300q: %v", commands[i], err)
		}
	}
	return replies
}

// Want runs a command and compares the reply.
func (o *Conn) Want(reply string, words ...string) {
	o.T.Helper()
	if got := o.Do(words...).String(); got != reply {
		o.T.Errorf("%q: %s, want %s", words, got, reply)
	}
}

// Send sends a command and does not wait for its reply. An error shows when the reply is read.
func (o *Conn) Send(words ...string) { Write(o.C, words...) }

// Next returns the next reply or push.
func (o *Conn) Next() Value {
	o.T.Helper()
	_ = o.C.SetDeadline(time.Now().Add(Patience))
	v, err := o.Read()
	if err != nil {
		o.T.Fatal(err)
	}
	return v
}

// Silent fails the test if anything arrives within a moment.
func (o *Conn) Silent(d time.Duration) {
	o.T.Helper()
	_ = o.C.SetReadDeadline(time.Now().Add(d))
	if v, err := o.Read(); !errors.Is(err, os.ErrDeadlineExceeded) {
		o.T.Errorf("unexpected reply: %v, %v", v, err)
	}
	_ = o.C.SetReadDeadline(time.Time{})
}

// Ended fails the test unless the server closes the connection.
func (o *Conn) Ended() {
	o.T.Helper()
	_ = o.C.SetReadDeadline(time.Now().Add(Patience))
	if v, err := o.Read(); err == nil {
		o.T.Errorf("unexpected reply: %v", v)
	} else if errors.Is(err, os.ErrDeadlineExceeded) {
		o.T.Error("the connection stays open")
	}
}

// InfoField is a number among the lines of a reply, as INFO has them.
func (o *Conn) InfoField(name string, words ...string) int {
	_, rest, _ := strings.Cut(o.Do(words...).Text, name+":")
	line, _, _ := strings.Cut(rest, "\r\n")
	n, _ := strconv.Atoi(line)
	return n
}

// Write writes a command.
func Write(w io.Writer, words ...string) { _, _ = w.Write(EncodeCommands([][]string{words})) }

// EncodeCommands returns the bytes of a pipeline.
func EncodeCommands(commands [][]string) []byte {
	size := 0
	for _, words := range commands {
		size += 16
		for _, word := range words {
			size += 16 + len(word)
		}
	}
	b := make([]byte, 0, size)
	for _, words := range commands {
		b = wire.AppendRequest(b, words...)
	}
	return b
}
