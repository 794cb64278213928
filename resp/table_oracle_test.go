package resp

import (
	"slices"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

// onPurpose names the rows that real Redis 7.0 does not have like this.
var onPurpose = map[string]string{
	"client|maint_notifications": "of Redis Cloud: client libraries send it when they connect",
	"client|setinfo":             "of Redis 7.2: client libraries send it when they connect",
	"client|no-touch":            "of Redis 7.2",
	"waitaof":                    "of Redis 7.2",
	"cluster|slot-stats":         "of Redis 8.2",
	"bitop":                      "has operations of Redis 8.2",
	"zrank":                      "has an option of Redis 7.2",
	"zrevrank":                   "has an option of Redis 7.2",
	"hotkeys":                    "of Redis 8.6",
	"set":                        "has options of Redis 8.4",
	"cluster|myshardid":          "of Redis 7.2",
	"xadd":                       "has options of Redis 8.2",
	"xtrim":                      "has options of Redis 8.2",
	"xdelex":                     "of Redis 8.2",
	"xackdel":                    "of Redis 8.2",
	"xnack":                      "of Redis 8.8",
	"xreadgroup":                 "has an option of Redis 8.4",
	"xinfo|consumers":            "has a field of Redis 7.2",
	"xinfo|stream":               "has fields of Redis 7.2 and 8.8",
	"delex":                      "of Redis 8.4",
	"digest":                     "of Redis 8.4",
	"msetex":                     "of Redis 8.4",
	"increx":                     "of Redis 8.8",
	"clusterscan":                "of Valkey 9.1",
	"delifeq":                    "of Valkey 9.0",
	"hashmask":                   "ours",
	"loadlevels":                 "ours",
	"ring":                       "ours",
	"blmove":                     "callable in scripts since Redis 7.2",
	"blpop":                      "likewise",
	"brpop":                      "likewise",
	"brpoplpush":                 "likewise",
	"bzpopmax":                   "likewise",
	"bzpopmin":                   "likewise",
	"wait":                       "blocking, and callable in scripts, since Redis 7.2",
	"client|kill":                "names the values of SKIPME since Redis 7.2",
	"client|setname":             "has tips of Redis 7.2",
	"config|resetstat":           "likewise",
	"config|rewrite":             "likewise",
	"latency|reset":              "likewise",
	"randomkey":                  "likewise",
	"scan":                       "likewise",
	"msetnx":                     "without tips since Redis 7.2",
	"cluster|shards":             "allowed while a server loads since Redis 7.2",
	"cluster|slots":              "likewise",
	"command|getkeys":            "takes commands without arguments since Redis 7.2",
	"command|getkeysandflags":    "likewise",
	"sinterstore":                "overwrites its key, and says so since Redis 7.4",
	"hexpire":                    "of Redis 7.4",
	"hexpireat":                  "of Redis 7.4",
	"hexpiretime":                "of Redis 7.4",
	"hpersist":                   "of Redis 7.4",
	"hpexpire":                   "of Redis 7.4",
	"hpexpireat":                 "of Redis 7.4",
	"hpexpiretime":               "of Redis 7.4",
	"hpttl":                      "of Redis 7.4",
	"httl":                       "of Redis 7.4",
	"hscan":                      "has an option of Redis 7.4",
	"hgetdel":                    "of Redis 8.0",
	"hgetex":                     "of Redis 8.0",
	"hsetex":                     "of Redis 8.0",
}

// isOnPurpose tells whether a row, or the container that it is in, is one of them.
func isOnPurpose(full string) bool {
	parent, _, _ := strings.Cut(full, "|")
	isOfModule := strings.HasPrefix(full, "json.") || strings.HasPrefix(full, "bf.")
	return onPurpose[full] != "" || onPurpose[parent] != "" || isOfModule
}

// TestTableAgainstRedis compares what COMMAND INFO and COMMAND DOCS say of each
// row with what Redis says, all but the prose, in both protocols.
func TestTableAgainstRedis(t *testing.T) {
	addr := redistest.Start7(t)
	srv := &Server{table: newCommandTable()}
	for proto := 2; proto <= 3; proto++ {
		o := resptest.Dial(t, addr, proto)
		for _, c := range srv.table.All {
			if isOnPurpose(c.Full) {
				continue
			}
			for _, what := range []string{"INFO", "DOCS"} {
				args := []string{"COMMAND", what, c.Full}
				want := o.Do(args...)
				got := callOnce(t, srv, proto, args...)
				if what == "INFO" {
					want, got = want.Elems[0], got.Elems[0]
					comparableInfo(srv.table, &want)
					comparableInfo(srv.table, &got)
				} else {
					want, got = want.Elems[1], got.Elems[1]
					comparableDocs(srv.table, c.Full, &want)
					comparableDocs(srv.table, c.Full, &got)
				}
				if want.String() != got.String() {
					t.Errorf("COMMAND %s %s, RESP%d:\n got %v\nwant %v", what, c.Full, proto, got, want)
				}
			}
		}
	}
}

// TestCommandAgainstRedis compares replies, and errors, that have no prose.
func TestCommandAgainstRedis(t *testing.T) {
	addr := redistest.Start7(t)
	srv := &Server{table: newCommandTable()}
	for proto := 2; proto <= 3; proto++ {
		o := resptest.Dial(t, addr, proto)
		for _, line := range []string{
			"COMMAND INFO no-such get|x get|x|y | Get",
			"COMMAND DOCS no-such",
			"COMMAND LIST FILTERBY",
			"COMMAND LIST FILTERBY PATTERN",
			"COMMAND LIST FILTERBY NOTHING x",
			"COMMAND LIST FILTERBY MODULE x",
			"COMMAND LIST FILTERBY ACLCAT no-such",
			"COMMAND LIST FILTERBY ACLCAT @bitmap",
			"COMMAND LIST filterby aclcat BITMAP",
			"COMMAND LIST FILTERBY PATTERN EXPIRE*",
			"COMMAND LIST FILTERBY PATTERN object|*",
			"COMMAND LIST NOTHING",
			"COMMAND GETKEYS no-such x",
			"COMMAND GETKEYS client no-such",
			"COMMAND GETKEYS client|list x",
			"COMMAND GETKEYS echo x",
			"COMMAND GETKEYS object help",
			"COMMAND GETKEYS get x y",
			"COMMAND GETKEYS mset a",
			"COMMAND GETKEYS mset a 1 b",
			"COMMAND GETKEYS MSET a 1 b 2",
			"COMMAND GETKEYS object encoding a",
			"COMMAND GETKEYS memory usage a SAMPLES 3",
			"COMMAND GETKEYS del a b c",
			"COMMAND GETKEYSANDFLAGS bitop and dest a b",
			"COMMAND GETKEYSANDFLAGS rename a b",
			"COMMAND GETKEYSANDFLAGS copy a b",
			"COMMAND GETKEYSANDFLAGS lcs a b IDX",
			"COMMAND GETKEYSANDFLAGS unlink a b",
			"COMMAND GETKEYSANDFLAGS set a get",
			"COMMAND GETKEYSANDFLAGS set a 1 NX Get",
			"COMMAND GETKEYSANDFLAGS getex a",
			"COMMAND GETKEYSANDFLAGS bitfield a",
			"COMMAND GETKEYSANDFLAGS bitfield a get u8 0",
			"COMMAND GETKEYSANDFLAGS bitfield a overflow set get u8 0",
			"COMMAND GETKEYSANDFLAGS bitfield a get set 0",
			"COMMAND GETKEYSANDFLAGS bitfield a get u8 0 set u8 0 1",
			"COMMAND GETKEYSANDFLAGS bitfield a get u8",
			"COMMAND GETKEYSANDFLAGS bitfield a nonsense",
			// Errors before any handler.
			"no-such",
			"no-such a b",
			"client|list",
			"client no-such",
			"COMMAND no-such",
			"client",
			"config",
			"client kill",
			"get",
			"get a b",
			"command count x",
			"no-such " + strings.Repeat("0123456789", 20),
			strings.Repeat("n", 200) + strings.Repeat(" 0123456789012345678901234567890123456789", 9),
			"config " + strings.Repeat("0123456789", 20),
			"no-such a\r\nb\x00c",
			"no\r\nsuch\x00x a",
			"config a\r\nb\x00c",
		} {
			args := strings.Split(line, " ")
			want, got := o.Do(args...), callOnce(t, srv, proto, args...)
			if strings.HasPrefix(line, "COMMAND LIST") {
				byText(want.Elems)
				byText(got.Elems)
			}
			if want.String() != got.String() {
				t.Errorf("%q, RESP%d:\n got %v\nwant %v", line, proto, got, want)
			}
		}
	}
}

// callOnce runs one command as a connection would, through the table.
func callOnce(t *testing.T, srv *Server, proto int, args ...string) resptest.Value {
	t.Helper()
	if srv.admin == nil {
		srv.admin = &admin.Server{Table: srv.table}
	}
	x := &call{Call: command.Call{Writer: &wire.Writer{Proto: proto}}, srv: srv}
	x.Host = x
	for _, arg := range args {
		x.Args = append(x.Args, []byte(arg))
	}
	c, text := srv.table.Lookup(x.Args)
	if text != "" {
		x.Error(text)
	} else {
		x.Row = c
		c.Run(&x.Call)
	}
	v, rest, err := resptest.Parse(x.Buf)
	if err != nil {
		t.Fatalf("reply to %q: %v: %.200q", args, err, x.Buf)
	}
	if len(rest) > 0 {
		t.Fatalf("reply to %q has something after its end: %.200q", args, x.Buf)
	}
	return v
}

// comparableInfo takes from an entry of COMMAND INFO what need not be alike: the
// prose, the order of subcommands and those that only Redis has.
func comparableInfo(ours *command.Table, v *resptest.Value) {
	for _, spec := range v.Elems[8].Elems {
		blank(spec.Field("notes"))
	}
	v.Elems[9].Elems = ownSubs(ours, v.Elems[9].Elems, 1, func(sub resptest.Value) string { return sub.Elems[0].Text })
	for i := range v.Elems[9].Elems {
		comparableInfo(ours, &v.Elems[9].Elems[i])
	}
}

// factsSince70 are commands of which the documentation says more since Redis 7.0 than that does: when they were new or
// deprecated, what changed, or how their arguments are grouped.
var factsSince70 = []string{
	"acl|log", "client|list", "client|pause", "command|getkeys", "command|getkeysandflags", "config|get", "geohash",
	"geopos", "georadius", "georadius_ro", "georadiusbymember", "georadiusbymember_ro", "migrate", "module|loadex", "pfmerge", "psetex",
	"psubscribe", "quit", "setex", "setnx",
}

// comparableDocs does the same for COMMAND DOCS of a command. The names of arguments are those of Redis 7.4, so
// only their kinds, tokens and order are compared, and of factsSince70 only the tokens: see
// TestSyntaxIsThatOfRedis74.
func comparableDocs(ours *command.Table, full string, v *resptest.Value) {
	for _, name := range []string{"summary", "complexity", "replaced_by"} {
		blank(v.Field(name))
	}
	withoutLater(v)
	if history := v.Field("history"); history != nil {
		history.Elems = slices.DeleteFunc(history.Elems, func(change resptest.Value) bool { return change.Elems[0].Text == "7.4.0" })
		for i := range history.Elems {
			blank(&history.Elems[i].Elems[1])
		}
	}
	subs := v.Field("subcommands")
	if slices.Contains(factsSince70, full) {
		v.Elems = tokensIn(v.Field("arguments"))
		return
	}
	if subs != nil {
		subs.Elems = ownSubs(ours, subs.Elems, 2, func(name resptest.Value) string { return name.Text })
		for i := 1; i < len(subs.Elems); i += 2 {
			comparableDocs(ours, subs.Elems[i-1].Text, &subs.Elems[i])
		}
	}
}

// tokensIn returns the tokens of arguments, each once, in the order of the alphabet.
func tokensIn(args *resptest.Value) (tokens []resptest.Value) {
	if args == nil {
		return nil
	}
	for i := range args.Elems {
		if token := args.Elems[i].Field("token"); token != nil {
			tokens = append(tokens, *token)
		}
		tokens = append(tokens, tokensIn(args.Elems[i].Field("arguments"))...)
	}
	byText(tokens)
	return slices.CompactFunc(tokens, func(a, b resptest.Value) bool { return a.Text == b.Text })
}

// withoutLater takes arguments of Redis 7.4 out of what holds them, the names of all, and display texts, which all have since Redis 7.2.
func withoutLater(v *resptest.Value) {
	args := v.Field("arguments")
	if args == nil {
		return
	}
	args.Elems = slices.DeleteFunc(args.Elems, func(arg resptest.Value) bool {
		since := arg.Field("since")
		return since != nil && since.Text == "7.4.0"
	})
	for i := range args.Elems {
		arg := &args.Elems[i]
		blank(arg.Field("name"))
		if at := slices.IndexFunc(arg.Elems, func(v resptest.Value) bool { return v.Text == "display_text" }); at >= 0 {
			arg.Elems = slices.Delete(arg.Elems, at, at+2)
		}
		withoutLater(arg)
	}
}

// ownSubs keeps the subcommands, size elements each, that both have, by name.
func ownSubs(ours *command.Table, elems []resptest.Value, size int, name func(resptest.Value) string) []resptest.Value {
	var pairs [][]resptest.Value
	for pair := range slices.Chunk(elems, size) {
		if full := name(pair[0]); ours.Named([]byte(full)) != nil && !isOnPurpose(full) {
			pairs = append(pairs, pair)
		}
	}
	slices.SortFunc(pairs, func(a, b []resptest.Value) int { return strings.Compare(name(a[0]), name(b[0])) })
	return slices.Concat(pairs...)
}

func byText(elems []resptest.Value) {
	slices.SortFunc(elems, func(a, b resptest.Value) int { return strings.Compare(a.Text, b.Text) })
}

func blank(v *resptest.Value) {
	if v != nil {
		v.Text = "…"
	}
}
