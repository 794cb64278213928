package resp

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"
)

// oracle is a connection to a real Redis.
type oracle struct {
	t testing.TB
	c net.Conn
	r *bufio.Reader
}

// dialRedis connects and switches to the protocol version.
func dialRedis(t testing.TB, addr string, proto int) *oracle {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	o := &oracle{t: t, c: c, r: bufio.NewReader(c)}
	if v := o.do("HELLO", strconv.Itoa(proto)); v.kind == '-' {
		t.Fatalf("HELLO %d: %s", proto, v.text)
	}
	return o
}

// do runs one command and returns its reply. The tests against Redis call it hundreds of
// thousands of times, so it marks itself as a helper only where it fails.
func (o *oracle) do(args ...string) respValue {
	o.c.SetDeadline(time.Now().Add(patience))
	if _, err := o.c.Write(encodeCommands([][]string{args})); err != nil {
		o.t.Helper()
		o.t.Fatal(err)
	}
	v, err := readValue(o.r)
	if err != nil {
		o.t.Helper()
		o.t.Fatalf("reply to %q: %v", args, err)
	}
	return v
}

// infoField is a number among what a command tells of a server.
func (o *oracle) infoField(name string, words ...string) int {
	_, rest, _ := strings.Cut(o.do(words...).text, name+":")
	line, _, _ := strings.Cut(rest, "\r\n")
	n, _ := strconv.Atoi(line)
	return n
}

// A respValue is one decoded reply. It keeps what kind of element each one is,
// so that a set is not taken for an array.
type respValue struct {
	kind  byte   // + - : $ * ~ % > _ , = and so on; null bulks and arrays are '_'
	text  string // of scalars; of RESP2's null values "$" or "*", which clients tell apart
	elems []respValue
}

// readValue decodes one reply.
func readValue(r *bufio.Reader) (respValue, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return respValue{}, err
	}
	if len(line) < 3 || !strings.HasSuffix(line, "\r\n") {
		return respValue{}, fmt.Errorf("not a reply: %q", line)
	}
	v := respValue{kind: line[0], text: line[1 : len(line)-2]}
	switch v.kind {
	case '+', '-', ':', ',', '#', '(', '_':
		return v, nil
	}
	n, err := strconv.Atoi(v.text)
	if err != nil {
		return respValue{}, fmt.Errorf("not a length: %q", line)
	}
	v.text = ""
	if n < 0 {
		v.kind, v.text = '_', string(v.kind)
		return v, nil
	}
	switch v.kind {
	case '$', '=':
		b := make([]byte, n+2)
		if _, err := io.ReadFull(r, b); err != nil {
			return respValue{}, err
		}
		if string(b[n:]) != "\r\n" {
			return respValue{}, fmt.Errorf("bulk of %d bytes does not end in CR LF", n)
		}
		v.text = unsafe.String(unsafe.SliceData(b), n) // nothing writes to b any more
		return v, nil
	case '%':
		n *= 2
	case '*', '~', '>':
	default:
		return respValue{}, fmt.Errorf("unknown kind of reply: %q", line)
	}
	for range n {
		elem, err := readValue(r)
		if err != nil {
			return respValue{}, err
		}
		v.elems = append(v.elems, elem)
	}
	return v, nil
}

// String shows a value on one line, its kinds included.
func (v respValue) String() string {
	if v.elems == nil {
		return string(rune(v.kind)) + v.text
	}
	var b strings.Builder
	b.WriteByte(v.kind)
	b.WriteByte('(')
	for i, e := range v.elems {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(e.String())
	}
	b.WriteByte(')')
	return b.String()
}

// field is the value of a key in a map, or in an array of pairs.
func (v respValue) field(name string) *respValue {
	for i := 0; i+1 < len(v.elems); i += 2 {
		if v.elems[i].text == name {
			return &v.elems[i+1]
		}
	}
	return nil
}
