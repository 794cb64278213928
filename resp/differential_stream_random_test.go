package resp

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// timeless blanks what depends on the time, or on how Redis keeps streams, in a reply.
func timeless(args []string, v resptest.Value) resptest.Value {
	switch name := strings.ToUpper(args[0]); {
	case name == "XPENDING" && len(args) > 3:
		for i := range v.Elems {
			blankAt(&v.Elems[i], 2)
		}
	case name == "XINFO" && strings.EqualFold(args[1], "CONSUMERS"):
		for i := range v.Elems {
			blank(v.Elems[i].Field("idle"))
		}
	case name == "XINFO" && strings.EqualFold(args[1], "STREAM") && v.Field("length") != nil:
		blank(v.Field("radix-tree-keys"))
		blank(v.Field("radix-tree-nodes"))
		if groups := v.Field("groups"); groups.Kind == '*' {
			for i := range groups.Elems {
				blankGroup(&groups.Elems[i])
			}
		}
	}
	return v
}

// blankGroup is for what XINFO STREAM FULL says of a group.
func blankGroup(g *resptest.Value) {
	for _, p := range g.Field("pending").Elems {
		blankAt(&p, 2)
	}
	for _, c := range g.Field("consumers").Elems {
		blank(c.Field("seen-time"))
		for _, p := range c.Field("pending").Elems {
			blankAt(&p, 1)
		}
	}
}

func blankAt(v *resptest.Value, i int) {
	if i < len(v.Elems) {
		blank(&v.Elems[i])
	}
}

// sameStreams sends a pipeline and compares the replies, but for times.
func (d *differ) sameStreams(cmds ...[]string) {
	d.t.Helper()
	want, got := redisAll(d.redis, cmds), d.ours.DoAll(cmds)
	for i, args := range cmds {
		d.note(args)
		withoutNewer(args, &got[i])
		if timeless(args, got[i]).String() != timeless(args, want[i]).String() {
			d.differs(args, got[i], want[i])
		}
	}
}

// A streamMaker makes up commands on streams.
type streamMaker struct {
	commandMaker
	next int // about the ms of the newest ID
	most int // entries that are added at a time
}

// readID is an ID for XREAD and XREADGROUP, to which "+" means something since Redis 7.4.
func (g *streamMaker) readID() string {
	if id := g.id(); id != "+" {
		return id
	}
	return "-"
}

func (g *streamMaker) id() string {
	switch g.rnd.IntN(30) {
	case 0:
		return g.pick("0", "0-0", "x", "18446744073709551615-18446744073709551615", "-", "+", "$", ">", "1-*", "5-18446744073709551615")
	case 1:
		return g.number()
	}
	return fmt.Sprint(max(0, g.next-g.rnd.IntN(3*g.most)), g.pick("", "-0", "-1", "-2"))
}

func (g *streamMaker) bound(word string) string {
	if g.rnd.IntN(2) == 0 {
		return word
	}
	return g.pick("", "", "(") + g.id()
}

func (g *streamMaker) add(key string) []string {
	g.next += g.rnd.IntN(3)
	args := []string{"XADD", key}
	switch g.rnd.IntN(12) {
	case 0:
		args = append(args, "MAXLEN", fmt.Sprint(g.rnd.IntN(4*g.most)))
	case 1:
		args = append(args, "MINID", "=", g.id())
	case 2:
		args = append(args, "NOMKSTREAM")
	}
	id := fmt.Sprint(g.next, g.pick("-*", "-*", "-1", ""))
	if g.rnd.IntN(30) == 0 {
		id = g.id()
		if id == "18446744073709551615-18446744073709551615" || id == "+" {
			id = "3" // or there would be no other behind it
		}
		if n, err := strconv.Atoi(strings.Split(id, "-")[0]); err != nil || n > g.next {
			id = "7-*"
		}
	}
	args = append(args, id)
	for range 1 + g.rnd.IntN(3) {
		value := g.number()
		if g.rnd.IntN(10) == 0 {
			value = noise(g.rnd.IntN(100))
		}
		args = append(args, g.pick("a", "b", "c", "field"), value)
	}
	return args
}

func (g *streamMaker) key() string {
	if g.rnd.IntN(60) == 0 {
		return g.pick("text", "nope")
	}
	return g.pick("s1", "s1", "s2")
}

func (g *streamMaker) group() string {
	if g.rnd.IntN(40) == 0 {
		return "nope"
	}
	return g.pick("g1", "g1", "g2")
}

func (g *streamMaker) consumer() string { return g.pick("c1", "c2", "c3", "\x00\xff") }

func (g *streamMaker) ids() (ids []string) {
	for range 1 + g.rnd.IntN(5) {
		ids = append(ids, g.id())
	}
	return ids
}

func (g *streamMaker) idle() string { return g.pick("0", "0", "0", "500000", "-1") }

func (g *streamMaker) command() []string {
	key, group, consumer := g.key(), g.group(), g.consumer()
	count := g.pick("1", "2", "7", "100")
	switch g.rnd.IntN(46) {
	case 40, 41, 42, 43, 44:
		return g.newerStream(key, group)
	case 0, 1:
		return append([]string{"XDEL", key}, g.ids()...)
	case 2:
		return []string{"XLEN", key}
	case 3, 4:
		args := []string{"XRANGE", key, g.bound("-"), g.bound("+")}
		if g.rnd.IntN(2) == 0 {
			args = append(args, "COUNT", count)
		}
		return args
	case 5:
		return []string{"XREVRANGE", key, g.bound("+"), g.bound("-"), "COUNT", count}
	case 6:
		return []string{"XREAD", "COUNT", count, "STREAMS", key, g.key(), g.readID(), g.readID()}
	case 7:
		return []string{"XTRIM", key, "MAXLEN", fmt.Sprint(g.rnd.IntN(6 * g.most))}
	case 8:
		return []string{"XTRIM", key, "MINID", g.id()}
	case 9, 10, 11, 12:
		args := []string{"XREADGROUP", "GROUP", group, consumer, "COUNT", count, "STREAMS", key, ">"}
		if g.rnd.IntN(10) == 0 {
			args = slices.Insert(args, 4, "NOACK")
		}
		return args
	case 13:
		return []string{"XREADGROUP", "GROUP", group, consumer, "COUNT", count, "STREAMS", "s1", "s2", ">", g.pick(">", "0", g.readID())}
	case 14:
		return []string{"XREADGROUP", "GROUP", group, consumer, "STREAMS", key, g.readID()}
	case 15, 16, 17:
		return append([]string{"XACK", key, group}, g.ids()...)
	case 18:
		return []string{"XPENDING", key, group}
	case 19:
		args := []string{"XPENDING", key, group, "IDLE", g.idle(), g.bound("-"), g.bound("+"), count}
		if g.rnd.IntN(2) == 0 {
			args = append(args, consumer)
		}
		return args
	case 20, 21:
		return append(append([]string{"XCLAIM", key, group, consumer, g.idle()}, g.ids()...), g.claimOptions()...)
	case 22, 23:
		args := []string{"XAUTOCLAIM", key, group, consumer, g.idle(), g.bound("-"), "COUNT", count}
		if g.rnd.IntN(3) == 0 {
			args = append(args, "JUSTID")
		}
		return args
	case 24:
		return []string{"XINFO", "STREAM", key}
	case 25:
		return []string{"XINFO", "STREAM", key, "FULL", "COUNT", g.pick("0", "1", "3", "-1")}
	case 26:
		return []string{"XINFO", "GROUPS", key}
	case 27:
		return []string{"XINFO", "CONSUMERS", key, group}
	case 28:
		return g.groupCommand(key, group, consumer)
	case 29:
		switch g.rnd.IntN(8) {
		case 0:
			return []string{"DEL", key}
		case 1:
			return []string{"COPY", "s1", "s2", "REPLACE"}
		case 2:
			return []string{"XSETID", key, g.id(), "ENTRIESADDED", fmt.Sprint(g.rnd.IntN(100)), "MAXDELETEDID", g.id()}
		}
	}
	return g.add(key)
}

func (g *streamMaker) claimOptions() (args []string) {
	for range g.rnd.IntN(3) {
		args = append(args, [][]string{
			{"FORCE"}, {"FORCE"}, {"JUSTID"}, {"IDLE", "1000000"}, {"TIME", "5"}, {"RETRYCOUNT", "7"}, {"LASTID", g.id()}, {"BOGUS"},
		}[g.rnd.IntN(8)]...)
	}
	return args
}

func (g *streamMaker) groupCommand(key, group, consumer string) []string {
	if group == "nope" || key == "nope" {
		return []string{"XGROUP", "CREATECONSUMER", key, group, consumer}
	}
	switch g.rnd.IntN(8) {
	case 0:
		return []string{"XGROUP", "DESTROY", key, group}
	case 1:
		return []string{"XGROUP", "SETID", key, group, g.id()}
	case 2:
		return []string{"XGROUP", "SETID", key, group, g.id(), "ENTRIESREAD", fmt.Sprint(g.rnd.IntN(20))}
	case 3:
		return []string{"XGROUP", "DELCONSUMER", key, group, consumer}
	case 4:
		return []string{"XGROUP", "CREATECONSUMER", key, group, consumer}
	}
	return []string{"XGROUP", "CREATE", key, group, g.pick("0", "$", g.id()), "MKSTREAM"}
}

// Random commands on streams must be answered alike, alone and in pipelines.
func TestRandomStreamCommandsAnswerAsRedis(t *testing.T) {
	seed := randomtest.Seed(t)
	pipelines := randomtest.Length(1500, 60)
	for _, most := range []int{3, 40} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			differential(t, func(d *differ) {
				g := streamMaker{commandMaker: commandMaker{rand.New(rand.NewPCG(seed, uint64(most)))}, most: most}
				d.do("SET", "text", "x")
				for range pipelines {
					var cmds [][]string
					for range 1 + g.rnd.IntN(12) {
						cmds = append(cmds, g.command())
					}
					d.sameStreams(cmds...)
				}
				for _, key := range []string{"s1", "s2"} {
					d.sameStreams([]string{"XINFO", "STREAM", key, "FULL", "COUNT", "0"})
				}
			})
		})
	}
}
