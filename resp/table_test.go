package resp

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"
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
		c, err := table.lookup(words(test.line))
		full := ""
		if c != nil {
			full = c.full
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
		if _, err := table.lookup(words(line)); len(err) == 0 || len(err) > 400 {
			t.Errorf("lookup(%.10q…): error of %d bytes", line, len(err))
		}
	}
}

func TestTableIsComplete(t *testing.T) {
	table := newCommandTable()
	if len(table.byName) != len(table.all) {
		t.Errorf("%d names, %d commands", len(table.byName), len(table.all))
	}
	docs := loadDocs()
	for full := range docs {
		if table.byName[full] == nil {
			t.Errorf("docs of %s, which is no command", full)
		}
	}
	for i, c := range table.all {
		if c.id != i {
			t.Errorf("%s has id %d at place %d", c.full, c.id, i)
		}
		doc := docs[c.full]
		if doc == nil || doc.Summary == "" || doc.Since == "" || c.group == "" {
			t.Errorf("%s lacks summary, group or version", c.full)
			continue
		}
		if parts := strings.Split(c.full, "|"); len(parts) == 2 && (c.parent == nil || c.parent.full != parts[0]) {
			t.Errorf("%s has parent %v", c.full, c.parent)
		}
		for _, a := range doc.Arguments {
			if a.KeySpec > len(c.keys) {
				t.Errorf("%s: argument %s is of key specification %d of %d", c.full, a.Name, a.KeySpec, len(c.keys))
			}
		}
		// PFCOUNT writes in Redis, but not here.
		if c.full != "pfcount" && c.refusal == "" && !c.mayWrite && slices.ContainsFunc(c.keys, func(s keySpec) bool { return s.write }) {
			t.Errorf("%s writes a key but not as a command", c.full)
		}
	}
}

// Servers of one process must not share what a table writes into its rows.
func TestTablesAreIndependent(t *testing.T) {
	a, b := newCommandTable(), newCommandTable()
	for i := range a.all {
		if a.all[i] == b.all[i] || len(a.all[i].keys) > 0 && &a.all[i].keys[0] == &b.all[i].keys[0] {
			t.Errorf("%s is shared", a.all[i].full)
		}
	}
}

func TestBrokenRowsPanic(t *testing.T) {
	run := func(*Call) {}
	good := command{name: "x", arity: 1, run: run}
	for name, rows := range map[string][]command{
		"twice":          {good, good},
		"upper case":     {{name: "X", arity: 1, run: run}},
		"no arity":       {{name: "x", run: run}},
		"no handler":     {{name: "x", arity: 1}},
		"long":           {{name: strings.Repeat("x", maxName+1), arity: 1, run: run}},
		"no subcommands": {{name: "x", arity: -2, flags: flagContainer}},
		"no step":        {{name: "x", arity: 2, run: run, keys: []keySpec{{flags: "RO", index: 1}}}},
		"no begin":       {{name: "x", arity: 2, run: run, keys: []keySpec{{flags: "RO", step: 1}}}},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("accepted")
				}
			}()
			buildCommandTable(rows)
		})
	}
}

func TestHelpNamesEverySubcommand(t *testing.T) {
	srv := &Server{table: newCommandTable()}
	for _, c := range srv.table.all {
		if c.name != "help" {
			continue
		}
		reply := callOnce(t, srv, 3, c.parent.name, "help")
		for _, sub := range c.parent.subs {
			name := strings.ToUpper(sub.name)
			if sub.refusal == "" && !slices.ContainsFunc(reply.elems, func(line respValue) bool {
				return line.text == name || strings.HasPrefix(line.text, name+" ")
			}) {
				t.Errorf("%s HELP does not name %s", c.parent.name, name)
			}
		}
	}
}

// COMMAND without names covers the whole table, in replies of the right shape.
func TestCommandOfEverything(t *testing.T) {
	srv := &Server{table: newCommandTable()}
	top, all := len(srv.table.top), len(srv.table.all)
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
			if v.kind != test.kind || len(v.elems) != test.elems {
				t.Errorf("%s, RESP%d: %c of %d elements; want %c of %d", test.line, proto, v.kind, len(v.elems), test.kind, test.elems)
			}
		}
		if v := callOnce(t, srv, proto, "command", "count"); v.text != strconv.Itoa(top) {
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
		if n := testing.AllocsPerRun(100, func() { table.lookup(args) }); n > want {
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
				table.lookup(args)
			}
		})
	}
}
