package resp

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/store"
)

// Streams travel to a Redis and back, with their groups, and go on there.
func TestStreamsTravelByDumpAndRestore(t *testing.T) {
	if testing.Short() {
		t.Skip("one client that waits for each answer: nothing to see for the race detector")
	}
	seed := randomtest.Seed(t)
	rounds := randomtest.Length(25, 3)
	differential(t, func(d *differ) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		for range rounds {
			g := streamMaker{commandMaker: commandMaker{rnd}, most: 1 + rnd.IntN(50)}
			d.do("FLUSHALL")
			var cmds [][]string
			for range 1 + rnd.IntN(400) {
				cmds = append(cmds, g.command())
			}
			cmds = append(cmds, g.add("s1"), []string{"XADD", "s1", fmt.Sprint(g.next+1, "-1"), "long", noise(rnd.IntN(10_000))})
			d.sameStreams(cmds...)
			for _, payload := range []string{d.redis.Do("DUMP", "s1").Text, d.ours.Do("DUMP", "s1").Text} {
				d.do("RESTORE", "copy", "1000000", payload, "REPLACE")
				d.do("RESTORE", "s2", "0", payload, "REPLACE")
				d.do("RESTORE", "copy", "0", payload[:len(payload)/2], "REPLACE")
				d.do("RESTORE", "copy", "0", payload)
				d.sameStreams([]string{"XINFO", "STREAM", "copy", "FULL", "COUNT", "0"}, []string{"XINFO", "GROUPS", "copy"},
					[]string{"XRANGE", "copy", "-", "+"}, []string{"TYPE", "copy"})
				cmds = nil
				for range 20 {
					cmds = append(cmds, g.command())
				}
				d.sameStreams(cmds...)
				d.sameStreams([]string{"XINFO", "STREAM", "s2", "FULL", "COUNT", "0"})
			}
		}
	})
}

// A stream that nothing was removed from but by approximate trims is trimmed as Redis trims
// it: it has whole nodes.
func TestApproximateTrimsAnswerAsRedis(t *testing.T) {
	if testing.Short() {
		t.Skip("one client that waits for each answer: nothing to see for the race detector")
	}
	differential(t, func(d *differ) {
		var cmds [][]string
		for i := range 1234 {
			args := []string{"XADD", "s", "MAXLEN", "~", "350", fmt.Sprint(i + 1), "f", "v"}
			if i > 700 {
				args[2], args[4] = "MINID", fmt.Sprint(i-370)
			}
			cmds = append(cmds, args, []string{"XADD", "all", fmt.Sprint(i + 1), "f", "v"})
		}
		d.pipeline(cmds)
		d.run(`
XLEN s
XINFO GROUPS s
XRANGE s - + COUNT 1
XTRIM all MAXLEN ~ 1200
XTRIM all MAXLEN ~ 900 LIMIT 99
XTRIM all MAXLEN ~ 900 LIMIT 199
XTRIM all MINID ~ 500 LIMIT 150
XTRIM all MINID ~ 700 LIMIT 0
XTRIM all MINID ~ 705
XTRIM all MINID ~ 5
XTRIM all MAXLEN ~ 0 LIMIT 300
XLEN all
XTRIM all MAXLEN ~ 0
XLEN all
XRANGE all - +
`)
	})
}

// Each ID that XADD makes up is behind the last one, whatever the clock says.
func TestMadeUpIDsRise(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 3)
	last := o.Do("XADD", "s", "*", "a", "b").Text
	for range 50 {
		o.Do("XADD", "s", "*", "a", "b")
	}
	far := o.Do("XADD", "s", "99999999999999-18446744073709551615", "a", "b").Text
	o.Want("$100000000000000-0", "XADD", "s", "*", "a", "b")
	o.Want("$100000000000000-1", "XADD", "s", "*", "a", "b")
	ids := o.Do("XRANGE", "s", last, "+").Elems
	if len(ids) != 54 || ids[51].Elems[0].Text != far {
		t.Errorf("%d entries, %v", len(ids), ids[len(ids)-3])
	}
}

// What a command on streams may reply with is bounded, and a large reply of a command that
// only reads is made apart.
func TestLargeRepliesOfStreamsAreBounded(t *testing.T) {
	randomtest.DrawShort(t, 4)
	const limit = 4 << 20
	_, addr := serveTest(t, func(c *Config, _ *store.Config) { c.Settings.OutputBuffer = limit })
	o := resptest.Dial(t, addr, 3)
	add := func(n int) {
		var cmds [][]string
		for range n {
			cmds = append(cmds, []string{"XADD", "s", "*", "f", strings.Repeat("x", 100_000)})
		}
		o.DoAll(cmds)
	}
	add(30)
	o.Want("+OK", "XGROUP", "CREATE", "s", "g", "0")
	replies := o.DoAll([][]string{{"SET", "k", "v"}, {"XRANGE", "s", "-", "+"}, {"XREAD", "STREAMS", "s", "t", "0", "0"}, {"XINFO", "STREAM", "s", "FULL", "COUNT", "0"}, {"GET", "k"}})
	for i, n := range []int{0, 30, 2, 18, 0} {
		if got := replies[i]; len(got.Elems) != n {
			t.Errorf("reply %d has %d elements, want %d", i, len(got.Elems), n)
		}
	}
	add(30)
	for _, args := range [][]string{{"XRANGE", "s", "-", "+"}, {"XREAD", "STREAMS", "s", "0"}, {"XINFO", "STREAM", "s", "FULL", "COUNT", "0"}, {"XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">"}} {
		if got := o.Do(args...); got.Kind != '-' {
			t.Errorf("%v replies %.100s", args, got)
		}
	}
	if got := o.Do("XPENDING", "s", "g"); got.Elems[0].Text != "0" {
		t.Errorf("what was not replied is pending: %v", got)
	}
	if got := o.Do("XREADGROUP", "GROUP", "g", "c", "COUNT", "30", "STREAMS", "s", ">"); len(got.Elems) != 2 {
		t.Errorf("%.100s", got)
	}
}

// The keys that are latched are those behind the word STREAMS that is the option, not a name.
func TestGroupMayBeCalledStreams(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	o.Do("XADD", "k", "1", "a", "b")
	o.Do("XGROUP", "CREATE", "k", "STREAMS", "0")
	o.Want("*(*($k *(*($1-0 *($a $b)))))", "XREADGROUP", "COUNT", "1", "GROUP", "STREAMS", "c", "STREAMS", "k", ">")
	o.Want("_*", "XREADGROUP", "COUNT", "1", "GROUP", "STREAMS", "streams", "STREAMS", "k", ">")
	o.Want("-"+command.MsgNotInteger, "XREAD", "COUNT", "STREAMS", "STREAMS", "k", "0")
	o.Want("*(:1 $1-0 $1-0 *(*($c $1)))", "XPENDING", "k", "STREAMS")
	o.Want("_*", "XREADGROUP", "GROUP", "STREAMS", "STREAMS", "STREAMS", "k", ">")
}

// Names of groups and consumers become parts of keys on disk, so their length is bounded.
func TestNamesInStreamsAreBounded(t *testing.T) {
	_, addr := serveTest(t, func(c *Config, _ *store.Config) { c.Settings.MaxKey = 100 })
	o := resptest.Dial(t, addr, 2)
	short, long := strings.Repeat("n", 100), strings.Repeat("n", 101)
	o.Do("XADD", "k", "1", "a", "b")
	o.Want("+OK", "XGROUP", "CREATE", "k", short, "0")
	o.Want(":1", "XGROUP", "CREATECONSUMER", "k", short, short)
	for _, args := range [][]string{
		{"XGROUP", "CREATE", "k", long, "0"},
		{"XGROUP", "CREATECONSUMER", "k", short, long},
		{"XREADGROUP", "GROUP", short, long, "STREAMS", "k", ">"},
		{"XCLAIM", "k", short, long, "0", "1"},
		{"XAUTOCLAIM", "k", short, long, "0", "0"},
	} {
		o.Want("-"+command.MsgNameTooLong, args...)
	}
	_, other := serveTest(t, nil)
	p := resptest.Dial(t, other, 2)
	p.Do("XGROUP", "CREATE", "k", long, "0", "MKSTREAM")
	o.Want("-"+command.MsgNameTooLong, "RESTORE", "copy", "0", p.Do("DUMP", "k").Text)
	o.Want(":0", "EXISTS", "copy")
}
