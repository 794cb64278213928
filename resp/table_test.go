package resp

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/command"
)

// words splits a line into the arguments of a call.
func words(line string) [][]byte { return bytes.Split([]byte(line), []byte(" ")) }

func TestLookup(t *testing.T) {
	table := newCommandTable()
	for _, test := range []struct{ line, full, err string }{
		{"get k", "get", ""},
		{"GeT k", "get", ""},
		{"BITFIELD_ro k", "bitfield_ro", ""},
		{"command", "command", ""},
		{"command Count", "command|count", ""},
		{"CLIENT no-Evict ON", "client|no-evict", ""},
		{"debug sleep 0", "debug", ""},
		{"get", "get", "ERR wrong number of arguments for 'get' command"},
		{"GET a b", "get", "ERR wrong number of arguments for 'get' command"},
		{"client", "client", "ERR wrong number of arguments for 'client' command"},
		{"CLIENT KILL", "client|kill", "ERR wrong number of arguments for 'client|kill' command"},
		{"Client x", "", "ERR unknown subcommand 'x'. Try CLIENT HELP."},
		{"client x|y", "", "ERR unknown subcommand 'x|y'. Try CLIENT HELP."},
		{"client|list", "", "ERR unknown command 'client|list', with args beginning with: "},
		{"client|list list", "", "ERR unknown command 'client|list', with args beginning with: 'list' "},
		{"foo a b", "", "ERR unknown command 'foo', with args beginning with: 'a' 'b' "},
		{"", "", "ERR unknown command '', with args beginning with: "},
		{"get\x00 k", "", "ERR unknown command 'get', with args beginning with: 'k' "},
		// The sign ſ folds to s in Unicode, but not to Redis.
		{"ſet k v", "", "ERR unknown command 'ſet', with args beginning with: 'k' 'v' "},
	} {
		c, err := table.Lookup(words(test.line))
		full := ""
		if c != nil {
			full = c.Full
		}
		if full != test.full || err != test.err {
			t.Errorf("lookup(%q) = %q, %q; want %q, %q", test.line, full, err, test.full, test.err)
		}
	}
}

// However long the words are, an error repeats only their beginnings.
func TestLookupErrorsAreShort(t *testing.T) {
	table := newCommandTable()
	long := strings.Repeat("x", 1<<20)
	for _, line := range []string{long, "get" + long, "foo " + long, "client " + long, strings.Repeat("foo ", 1<<16)} {
		if _, err := table.Lookup(words(line)); len(err) == 0 || len(err) > 400 {
			t.Errorf("lookup(%.10q…): error of %d bytes", line, len(err))
		}
	}
}

func TestTableIsComplete(t *testing.T) {
	table := newCommandTable()
	if len(table.ByName) != len(table.All) {
		t.Errorf("%d names, %d commands", len(table.ByName), len(table.All))
	}
	docs := command.LoadDocs()
	for full := range docs {
		if table.ByName[full] == nil {
			t.Errorf("docs of %s, which is no command", full)
		}
	}
	for i, c := range table.All {
		if c.ID != i {
			t.Errorf("%s has id %d at place %d", c.Full, c.ID, i)
		}
		doc := docs[c.Full]
		if doc == nil || doc.Summary == "" || doc.Since == "" || c.Group == "" {
			t.Errorf("%s lacks summary, group or version", c.Full)
			continue
		}
		if parts := strings.Split(c.Full, "|"); len(parts) == 2 && (c.Parent == nil || c.Parent.Full != parts[0]) {
			t.Errorf("%s has parent %v", c.Full, c.Parent)
		}
		for _, a := range doc.Arguments {
			if a.KeySpec > len(c.Keys) {
				t.Errorf("%s: argument %s is of key specification %d of %d", c.Full, a.Name, a.KeySpec, len(c.Keys))
			}
		}
		// PFCOUNT writes in Redis, but not here.
		if c.Full != "pfcount" && c.Refusal == "" && !c.MayWrite && slices.ContainsFunc(c.Keys, func(s command.KeySpec) bool { return s.Write }) {
			t.Errorf("%s writes a key but not as a command", c.Full)
		}
	}
}

// Servers of one process must not share what a table writes into its rows.
func TestTablesAreIndependent(t *testing.T) {
	a, b := newCommandTable(), newCommandTable()
	for i := range a.All {
		if a.All[i] == b.All[i] || len(a.All[i].Keys) > 0 && &a.All[i].Keys[0] == &b.All[i].Keys[0] {
			t.Errorf("%s is shared", a.All[i].Full)
		}
	}
}

func TestBrokenRowsPanic(t *testing.T) {
	run := func(*command.Call) {}
	good := command.Row{Name: "x", Arity: 1, Run: run}
	for name, rows := range map[string][]command.Row{
		"twice":          {good, good},
		"upper case":     {{Name: "X", Arity: 1, Run: run}},
		"no arity":       {{Name: "x", Run: run}},
		"no handler":     {{Name: "x", Arity: 1}},
		"long":           {{Name: strings.Repeat("x", command.MaxName+1), Arity: 1, Run: run}},
		"no subcommands": {{Name: "x", Arity: -2, Flags: command.FlagContainer}},
		"no step":        {{Name: "x", Arity: 2, Run: run, Keys: []command.KeySpec{{Flags: "RO", Index: 1}}}},
		"no begin":       {{Name: "x", Arity: 2, Run: run, Keys: []command.KeySpec{{Flags: "RO", Step: 1}}}},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("accepted")
				}
			}()
			command.NewTable(rows)
		})
	}
}

func TestHelpNamesEverySubcommand(t *testing.T) {
	srv := &Server{table: newCommandTable()}
	for _, c := range srv.table.All {
		if c.Name != "help" {
			continue
		}
		reply := callOnce(t, srv, 3, c.Parent.Name, "help")
		for _, sub := range c.Parent.Subs {
			name := strings.ToUpper(sub.Name)
			if sub.Refusal == "" && !slices.ContainsFunc(reply.Elems, func(line resptest.Value) bool {
				return line.Text == name || strings.HasPrefix(line.Text, name+" ")
			}) {
				t.Errorf("%s HELP does not name %s", c.Parent.Name, name)
			}
		}
	}
}

// COMMAND without names covers the whole table, in replies of the right shape.
func TestCommandOfEverything(t *testing.T) {
	srv := &Server{table: newCommandTable()}
	top, all := len(srv.table.Top), len(srv.table.All)
	for proto := 2; proto <= 3; proto++ {
		for _, test := range []struct {
			line  string
			kind  byte
			elems int
		}{
			{"command", '*', top},
			{"command info", '*', top},
			{"command docs", '%', 2 * top},
			{"command list", '*', all},
			{"command list filterby pattern *", '*', all},
		} {
			if proto == 2 {
				test.kind = '*'
			}
			v := callOnce(t, srv, proto, strings.Split(test.line, " ")...)
			if v.Kind != test.kind || len(v.Elems) != test.elems {
				t.Errorf("%s, RESP%d: %c of %d elements; want %c of %d", test.line, proto, v.Kind, len(v.Elems), test.kind, test.elems)
			}
		}
		if v := callOnce(t, srv, proto, "command", "count"); v.Text != strconv.Itoa(top) {
			t.Errorf("COMMAND COUNT: %v; want %d", v, top)
		}
	}
}

func TestLookupDoesNotAllocate(t *testing.T) {
	table := newCommandTable()
	for _, line := range []string{"GET k", "incrbyfloat k 1", "client list", "get"} {
		args := words(line)
		want := 0.0
		if len(args) == 1 {
			want = 1 // the text of the error
		}
		if n := testing.AllocsPerRun(100, func() { table.Lookup(args) }); n > want {
			t.Errorf("%s: %v allocations", line, n)
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	table := newCommandTable()
	for _, line := range []string{"GET k", "set k v", "INCRBYFLOAT k 1", "CLIENT LIST"} {
		args := words(line)
		b.Run(line, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				table.Lookup(args)
			}
		})
	}
}
