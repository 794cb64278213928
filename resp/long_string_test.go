package resp

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/store"
)

// Strings of many pieces.
func TestLongStringsAnswerAsRedis(t *testing.T) {
	if testing.Short() {
		t.Skip("one client that waits for each answer: nothing to see for the race detector")
	}
	differentialInOne(t, func(d *differ) {
		for i, size := range []int{65535, 65536, 65537, 131072, 1 << 20, 1<<20 + 1, 5 << 20} {
			key := fmt.Sprint("long", i)
			d.do("SET", key, noise(size))
			d.do("APPEND", key, noise(i*1000))
			d.do("APPEND", key, noise(70_000))
			d.do("GET", key)
			for _, off := range []int{0, 65535, 65536, size - 1, size, size + 200_000} {
				d.do("SETRANGE", key, fmt.Sprint(off), noise(3))
				d.do("SETRANGE", key, fmt.Sprint(off), noise(65537))
				d.do("GETRANGE", key, fmt.Sprint(off-2), fmt.Sprint(off+65540))
				d.do("SETBIT", key, fmt.Sprint(off*8+5), "1")
				d.do("BITCOUNT", key)
			}
			d.do("GETRANGE", key, "3", "-3")
			d.do("STRLEN", key)
			d.do("INCR", key)
			d.do("INCRBYFLOAT", key, "1")
			d.do("MGET", key, "none", key)
			d.do("SET", key, "short", "GET")
			d.do("GETSET", key, noise(size))
			d.do("GETDEL", key)
		}
	})
}

func TestSparseStringsAnswerAsRedis(t *testing.T) {
	if testing.Short() {
		t.Skip("needs 512 MiB for Redis")
	}
	differentialInOne(t, func(d *differ) {
		d.run(`
SETRANGE far 100000000 end
GETRANGE far 99999990 -1
GETRANGE far 0 10
BITCOUNT far
BITPOS far 1
BITPOS far 0
BITPOS far 1 50000000
SETBIT top 4294967295 1
STRLEN top
BITCOUNT top
BITPOS top 1
GETBIT top 4294967295
GETBIT top 4294967294
SETBIT top 0 1
BITPOS top 1 1
APPEND top x
`)
	})
}

// A pipeline is answered like the same commands one by one, although its writes
// wait for a common commit, and long replies for one of their own.
func TestPipelineReadsItsOwnWrites(t *testing.T) {
	_, addr := serveTest(t, nil)
	c := resptest.Dial(t, addr, 2)
	long := noise(5 << 20)
	var cmds [][]string
	var want []string
	add := func(reply string, args ...string) {
		cmds = append(cmds, args)
		want = append(want, reply)
	}
	add("+OK", "SET", "a", "1")
	add("+OK", "SET", "k", long)
	for i := range 20 {
		add(fmt.Sprint(":", len(long)+i+1), "APPEND", "k", "x")
		add("$x", "GETRANGE", "k", "-1", "-1")
	}
	add("$"+long+strings.Repeat("x", 20), "GET", "k")
	add(":2", "INCR", "a")
	add("$"+long+strings.Repeat("x", 20), "GET", "k")
	add("$"+long+strings.Repeat("x", 20), "GET", "k")
	add("$2", "GET", "a")
	for i, got := range c.DoAll(cmds) {
		if got.String() != want[i] {
			t.Fatalf("reply %d: %s, want %s", i, shorten(got.String()), shorten(want[i]))
		}
	}
}

// Limits are refused in Redis' words, and leave what is there.
func TestLimitsOfStrings(t *testing.T) {
	_, addr := serveTest(t, func(cfg *Config, _ *store.Config) {
		cfg.Settings.MaxValue = 200_000
		cfg.Settings.OutputBuffer = 150_000
	})
	c := resptest.Dial(t, addr, 2)
	for _, step := range []struct {
		args []string
		want string
	}{
		{[]string{"SETRANGE", "k", "199999", "x"}, ":200000"},
		{[]string{"SETRANGE", "k", "199999", "xy"}, "-" + command.MsgTooLong},
		{[]string{"APPEND", "k", "x"}, "-" + command.MsgTooLong},
		{[]string{"SETBIT", "k", "1600000", "1"}, "-" + command.MsgBitOffset},
		{[]string{"SETBIT", "k", "1599999", "1"}, ":0"},
		{[]string{"BITFIELD", "k", "SET", "u8", "1599993", "1"}, "-" + command.MsgBitOffset},
		{[]string{"BITFIELD", "k", "GET", "u8", "1599993"}, "*(:242)"},
		{[]string{"LCS", "k", "k"}, "-ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len"},
		{[]string{"GETDEL", "k"}, "-" + command.MsgReplyTooLarge},
		{[]string{"GETSET", "k", "x"}, "-" + command.MsgReplyTooLarge},
		{[]string{"SET", "k", "x", "GET"}, "-" + command.MsgReplyTooLarge},
		{[]string{"MGET", "none", "k"}, "-" + command.MsgReplyTooLarge},
		{[]string{"STRLEN", "k"}, ":200000"},
		{[]string{"GETRANGE", "k", "199999", "-1"}, "$y"},
		{[]string{"GET", "k"}, "$" + strings.Repeat("\x00", 199_999) + "y"},
	} {
		if got := c.Do(step.args...).String(); got != step.want {
			t.Errorf("%q: %s, want %s", step.args, shorten(got), step.want)
		}
	}
}

// noise is text of n bytes without repetitions that an offset could hide behind.
func noise(n int) string {
	rnd := rand.New(rand.NewPCG(uint64(n), 7))
	b := make([]byte, 0, n+8)
	for len(b) < n {
		b = binary.LittleEndian.AppendUint64(b, rnd.Uint64())
	}
	return string(b[:n])
}
