package resp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

// keyRows have specifications of every kind, also of those that no command of
// the table uses.
func keyRows() *command.Table {
	run := func(*command.Call) {}
	return command.NewTable([]command.Row{
		{Name: "none", Arity: -1, Run: run},
		{Name: "get", Arity: 2, Run: run, Keys: command.OneKey("RO access")},
		{Name: "del", Arity: -2, Run: run, Keys: command.AllKeys("RM delete")},
		{Name: "mset", Arity: -3, Run: run, Keys: []command.KeySpec{{Flags: "OW update", Index: 1, Last: -1, Step: 2}}},
		{Name: "lcs", Arity: -3, Run: run, Keys: []command.KeySpec{{Flags: "RO", Index: 1, Last: 1, Step: 1}}},
		{Name: "bitop", Arity: -4, Run: run, Keys: []command.KeySpec{
			{Flags: "OW update", Index: 2, Step: 1},
			{Flags: "RO access", Index: 3, Last: -1, Step: 1},
		}},
		{Name: "blpop", Arity: -3, Run: run, Keys: []command.KeySpec{{Flags: "RW", Index: 1, Last: -2, Step: 1}}},
		{Name: "eval", Arity: -3, Run: run, Flags: command.FlagNoMandatoryKeys, Keys: []command.KeySpec{
			{Flags: "RW access update", Notes: "any", Index: 2, Step: 1, Keynum: true, First: 1},
		}},
		{Name: "zunionstore", Arity: -4, Run: run, Keys: []command.KeySpec{
			{Flags: "OW update", Index: 1, Step: 1},
			{Flags: "RO access", Index: 2, Step: 1, Keynum: true, First: 1},
		}},
		{Name: "xread", Arity: -4, Run: run, Keys: []command.KeySpec{
			{Flags: "RO access", Keyword: "STREAMS", From: 1, Last: -1, Step: 1, Limit: 2},
		}},
		{Name: "migrate", Arity: -6, Run: run, Keys: []command.KeySpec{
			{Flags: "RW access delete", Index: 3, Step: 1},
			{Flags: "RW access delete incomplete", Keyword: "KEYS", From: -2, Last: -1, Step: 1},
		}},
		{Name: "georadius", Arity: -6, Run: run, Keys: []command.KeySpec{
			{Flags: "RO access", Index: 1, Step: 1},
			{Flags: "OW update", Keyword: "STORE", From: 6, Step: 1},
			{Flags: "OW update", Keyword: "STOREDIST", From: 6, Step: 1},
		}},
		{Name: "sort", Arity: -2, Run: run, Keys: []command.KeySpec{
			{Flags: "RO access", Index: 1, Step: 1},
			{Flags: "RO access", Notes: "any", Unknown: true},
			{Flags: "OW update", Notes: "any", Unknown: true},
		}},
		{Name: "ssubscribe", Arity: -2, Run: run, Keys: command.AllKeys("not_key")},
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
		c, text := table.Lookup(args)
		if text != "" {
			t.Errorf("%s: %s", test.line, text)
			continue
		}
		before := []command.KeyRef{{Pos: -1}}
		refs, err := c.KeysOf(args, before)
		if len(refs) == 0 || refs[0] != before[0] || err != nil && len(refs) != 1 {
			t.Errorf("%s: %v, %v: what was there before is changed", test.line, refs, err)
			continue
		}
		var got []string
		for _, ref := range refs[1:] {
			mode := "r"
			if c.Keys[ref.Spec].Write {
				mode = "w"
			}
			got = append(got, fmt.Sprintf("%s:%s", mode, args[ref.Pos]))
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
		c, text := table.Lookup(args)
		if text != "" {
			return
		}
		refs, _ := c.KeysOf(args, nil)
		if len(refs) > len(c.Keys)*len(args) {
			t.Fatalf("%q: %d keys", line, len(refs))
		}
		for _, ref := range refs {
			if ref.Pos < 1 || ref.Pos >= len(args) || ref.Spec < 0 || ref.Spec >= len(c.Keys) {
				t.Fatalf("%q: %+v", line, ref)
			}
		}
	})
}

// TestKeySpecsAgainstRedis compares what COMMAND INFO shows of them.
func TestKeySpecsAgainstRedis(t *testing.T) {
	addr := redistest.Start7(t)
	srv := &Server{table: keyRows()}
	srv.admin = &admin.Server{Table: srv.table}
	info := command.NewTable(admin.ServerCommands)
	for proto := 2; proto <= 3; proto++ {
		o := resptest.Dial(t, addr, proto)
		for _, name := range []string{"eval", "zunionstore", "xread", "migrate", "georadius", "sort", "ssubscribe"} {
			want := o.Do("COMMAND", "INFO", name).Elems[0]
			x := &call{Call: command.Call{Writer: &wire.Writer{Proto: proto}, Args: words("command info " + name)}, srv: srv}
			x.Host = x
			info.Find(x.Args).Run(&x.Call)
			got, _, err := resptest.Parse(x.Buf)
			if err != nil {
				t.Fatal(err)
			}
			got = got.Elems[0]
			comparableInfo(srv.table, &want)
			comparableInfo(srv.table, &got)
			for _, place := range []int{3, 4, 5, 8} {
				if got.Elems[place].String() != want.Elems[place].String() {
					t.Errorf("%s, RESP%d:\n got %v\nwant %v", name, proto, got.Elems[place], want.Elems[place])
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
		c := table.Named([]byte(test.name))
		first, last, step, _ := command.LegacyKeys(c.Keys)
		movable := c.Flags&command.FlagMovableKeys != 0
		if first != test.first || last != test.last || step != test.step || movable != test.movable {
			t.Errorf("%s: %d %d %d, movable %v; want %+v", test.name, first, last, step, movable, test)
		}
	}
}

func TestKeysOfDoesNotAllocate(t *testing.T) {
	table := newCommandTable()
	for _, line := range []string{"get a", "mset a 1 b 2", "bitop and d a b"} {
		args := words(line)
		c, _ := table.Lookup(args)
		var room [8]command.KeyRef
		if n := testing.AllocsPerRun(100, func() { c.KeysOf(args, room[:0]) }); n != 0 {
			t.Errorf("%s: %v allocations", line, n)
		}
	}
}

func BenchmarkKeysOf(b *testing.B) {
	table := newCommandTable()
	var room [8]command.KeyRef
	for _, line := range []string{"get a", "mset a 1 b 2 c 3"} {
		args := words(line)
		c, _ := table.Lookup(args)
		b.Run(line, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.KeysOf(args, room[:0])
			}
		})
	}
}

// A key of MIGRATE may be empty by syntax: then the option KEYS names the keys.
func TestKeysOfMigrate(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	o.Want("+OK", "ACL", "SETUSER", "u", "+@all", "~k*")
	denied := func(key string) string { return "$User u has no permissions to access the '" + key + "' key" }
	const flags, invalid = "*(+RW +access +delete)", "-ERR Invalid arguments specified for command"
	for _, test := range []struct{ call, keys, flags, dryrun string }{
		{"h 1 k1 0 10", "*($k1)", "*(*($k1 " + flags + "))", "+OK"},
		{"h 1 other 0 10 COPY", "*($other)", "*(*($other " + flags + "))", denied("other")},
		{"h 1  0 10 KEYS k1 k2", "*($k1 $k2)", "*(*($k1 " + flags + ") *($k2 " + flags + "))", "+OK"},
		{"h 1  0 10 REPLACE keys k1 other", "*($k1 $other)", "*(*($k1 " + flags + ") *($other " + flags + "))", denied("other")},
		{"h 1  0 10 AUTH keys KEYS k1", "*($k1)", "*(*($k1 " + flags + "))", "+OK"},
		{"h 1  0 10 AUTH2 keys keys KEYS other", "*($other)", "*(*($other " + flags + "))", denied("other")},
		{"h 1 k1 0 10 AUTH keys COPY", "*($k1)", "*(*($k1 " + flags + "))", "+OK"},
		{"h 1 other 0 10 KEYS k1", invalid, invalid, "+OK"}, // a syntax error
		{"h 1  0 10", "*($)", "*(*($ " + flags + "))", denied("")},
		{"h 1  0 10 KEYS", "*($)", "*(*($ " + flags + "))", denied("")},
	} {
		call := append([]string{"MIGRATE"}, strings.Split(test.call, " ")...)
		for _, want := range []struct {
			reply string
			words []string
		}{
			{test.keys, []string{"COMMAND", "GETKEYS"}},
			{test.flags, []string{"COMMAND", "GETKEYSANDFLAGS"}},
			{test.dryrun, []string{"ACL", "DRYRUN", "u"}},
		} {
			o.Want(want.reply, append(want.words, call...)...)
		}
	}
}
