package client

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ringside-kv/ringside/resp/wire"
)

// shown is a reply in one line.
func shown(r Reply) string {
	switch r.kind {
	case Null:
		return "null"
	case Error:
		return "-" + string(r.text)
	case Integer:
		return fmt.Sprint(":", r.n)
	case Boolean:
		return fmt.Sprint("#", r.n == 1)
	case Float:
		return "," + string(r.text)
	case List, Map:
		var elems []string
		for _, e := range r.elems {
			elems = append(elems, shown(e))
		}
		mark := map[bool]string{true: ">", false: ""}[r.push]
		if r.kind == Map {
			mark = "%"
		}
		return mark + "(" + strings.Join(elems, " ") + ")"
	}
	return string(r.text)
}

func TestRepliesOfBothProtocols(t *testing.T) {
	for raw, want := range map[string]string{
		"+OK\r\n":                             "OK",
		"+\r\n":                               "",
		"-ERR no such thing\r\n":              "-ERR no such thing",
		"!8\r\nERR a\r\nb\r\n":                "-ERR a\r\nb",
		":-12\r\n":                            ":-12",
		":9223372036854775807\r\n":            ":9223372036854775807",
		"$5\r\na\r\n\x00b\r\n":                "a\r\n\x00b",
		"$0\r\n\r\n":                          "",
		"$-1\r\n":                             "null",
		"*-1\r\n":                             "null",
		"_\r\n":                               "null",
		"*0\r\n":                              "()",
		"*2\r\n$1\r\na\r\n*1\r\n:1\r\n":       "(a (:1))",
		"~1\r\n#t\r\n":                        "(#true)",
		"%1\r\n+a\r\n#f\r\n":                  "%(a #false)",
		",1.5\r\n":                            ",1.5",
		",inf\r\n":                            ",inf",
		"(12345678901234567890\r\n":           "12345678901234567890",
		"=7\r\ntxt:abc\r\n":                   "abc",
		"|1\r\n+k\r\n:1\r\n*1\r\n+v\r\n":      "(v)",
		">3\r\n+message\r\n+c\r\n$1\r\nx\r\n": ">(message c x)",
	} {
		for _, from := range []io.Reader{strings.NewReader(raw), iotest.OneByteReader(strings.NewReader(raw))} {
			r := newReplyReader(from, 1<<20)
			got, err := r.next()
			if err != nil || shown(got) != want {
				t.Errorf("%q: %q, %v; want %q", raw, shown(got), err, want)
			}
			if _, err := r.next(); err != io.EOF {
				t.Errorf("%q: %v behind it", raw, err)
			}
		}
	}
}

func TestBrokenReplies(t *testing.T) {
	deep := strings.Repeat("*1\r\n", 1000)
	for _, raw := range []string{
		"\r\n", "OK\r\n", "+OK\n", "$-2\r\n", "$x\r\n", "$3\r\nabcd\r\n", "*-2\r\n", "*9999999999\r\n", "%4000000000000000000\r\n",
		":1x\r\n", ":\r\n", "#y\r\n", "_x\r\n", "=2\r\nab\r\n", "$?\r\n", "*?\r\n", deep, "+" + strings.Repeat("x", wire.MaxLine+1) + "\r\n",
		"$2000000\r\n", "*20000\r\n",
	} {
		if got, err := newReplyReader(strings.NewReader(raw), 1<<20).next(); !errors.Is(err, ErrReply) {
			t.Errorf("%.40q: %v, %v", raw, shown(got), err)
		}
	}
	for _, raw := range []string{"$3\r\nab", "*2\r\n:1\r\n", "+O", "*1\r\n", "$3\r\n"} {
		if _, err := newReplyReader(strings.NewReader(raw), 1<<20).next(); err != io.ErrUnexpectedEOF {
			t.Errorf("%q: %v", raw, err)
		}
	}
}

// What is announced costs nothing before it is there.
func TestAnnouncedLengthsCostNoMemory(t *testing.T) {
	for _, raw := range []string{"$1000000000\r\nabc", "*5000000\r\n:1\r\n", "%2500000\r\n+a\r\n"} {
		allocated := testing.AllocsPerRun(1, func() {
			_, _ = newReplyReader(strings.NewReader(raw), 1<<30).next()
		})
		var before, after = allocatedBytes(func() { _, _ = newReplyReader(strings.NewReader(raw), 1<<30).next() })
		if after-before > 1<<20 {
			t.Errorf("%.20q: %d bytes, %g allocations", raw, after-before, allocated)
		}
	}
}

func TestLargeStringsArriveComplete(t *testing.T) {
	for _, n := range []int{readBuffer - 10, readBuffer, readBuffer + 1, 3 << 20} {
		text := bytes.Repeat([]byte("0123456\r\n\x00"), n/10)
		raw := fmt.Appendf(nil, "*2\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n+OK\r\n", len(text), text, len(text), text)
		for _, chunk := range []int{1 << 20, 1000, 65536} {
			r := newReplyReader(&recordedConn{in: bytes.NewReader(raw), chunk: chunk}, 1<<30)
			got, err := r.next()
			if err != nil || !bytes.Equal(got.elems[0].text, text) || !bytes.Equal(got.elems[1].text, text) {
				t.Fatalf("%d bytes by %d: %v", n, chunk, err)
			}
			if ok, err := r.next(); err != nil || shown(ok) != "OK" {
				t.Errorf("%d bytes by %d: %v, %v", n, chunk, shown(ok), err)
			}
		}
	}
}

// FuzzReplyReader: any bytes, in any chunks, are the same replies and then the same error,
// within the memory that is allowed. An error that shows what is no reply shows what has come of it.
func FuzzReplyReader(f *testing.F) {
	for _, seed := range []string{
		"+OK\r\n-ERR x\r\n:1\r\n$3\r\nabc\r\n", "*2\r\n$-1\r\n_\r\n", "%1\r\n+a\r\n,1.5\r\n", ">1\r\n=5\r\ntxt:a\r\n",
		"|1\r\n+a\r\n:1\r\n+b\r\n", "*3\r\n*1\r\n*1\r\n:1\r\n", "!3\r\nERR\r\n#t\r\n(1\r\n~0\r\n", "$99999999\r\nx", "*99999\r\n", "00",
	} {
		f.Add([]byte(seed), 1)
		f.Add([]byte(seed), 7)
	}
	f.Fuzz(func(t *testing.T, raw []byte, chunk int) {
		const most = 1 << 16
		all := func(chunk int) (replies []Reply, err error) {
			r := newReplyReader(&recordedConn{in: bytes.NewReader(raw), chunk: chunk}, most)
			for {
				reply, err := r.next()
				if err != nil {
					return replies, err
				}
				if cost(reply) > most+elementCost {
					t.Fatalf("a reply of %d bytes", cost(reply))
				}
				replies = append(replies, reply)
			}
		}
		whole, err1 := all(math.MaxInt)
		parts, err2 := all(max(chunk, 1))
		same := fmt.Sprint(err1) == fmt.Sprint(err2) || errors.Is(err1, wire.ErrReply) && errors.Is(err2, wire.ErrReply)
		if !reflect.DeepEqual(whole, parts) || !same {
			t.Errorf("whole: %d replies, %v; in chunks of %d: %d, %v", len(whole), err1, chunk, len(parts), err2)
		}
		for _, r := range whole {
			if r.kind == Failed || r.err != nil {
				t.Errorf("a reply that is none: %+v", r)
			}
			_, _ = r.Text()
			_, _ = r.Int()
			_, _ = r.Float()
			_, _ = r.Bool()
			_, _ = r.Texts()
			_, _ = r.Map()
			_, _, _ = r.moved()
			_ = r.Err()
			_ = parseCommands(r)
		}
	})
}

func cost(r Reply) int {
	n := len(r.text)
	for _, e := range r.elems {
		n += elementCost + cost(e)
	}
	return n
}

func TestRepliesConvertToTheRequestedType(t *testing.T) {
	read := func(raw string) Reply {
		r, err := newReplyReader(strings.NewReader(raw), 1<<20).next()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if n, err := read("$2\r\n42\r\n").Int(); n != 42 || err != nil {
		t.Error(n, err)
	}
	if s, err := read(":42\r\n").Text(); s != "42" || err != nil {
		t.Error(s, err)
	}
	if f, err := read("$3\r\n1.5\r\n").Float(); f != 1.5 || err != nil {
		t.Error(f, err)
	}
	if b, err := read("+OK\r\n").Bool(); !b || err != nil {
		t.Error(b, err)
	}
	if b, err := read(":0\r\n").Bool(); b || err != nil {
		t.Error(b, err)
	}
	for _, raw := range []string{"%2\r\n+a\r\n:1\r\n+b\r\n:2\r\n", "*4\r\n+a\r\n:1\r\n+b\r\n:2\r\n"} {
		if m, err := read(raw).Map(); len(m) != 2 || m["b"].n != 2 || err != nil {
			t.Error(m, err)
		}
	}
	null := read("$-1\r\n")
	if _, err := null.Text(); err != ErrNull || !null.IsNull() || null.Err() != nil {
		t.Error("null:", err)
	}
	refused := read("-WRONGTYPE of another kind\r\n")
	var e *ServerError
	if _, err := refused.Int(); !errors.As(err, &e) || e.Code != "WRONGTYPE" || e.Error() != "WRONGTYPE of another kind" {
		t.Error("error:", err)
	}
	if _, err := read("$1\r\nx\r\n").Int(); !errors.Is(err, ErrKind) || !errors.Is(err, strconv.ErrSyntax) {
		t.Error("no integer:", err)
	}
	if _, err := read("*1\r\n:1\r\n").Map(); !errors.Is(err, ErrKind) {
		t.Error("no pairs:", err)
	}
	if _, err := read(":1\r\n").List(); !errors.Is(err, ErrKind) {
		t.Error("no list:", err)
	}
	if err := read("-UNKNOWN it may have been made\r\n").Err(); !errors.Is(err, ErrUnknownOutcome) {
		t.Error(err)
	}
	if err := (Reply{}).Err(); !errors.Is(err, ErrNotSent) {
		t.Error("nothing:", err)
	}
}
