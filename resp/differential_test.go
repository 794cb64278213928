package resp

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// A differ sends the same commands to a real Redis and to Ringside and fails the
// test where the replies differ.
type differ struct {
	t           *testing.T
	proto       int
	redis, ours *resptest.Conn
	// sent holds the last commands, oldest first, to show how a difference came about.
	sent [][]string
}

// differential runs f in RESP2 and in RESP3, each time on empty servers.
func differential(t *testing.T, f func(d *differ)) {
	t.Helper()
	differentialIn(t, []int{2, 3}, f)
}

// differentialInOne is differential in one version of the protocol, drawn anew in each run, for
// values of many megabytes, whose replies are the same in both. With RINGSIDE_LONG, as in go tool
// task test:random, it takes both.
func differentialInOne(t *testing.T, f func(d *differ)) {
	t.Helper()
	protos := []int{2, 3}
	if i := rand.IntN(2); os.Getenv("RINGSIDE_LONG") == "" {
		protos = protos[i : i+1]
	}
	differentialIn(t, protos, f)
}

func differentialIn(t *testing.T, protos []int, f func(d *differ)) {
	t.Helper()
	redis := redistest.Start7(t)
	for _, proto := range protos {
		t.Run(fmt.Sprintf("RESP%d", proto), func(t *testing.T) {
			_, addr := serveTest(t, nil)
			d := &differ{t: t, proto: proto, redis: resptest.Dial(t, redis, proto), ours: resptest.Dial(t, addr, proto)}
			d.redis.Do("FLUSHALL")
			smallSetsOf70(t, d.ours)
			f(d)
		})
	}
}

// run runs a script: a command on each line, words separated by spaces. A word in
// double quotes is a Go string literal. Empty lines and those that start with # do
// not count.
func (d *differ) run(script string) {
	d.t.Helper()
	d.runBy(script, d.do)
}

// runBy is run with another way to run a command.
func (d *differ) runBy(script string, do func(args ...string) resptest.Value) {
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
		do(words...)
	}
}

// do runs one command and compares the replies exactly.
func (d *differ) do(args ...string) resptest.Value {
	want, got := d.both(args)
	if got.String() != want.String() {
		d.t.Helper()
		d.differs(args, got, want)
	}
	return want
}

// pipeline sends several commands at once and compares all replies.
func (d *differ) pipeline(cmds [][]string) {
	d.t.Helper()
	want, got := redisAll(d.redis, cmds), d.ours.DoAll(cmds)
	for i, args := range cmds {
		d.note(args)
		withoutNewer(args, &got[i])
		if got[i].String() != want[i].String() {
			d.differs(args, got[i], want[i])
		}
	}
}

func (d *differ) both(args []string) (want, got resptest.Value) {
	d.note(args)
	want, got = redisAll(d.redis, [][]string{args})[0], d.ours.Do(args...)
	withoutNewer(args, &got)
	return want, got
}

// redisAll sends commands to Redis 7.0 such that it does what later ones do: a consumer is created, too, if
// it gets nothing.
func redisAll(o *resptest.Conn, cmds [][]string) (replies []resptest.Value) {
	var batch [][]string
	for i, args := range cmds {
		batch = append(batch, as70(args))
		create := consumersOf(args)
		if len(create) == 0 && i < len(cmds)-1 {
			continue
		}
		all := o.DoAll(batch)
		for j := range all {
			inOneSpelling(batch[j], &all[j])
		}
		replies, batch = append(replies, all...), nil
		if last := all[len(all)-1]; len(create) > 0 && last.Kind != '-' && last.Text != "QUEUED" {
			o.DoAll(create)
		}
	}
	return replies
}

// consumersOf returns commands that create the consumers which a command reads or claims for.
func consumersOf(args []string) (create [][]string) {
	name := strings.ToUpper(args[0])
	if name == "XCLAIM" || name == "XAUTOCLAIM" {
		if len(args) > 3 {
			create = append(create, []string{"XGROUP", "CREATECONSUMER", args[1], args[2], args[3]})
		}
		return create
	}
	if name != "XREADGROUP" || len(args) < 7 {
		return nil
	}
	at := slices.IndexFunc(args, func(word string) bool { return strings.EqualFold(word, "STREAMS") })
	for n := (len(args) - 1 - at) / 2; at > 0 && n > 0; n-- {
		create = append(create, []string{"XGROUP", "CREATECONSUMER", args[at+n], args[2], args[3]})
	}
	return create
}

// newerFields are what XINFO says of groups and consumers since Redis 7.2 and 8.8.
var newerFields = []string{"inactive", "active-time", "nacked-count"}

// withoutNewer takes out of a reply what Redis 7.0 does not say.
func withoutNewer(args []string, v *resptest.Value) {
	inWordsOf70(v)
	inOneSpelling(args, v)
	if !strings.EqualFold(args[0], "XINFO") {
		return
	}
	for i := 0; i < len(v.Elems); i++ {
		withoutNewer(args, &v.Elems[i])
		if slices.Contains(newerFields, v.Elems[i].Text) {
			v.Elems = slices.Delete(v.Elems, i, i+2)
			i--
		}
	}
}

func (d *differ) note(args []string) {
	d.sent = append(d.sent, slices.Clone(args))
	if len(d.sent) > 40 {
		d.sent = d.sent[1:]
	}
}

func (d *differ) differs(args []string, got, want resptest.Value) {
	d.t.Helper()
	var sent []string
	for _, args := range d.sent {
		sent = append(sent, quote(args))
	}
	d.t.Fatalf("%s:\n got %s\nwant %s\nafter\n%s", quote(args),
		shorten(got.String()), shorten(want.String()),
		strings.Join(sent, "\n"))
}

// quote shows a command.
func quote(args []string) string {
	var words []string
	for _, a := range args {
		words = append(words, shorten(a))
	}
	return strings.Join(words, " ")
}

// shorten quotes a text, or the beginning of a long one.
func shorten(s string) string {
	if len(s) > 300 {
		return fmt.Sprintf("%q… (%d bytes)", s[:300], len(s))
	}
	return strconv.Quote(s)
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
