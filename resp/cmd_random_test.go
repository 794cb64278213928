package resp

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
)

// Random commands of both families, sensible and not, must be answered alike.
func TestRandomStringCommandsAnswerAsRedis(t *testing.T) {
	if testing.Short() {
		t.Skip("one client that waits for each answer: nothing to see for the race detector")
	}
	seed := randomtest.Seed(t)
	commands := randomtest.Length(8000, 1000)
	differential(t, func(d *differ) {
		g := commandMaker{rand.New(rand.NewPCG(seed, 3))}
		for range commands {
			args := g.command()
			d.do(args...)
			if g.rnd.IntN(4) == 0 {
				d.do("GET", g.key())
			}
		}
		for _, key := range makerKeys {
			d.do("GET", key)
		}
	})
}

// The same in pipelines: each command sees what the ones before it did, although
// they share a commit.
func TestRandomPipelinesAnswerAsRedis(t *testing.T) {
	randomtest.DrawShort(t, 4)
	seed := randomtest.Seed(t)
	pipelines := randomtest.Length(200, 6)
	differential(t, func(d *differ) {
		g := commandMaker{rand.New(rand.NewPCG(seed, 4))}
		for range pipelines {
			var cmds [][]string
			for range 1 + g.rnd.IntN(40) {
				cmds = append(cmds, g.command())
				switch g.rnd.IntN(60) {
				case 0, 1, 2, 3:
					cmds = append(cmds, []string{"GET", g.key()})
				case 4:
					cmds = append(cmds, []string{"SET", g.key(), noise(3<<20 + g.rnd.IntN(9))})
				case 5:
					cmds = append(cmds, []string{"APPEND", g.key(), noise(200_000 + g.rnd.IntN(9))})
				}
			}
			d.pipeline(cmds)
		}
	})
}

// A commandMaker makes up commands.
type commandMaker struct{ rnd *rand.Rand }

var makerKeys = []string{"a", "b", "{a}c", "d", "e"}

func (g commandMaker) key() string { return g.pick(makerKeys...) }

func (g commandMaker) pick(words ...string) string { return words[g.rnd.IntN(len(words))] }

// number is an integer, mostly small, sometimes at an end of what is allowed, or
// none at all.
func (g commandMaker) number() string {
	switch g.rnd.IntN(12) {
	case 0:
		return g.pick("9223372036854775807", "-9223372036854775808", "9223372036854775808", "4294967296", "-1", "0", "1", "")
	case 1:
		return g.pick("abc", "1.5", " 1", "+1", "007", "1e3", "-0")
	case 2:
		return fmt.Sprint(int64(g.rnd.Uint64()))
	case 3, 4:
		return fmt.Sprint(-g.rnd.IntN(100))
	}
	return fmt.Sprint(g.rnd.IntN(100))
}

// offset is one that grows no string very far.
func (g commandMaker) offset() string {
	switch g.rnd.IntN(30) {
	case 0:
		return g.pick("-1", "abc", "9223372036854775807", "4294967296", "", "#1")
	case 1:
		return fmt.Sprint(65530 + g.rnd.IntN(12))
	case 2:
		return fmt.Sprint(524280 + g.rnd.IntN(16))
	}
	return fmt.Sprint(g.rnd.IntN(200))
}

func (g commandMaker) value() string {
	switch g.rnd.IntN(8) {
	case 0:
		return ""
	case 1, 2:
		return g.number()
	case 3:
		return g.pick("3.25", "-1e10", "0x1p3", "1e-5", "inf", "nan", "0.1")
	case 4:
		if g.rnd.IntN(10) == 0 {
			return noise(65530 + g.rnd.IntN(12))
		}
	}
	return noise(g.rnd.IntN(40))
}

// time is an expiry that will not come during the test, or has been long ago.
func (g commandMaker) time() []string {
	option := g.pick("EX", "PX", "EXAT", "PXAT", "ex", "pxat")
	if strings.HasSuffix(strings.ToUpper(option), "AT") && g.rnd.IntN(2) == 0 {
		return []string{option, "1"}
	}
	return []string{option, g.far()}
}

func (g commandMaker) far() string {
	return g.pick("100000000", "90000000000000", "0", "-1", "abc", "9223372036854775807")
}

// options is some of the given ones, and perhaps a time, in any order.
func (g commandMaker) options(words ...string) (args []string) {
	for g.rnd.IntN(3) == 0 {
		args = append(args, g.pick(words...))
	}
	if g.rnd.IntN(3) == 0 {
		args = append(args, g.time()...)
	}
	for g.rnd.IntN(5) == 0 {
		args = append(args, g.pick(words...))
	}
	return args
}

func (g commandMaker) bitRange() (args []string) {
	if n := g.rnd.IntN(4); n > 0 {
		args = []string{g.number(), g.number(), g.pick("BIT", "BYTE", "bit", "bogus")}[:n]
	}
	return args
}

func (g commandMaker) fieldOps() (args []string) {
	for range g.rnd.IntN(5) {
		if g.rnd.IntN(3) == 0 {
			args = append(args, "OVERFLOW", g.pick("WRAP", "SAT", "FAIL", "fail", "sat", "wrap"))
		}
		sign := g.pick("u", "i")
		typ := fmt.Sprint(sign, 1+g.rnd.IntN(63))
		if g.rnd.IntN(30) == 0 {
			typ = g.pick("i64", "u64", "i65", "u0", "x1", "i")
		}
		off := g.offset()
		if g.rnd.IntN(3) == 0 {
			off = fmt.Sprint("#", g.rnd.IntN(20))
		}
		switch op := g.pick("GET", "SET", "INCRBY", "set", "incrby"); op {
		case "GET":
			args = append(args, op, typ, off)
		default:
			args = append(args, op, typ, off, g.number())
		}
	}
	return args
}

func (g commandMaker) pairs() (args []string) {
	for range 1 + g.rnd.IntN(4) {
		args = append(args, g.key(), g.value())
	}
	return args
}

func (g commandMaker) keys() (args []string) {
	for range 1 + g.rnd.IntN(4) {
		args = append(args, g.key())
	}
	return args
}

func (g commandMaker) command() []string {
	with := func(name string, args ...string) []string { return append([]string{name, g.key()}, args...) }
	switch g.rnd.IntN(37) {
	case 0, 1:
		return with("SET", append([]string{g.value()}, g.options("NX", "XX", "GET", "KEEPTTL", "nx", "PERSIST")...)...)
	case 2:
		return with("SET", g.value())
	case 3:
		return with("GETEX", g.options("PERSIST")...)
	case 4:
		return with("GETDEL")
	case 5:
		return with("GETSET", g.value())
	case 6, 7:
		return with("APPEND", g.value())
	case 8, 9:
		return with("SETRANGE", g.offset(), g.value())
	case 10:
		return with("GETRANGE", g.number(), g.number())
	case 11:
		return with("SUBSTR", g.offset(), g.offset())
	case 12:
		return with("STRLEN")
	case 13:
		return with(g.pick("INCR", "DECR"))
	case 14:
		return with(g.pick("INCRBY", "DECRBY"), g.number())
	case 15:
		return with("INCRBYFLOAT", g.pick(g.number(), "0.5", "-2.25", "1e3", "abc"))
	case 16:
		return append([]string{g.pick("MSET", "MSETNX")}, g.pairs()...)
	case 17:
		return append([]string{"MGET"}, g.keys()...)
	case 18:
		return with(g.pick("SETEX", "PSETEX"), g.far(), g.value())
	case 19:
		return with("SETNX", g.value())
	case 20:
		options := g.pick("LEN", "IDX", "IDX WITHMATCHLEN", "IDX MINMATCHLEN 2", "LEN IDX", "WITHMATCHLEN")
		return with("LCS", append([]string{g.key()}, strings.Fields(options)...)...)
	case 21, 22:
		return with("SETBIT", g.offset(), g.pick("0", "1", "1", "2", "x"))
	case 23:
		return with("GETBIT", g.offset())
	case 24, 25:
		return with("BITCOUNT", g.bitRange()...)
	case 26, 27:
		return with("BITPOS", append([]string{g.pick("0", "1", "2", "x")}, g.bitRange()...)...)
	case 28:
		return append([]string{"BITOP", g.pick("AND", "OR", "XOR", "NOT", "not", "nand"), g.key()}, g.keys()...)
	case 29:
		return with("BITFIELD_RO", g.fieldOps()...)
	case 30, 31, 32, 33, 34:
		return g.newer()
	}
	return with("BITFIELD", g.fieldOps()...)
}
