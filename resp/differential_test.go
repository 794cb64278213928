package resp

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// A differ sends the same commands to a real Redis and to Ringside and fails the
// test where the replies differ.
type differ struct {
	t           *testing.T
	proto       int
	redis, ours *oracle
	// sent holds what was sent, oldest first, to show how a difference came about.
	sent []string
}

// differential runs f in RESP2 and in RESP3, each time on empty servers.
func differential(t *testing.T, f func(d *differ)) {
	t.Helper()
	redis := startRedis(t)
	for proto := 2; proto <= 3; proto++ {
		t.Run(fmt.Sprintf("RESP%d", proto), func(t *testing.T) {
			_, addr := serveTest(t, nil)
			d := &differ{t: t, proto: proto, redis: dialRedis(t, redis, proto), ours: dialRedis(t, addr, proto)}
			d.redis.do("FLUSHALL")
			f(d)
		})
	}
}

// run runs a script: a command on each line, words separated by spaces. A word in
// double quotes is a Go string literal. Empty lines and those that start with # do
// not count.
func (d *differ) run(script string) {
	d.t.Helper()
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		words, err := splitWords(line)
		if err != nil {
			d.t.Fatalf("%s: %v", line, err)
		}
		d.do(words...)
	}
}

// do runs one command and compares the replies exactly.
func (d *differ) do(args ...string) respValue {
	d.t.Helper()
	want, got := d.both(args)
	if got.String() != want.String() {
		d.differs(args, got, want)
	}
	return want
}

// near runs a command that answers with an integer, like TTL, and allows it to
// differ by some.
func (d *differ) near(by int64, args ...string) {
	d.t.Helper()
	want, got := d.both(args)
	w, err1 := strconv.ParseInt(want.text, 10, 64)
	g, err2 := strconv.ParseInt(got.text, 10, 64)
	if err1 != nil || err2 != nil || want.kind != ':' || got.kind != ':' || g < w-by || g > w+by {
		d.differs(args, got, want)
	}
}

func (d *differ) both(args []string) (want, got respValue) {
	d.t.Helper()
	d.sent = append(d.sent, shorten(fmt.Sprintf("%q", args)))
	if len(d.sent) > 40 {
		d.sent = d.sent[1:]
	}
	return d.redis.do(args...), d.ours.do(args...)
}

func (d *differ) differs(args []string, got, want respValue) {
	d.t.Helper()
	d.t.Fatalf("%s:\n got %s\nwant %s\nafter\n%s", shorten(fmt.Sprintf("%q", args)),
		shorten(fmt.Sprintf("%q", got.String())), shorten(fmt.Sprintf("%q", want.String())),
		strings.Join(d.sent, "\n"))
}

func shorten(s string) string {
	if len(s) > 600 {
		return fmt.Sprintf("%s… (%d bytes)", s[:600], len(s))
	}
	return s
}

// splitWords splits a line of a script into words.
func splitWords(line string) (words []string, err error) {
	for line = strings.TrimLeft(line, " "); line != ""; line = strings.TrimLeft(line, " ") {
		var word string
		if line[0] == '"' {
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				return nil, err
			}
			if word, err = strconv.Unquote(quoted); err != nil {
				return nil, err
			}
			line = line[len(quoted):]
		} else {
			word, line, _ = strings.Cut(line, " ")
		}
		words = append(words, word)
	}
	return words, nil
}

func TestSplitWords(t *testing.T) {
	words, err := splitWords(`SET  k "a b\x00\"" 1`)
	if got := fmt.Sprintf("%q", words); err != nil || got != `["SET" "k" "a b\x00\"" "1"]` {
		t.Errorf("%s %v", got, err)
	}
}
