package resp

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store/redistest"
)

// keyRows have specifications of every kind, also of those that no command of
// the table uses.
func keyRows() *commandTable {
	run := func(*Call) {}
	return buildCommandTable([]command{
		{name: "none", arity: -1, run: run},
		{name: "get", arity: 2, run: run, keys: oneKey("RO access")},
		{name: "del", arity: -2, run: run, keys: allKeys("RM delete")},
		{name: "mset", arity: -3, run: run, keys: []keySpec{{flags: "OW update", index: 1, last: -1, step: 2}}},
		{name: "lcs", arity: -3, run: run, keys: []keySpec{{flags: "RO", index: 1, last: 1, step: 1}}},
		{name: "bitop", arity: -4, run: run, keys: []keySpec{
			{flags: "OW update", index: 2, step: 1},
			{flags: "RO access", index: 3, last: -1, step: 1},
		}},
		{name: "blpop", arity: -3, run: run, keys: []keySpec{{flags: "RW", index: 1, last: -2, step: 1}}},
		{name: "eval", arity: -3, run: run, flags: flagNoMandatoryKeys, keys: []keySpec{
			{flags: "RW access update", notes: "any", index: 2, step: 1, keynum: true, first: 1},
		}},
		{name: "zunionstore", arity: -4, run: run, keys: []keySpec{
			{flags: "OW update", index: 1, step: 1},
			{flags: "RO access", index: 2, step: 1, keynum: true, first: 1},
		}},
		{name: "xread", arity: -4, run: run, keys: []keySpec{
			{flags: "RO access", keyword: "STREAMS", from: 1, last: -1, step: 1, limit: 2},
		}},
		{name: "migrate", arity: -6, run: run, keys: []keySpec{
			{flags: "RW access delete", index: 3, step: 1},
			{flags: "RW access delete incomplete", keyword: "KEYS", from: -2, last: -1, step: 1},
		}},
		{name: "georadius", arity: -6, run: run, keys: []keySpec{
			{flags: "RO access", index: 1, step: 1},
			{flags: "OW update", keyword: "STORE", from: 6, step: 1},
			{flags: "OW update", keyword: "STOREDIST", from: 6, step: 1},
		}},
		{name: "sort", arity: -2, run: run, keys: []keySpec{
			{flags: "RO access", index: 1, step: 1},
			{flags: "RO access", notes: "any", unknown: true},
			{flags: "OW update", notes: "any", unknown: true},
		}},
		{name: "ssubscribe", arity: -2, run: run, keys: allKeys("not_key")},
	})
}

func TestKeysOf(t *testing.T) {
	table := keyRows()
	for _, test := range []struct {
		line, want string // keys with r or w before them; or the error
	}{
		{"none a b", ""},
		{"get a", "r:a"},
		{"del a", "w:a"},
		{"del a b c", "w:a w:b w:c"},
		{"mset a 1 b 2", "w:a w:b"},
		{"mset a 1 b", "w:a w:b"},
		{"lcs a b IDX", "r:a r:b"},
		{"bitop and d a b", "w:d r:a r:b"},
		{"blpop a b 0", "w:a w:b"},
		{"eval s 2 a b c", "w:a w:b"},
		{"eval s 0 a", ""},
		{"eval s x a", ""},
		{"eval s 3 a", ""},
		{"zunionstore d 2 a b WEIGHTS 1 2", "w:d r:a r:b"},
		{"zunionstore d 0 a", "error"},
		{"zunionstore d 3 a b", "error"},
		{"zunionstore d -1 a", "error"},
		{"zunionstore d +1 a", "error"},
		{"zunionstore d 01 a", "error"},
		{"zunionstore d 1.0 a", "error"},
		{"zunionstore d 9223372036854775807 a", "error"},
		{"zunionstore d 18446744073709551617 a", "error"},
		{"zunionstore d 4294967297 a", "error"},
		{"zunionstore d  a", "error"},
		{"xread COUNT 5 streams a b 0 0", "r:a r:b"},
		{"xread STREAMS a b 0", "r:a"},
		{"xread COUNT 5 a b", ""},
		{"xread a b STREAMS", ""},
		{"xread a STREAMS b", "error"},
		{"migrate h 1 a 0 10 COPY", "w:a"},
		{"migrate h 1  0 10 keys a b", "w: w:a w:b"},
		{"georadius a 1 1 1 m STORE b", "r:a w:b"},
		{"georadius a 1 1 1 m STORE", "r:a"},
		{"georadius store 1 1 1 m", "r:store"},
		{"sort a", "error"},
		{"ssubscribe a", ""},
	} {
		args := words(test.line)
		c, text := table.lookup(args)
		if text != "" {
			t.Errorf("%s: %s", test.line, text)
			continue
		}
		before := []keyRef{{pos: -1}}
		refs, err := c.keysOf(args, before)
		if len(refs) == 0 || refs[0] != before[0] || err != nil && len(refs) != 1 {
			t.Errorf("%s: %v, %v: what was there before is changed", test.line, refs, err)
			continue
		}
		var got []string
		for _, ref := range refs[1:] {
			mode := "r"
			if c.keys[ref.spec].write {
				mode = "w"
			}
			got = append(got, fmt.Sprintf("%s:%s", mode, args[ref.pos]))
		}
		if err != nil {
			got = []string{"error"}
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s: keys %q, want %q", test.line, got, test.want)
		}
	}
}

// Whatever a client sends, the positions lie within the arguments.
func FuzzKeysOf(f *testing.F) {
	table := keyRows()
	f.Add("zunionstore d 2 a b")
	f.Add("migrate h 1 a 0 10 keys a b")
	f.Add("xread streams streams a")
	f.Fuzz(func(t *testing.T, line string) {
		args := words(line)
		c, text := table.lookup(args)
		if text != "" {
			return
		}
		refs, _ := c.keysOf(args, nil)
		if len(refs) > len(c.keys)*len(args) {
			t.Fatalf("%q: %d keys", line, len(refs))
		}
		for _, ref := range refs {
			if ref.pos < 1 || ref.pos >= len(args) || ref.spec < 0 || ref.spec >= len(c.keys) {
				t.Fatalf("%q: %+v", line, ref)
			}
		}
	})
}

// TestKeySpecsAgainstRedis compares what COMMAND INFO shows of them.
func TestKeySpecsAgainstRedis(t *testing.T) {
	addr := redistest.Start7(t)
	srv := &Server{table: keyRows()}
	for proto := 2; proto <= 3; proto++ {
		o := dialRedis(t, addr, proto)
		for _, name := range []string{"eval", "zunionstore", "xread", "migrate", "georadius", "sort", "ssubscribe"} {
			want := o.do("COMMAND", "INFO", name).elems[0]
			x := &call{Call: Call{Writer: &wire.Writer{Proto: proto}, args: words("command info " + name)}, srv: srv}
			cmdCommandInfo(x)
			got, err := readValue(bufio.NewReader(bytes.NewReader(x.Buf)))
			if err != nil {
				t.Fatal(err)
			}
			got = got.elems[0]
			comparableInfo(srv.table, &want)
			comparableInfo(srv.table, &got)
			for _, place := range []int{3, 4, 5, 8} {
				if got.elems[place].String() != want.elems[place].String() {
					t.Errorf("%s, RESP%d:\n got %v\nwant %v", name, proto, got.elems[place], want.elems[place])
				}
			}
		}
	}
}

func TestLegacyKeys(t *testing.T) {
	table := keyRows()
	for _, test := range []struct {
		name              string
		first, last, step int
		movable           bool
	}{
		{"none", 0, 0, 0, false},
		{"mset", 1, -1, 2, false},
		{"lcs", 1, 2, 1, false},
		{"bitop", 2, -1, 1, false},
		{"blpop", 1, -2, 1, false},
		{"eval", 0, 0, 0, true},
		{"zunionstore", 1, 1, 1, true},
		{"xread", 0, 0, 0, true},
		{"migrate", 3, 3, 1, true},
		{"sort", 1, 1, 1, true},
		{"ssubscribe", 1, -1, 1, false},
	} {
		c := table.named([]byte(test.name))
		first, last, step, _ := legacyKeys(c.keys)
		movable := c.flags&flagMovableKeys != 0
		if first != test.first || last != test.last || step != test.step || movable != test.movable {
			t.Errorf("%s: %d %d %d, movable %v; want %+v", test.name, first, last, step, movable, test)
		}
	}
}

func TestKeysOfDoesNotAllocate(t *testing.T) {
	table := newCommandTable()
	for _, line := range []string{"get a", "mset a 1 b 2", "bitop and d a b"} {
		args := words(line)
		c, _ := table.lookup(args)
		var room [8]keyRef
		if n := testing.AllocsPerRun(100, func() { c.keysOf(args, room[:0]) }); n != 0 {
			t.Errorf("%s: %v allocations", line, n)
		}
	}
}

func BenchmarkKeysOf(b *testing.B) {
	table := newCommandTable()
	var room [8]keyRef
	for _, line := range []string{"get a", "mset a 1 b 2 c 3"} {
		args := words(line)
		c, _ := table.lookup(args)
		b.Run(line, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.keysOf(args, room[:0])
			}
		})
	}
}
