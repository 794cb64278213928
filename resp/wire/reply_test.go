package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

// readAll reads replies until there is an error, and shows them.
func readAll(src io.Reader) (all []string, err error) {
	r := NewReplyReader(src)
	for {
		p, err := r.Next()
		switch {
		case err != nil:
			return all, err
		case p == nil:
			if err := r.Fill(); err != nil {
				return all, err
			}
		default:
			all = append(all, show(p))
		}
	}
}

func show(p *Reply) string {
	s := fmt.Sprintf("%c", p.Kind)
	switch {
	case p.Kind == ':':
		s += fmt.Sprint(p.Int)
	case p.Kind == '*':
		for _, v := range p.Values {
			if v == nil {
				s += " nil"
			} else {
				s += fmt.Sprintf(" %q", v)
			}
		}
	case p.Text == nil:
		s += "nil"
	default:
		s += string(p.Text)
	}
	return s + fmt.Sprintf("/%d", p.Size)
}

var replies = []struct{ bytes, shown string }{
	{"+OK\r\n", "+OK/5"},
	{"-ERR no\r\n", "-ERR no/9"},
	{":42\r\n", ":42/5"},
	{":-9223372036854775808\r\n", ":-9223372036854775808/23"},
	{"$3\r\na\nb\r\n", "$a\nb/9"},
	{"$0\r\n\r\n", "$/6"},
	{"$-1\r\n", "$nil/5"},
	{"*-1\r\n", "$nil/5"},
	{"_\r\n", "$nil/3"},
	{"*0\r\n", "*/4"},
	{"*4\r\n$1\r\na\r\n$-1\r\n_\r\n$0\r\n\r\n", `* "a" nil nil ""/25`},
	{"*4\r\n:1\r\n-ERR\r\n*1\r\n$1\r\nx\r\n+y\r\n", `* nil nil nil "y"/29`},
	{"%1\r\n$1\r\na\r\n$1\r\nb\r\n", `* "a" "b"/18`},
	{"~1\r\n+a\r\n", `* "a"/8`},
	{"#t\r\n", ":1/4"}, {"#f\r\n", ":0/4"}, {",1.5\r\n", "+1.5/6"}, {"(123\r\n", "+123/6"},
	{"=5\r\ntxt:a\r\n", "$txt:a/11"}, {"!5\r\nERR a\r\n", "-ERR a/11"},
}

func TestRepliesAreReadHoweverTheyArrive(t *testing.T) {
	var stream string
	var want []string
	for _, r := range replies {
		stream += r.bytes + ">2\r\n+message\r\n+a\r\n|1\r\n+ttl\r\n:1\r\n"
		want = append(want, r.shown)
	}
	for name, src := range map[string]io.Reader{
		"at once": strings.NewReader(stream), "byte by byte": iotest.OneByteReader(strings.NewReader(stream)),
		"by halves": iotest.HalfReader(strings.NewReader(stream)), "with the end": iotest.DataErrReader(strings.NewReader(stream)),
	} {
		got, err := readAll(src)
		if err != io.EOF || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v\n%q\n%q", name, err, got, want)
		}
	}
}

func TestFlatReaderKeepsScalarsOfEveryDepth(t *testing.T) {
	for bytes, want := range map[string]string{
		"*2\r\n$1\r\na\r\n*3\r\n:7\r\n$-1\r\n*1\r\n+x\r\n": "a,7,,x <nil>",
		"*3\r\n+OK\r\n-ERR no\r\n-ERR again\r\n":           "OK,, ERR no",
		"*0\r\n":                                           " <nil>",
		":-3\r\n":                                          "-3 <nil>",
		"$-1\r\n":                                          " <nil>",
		"-ERR alone\r\n":                                   " ERR alone",
	} {
		r := NewReplyReader(strings.NewReader(bytes))
		r.Flat = true
		reply, err := r.Read()
		if err != nil {
			t.Fatalf("%q: %v", bytes, err)
		}
		text, err := reply.Joined()
		if got := fmt.Sprint(text, " ", err); got != want {
			t.Errorf("%q is %q, not %q", bytes, got, want)
		}
		if _, err := r.Read(); err != io.EOF || r.Buffered() != 0 {
			t.Errorf("%q leaves %d bytes, %v", bytes, r.Buffered(), err)
		}
	}
}

func TestLongRepliesAreReadAndForgotten(t *testing.T) {
	long := strings.Repeat("x", 5<<20)
	r := NewReplyReader(strings.NewReader(fmt.Sprintf("*2\r\n$%d\r\n%s\r\n$1\r\ny\r\n+OK\r\n", len(long), long)))
	var p *Reply
	for p == nil {
		if err := r.Fill(); err != nil {
			t.Fatal(err)
		}
		var err error
		if p, err = r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if string(p.Values[0]) != long || string(p.Values[1]) != "y" {
		t.Error("it is not what was sent")
	}
	if p, err := r.Next(); err != nil || p == nil || string(p.Text) != "OK" {
		t.Error(p, err)
	}
	_ = r.Fill()
	if len(r.buf) > readBuffer {
		t.Errorf("%d bytes are kept", len(r.buf))
	}
}

func TestGarbageEndsAConnectionAtOnce(t *testing.T) {
	for _, garbage := range []string{
		"HTTP/1.1 400 Bad Request\r\n", "x", "\r\n", "\n", "+OK\n", "$x\r\n", "$-2\r\n", "$99999999999999999999\r\n", ":1x\r\n", ":\r\n",
		"$1\r\nabc", "*-2\r\n", "*1\r\n?\r\n", "*99999999999\r\n", "$600000000\r\n", strings.Repeat("*1\r\n", 20),
		"*200000000\r\n", "+" + strings.Repeat("a", MaxLine+readBuffer),
	} {
		if got, err := readAll(strings.NewReader(garbage)); !errors.Is(err, ErrReply) || len(got) > 0 {
			t.Errorf("%.40q: %q, %v", garbage, got, err)
		}
	}
}

// What a server promises to send takes no memory until it is there.
func TestPromisedLengthsTakeNoMemory(t *testing.T) {
	for _, promise := range []string{"$500000000\r\nabc", "*150000000\r\n$1\r\na\r\n", "%50000000\r\n", "*1\r\n*1\r\n*100000000\r\n"} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := readAll(iotest.OneByteReader(strings.NewReader(promise)))
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; err != io.EOF || took > 1<<20 {
			t.Errorf("%q: %v, %d bytes", promise, err, took)
		}
	}
}

func TestReadingTakesNoMemory(t *testing.T) {
	stream := bytes.Repeat([]byte("+OK\r\n$5\r\nhello\r\n*2\r\n$1\r\na\r\n$-1\r\n:12\r\n"), 1000)
	src := bytes.NewReader(stream)
	r := NewReplyReader(src)
	n := testing.AllocsPerRun(10, func() {
		src.Reset(stream)
		for r.Fill() == nil {
			for p, err := r.Next(); p != nil; p, err = r.Next() {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	})
	if n > 1 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzReplies has no input end in anything but replies or an error, the same however it
// arrives.
func FuzzReplies(f *testing.F) {
	for _, r := range replies {
		f.Add([]byte(r.bytes))
	}
	f.Add([]byte("*2\r\n$500000000\r\nabc"))
	f.Fuzz(func(t *testing.T, b []byte) {
		whole, err := readAll(bytes.NewReader(b))
		bits, err2 := readAll(iotest.OneByteReader(bytes.NewReader(b)))
		if fmt.Sprint(whole) != fmt.Sprint(bits) || errors.Is(err, ErrReply) != errors.Is(err2, ErrReply) {
			t.Fatalf("at once %q, %v; byte by byte %q, %v", whole, err, bits, err2)
		}
	})
}
