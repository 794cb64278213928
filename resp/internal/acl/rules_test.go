package acl_test

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/resp/internal/acl"
	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/types/keys"
	"github.com/ringside-kv/ringside/resp/internal/types/lists"
	texts "github.com/ringside-kv/ringside/resp/internal/types/strings"
)

// table has some of the commands, among them such with subcommands and with variable keys.
func table() *command.Table {
	return command.NewTable(texts.Commands, keys.Commands, keys.SortCommands, lists.Commands, admin.ServerCommands, admin.ACLCommands, admin.MemoryCommands)
}

var words = strings.Fields(`on off nopass resetpass reset clearselectors sanitize-payload skip-sanitize-payload >pw <pw allkeys resetkeys allchannels
	resetchannels allcommands nocommands ~* ~a ~b* ~[x-y]? %R~a %W~a %RW~c %R~* &* &a &b* +@all -@all +@read -@write +@admin -@dangerous +@slow -@fast +@keyspace
	+get -get +set -set +acl -acl +acl|whoami -acl|setuser +select|0 +get|x +get|y +config|get +memory -memory|doctor +sort (+get (~k +set) ( ) (%R~a +@read) (-@all +@all ~*) ~"q" ~' &"`)

// A user is the same after it was written as rules and read again, whatever has made it.
func FuzzRulesDescribeTheirUser(f *testing.F) {
	f.Add("on nopass ~* &* +@all -get (~x +get) +get|z")
	for i := range uint64(40) {
		rnd := rand.New(rand.NewPCG(i, 3))
		var rules []string
		for range 1 + rnd.IntN(12) {
			rules = append(rules, words[rnd.IntN(len(words))])
		}
		f.Add(strings.Join(rules, " "))
	}
	c := acl.NewCatalog(table())
	f.Fuzz(func(t *testing.T, text string) {
		for _, anywhere := range []bool{false, true} {
			u := acl.NewUser(c, "u", anywhere)
			for _, rule := range strings.Split(text, " ") {
				if next, err := u.With(anywhere, rule); err == nil {
					u = next
				}
			}
			if next, err := u.With(anywhere, strings.Split(text, " ")...); err == nil {
				u = next
			}
			if len(u.Rules()) > acl.MaxRules {
				t.Fatalf("%d bytes of rules", len(u.Rules()))
			}
			again, err := acl.NewUser(c, "u", !anywhere).With(anywhere, append([]string{"resetchannels"}, strings.Split(u.Rules(), " ")...)...)
			if err != nil || again.Rules() != u.Rules() || again.Unrestricted() != u.Unrestricted() {
				t.Fatalf("%q is read as %q, %v", u.Rules(), again.Rules(), err)
			}
		}
	})
}

// registry returns users without a cluster.
func registry(t testing.TB) *acl.Registry {
	r := &acl.Registry{
		Catalog: acl.NewCatalog(table()), Changed: func(_, _ *acl.Users) {}, Anywhere: func() bool { return false }, Logger: slog.New(slog.DiscardHandler),
	}
	if err := r.Open(""); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestUsersAreBounded(t *testing.T) {
	r := registry(t)
	long := make([]string, 1_000_000)
	for i := range long {
		long[i] = "()"
	}
	for name, rules := range map[string][]string{
		"selectors": long, "patterns": {"~" + strings.Repeat("x", acl.MaxRules)}, "one selector": {"(" + strings.Repeat("~k ", 1_000_000) + ")"},
	} {
		if err := r.SetUser(t.Context(), "u", rules); err == nil || !strings.Contains(err.Error(), "rules") {
			t.Errorf("%s: %.200v", name, err)
		}
	}
	var err error
	n := 0
	for ; err == nil && n < 1000; n++ {
		err = r.SetUser(t.Context(), fmt.Sprint("user", n), []string{"~" + strings.Repeat("x", 16<<10)})
	}
	if n > acl.MaxUsers>>14+1 || err == nil {
		t.Errorf("%d users of 16 KiB, %v", n, err)
	}
	if err := r.SetUser(t.Context(), strings.Repeat("n", 1000), nil); err == nil {
		t.Error("a name of a thousand bytes")
	}
}

// A build reads rules about commands that it does not know, and a user whose rules it cannot read at all may do
// nothing.
func TestRulesOfOtherBuildsAreRead(t *testing.T) {
	r := registry(t)
	values, err := agreed.New([]agreed.Value{
		{Name: acl.Prefix + "bad", Body: "on nopass ~* &* +@all what", Version: 1},
		{Name: acl.Prefix + "new", Body: "on nopass ~* resetchannels -@all +@future +get +future|x (~y resetchannels -@all +future +set)", Version: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.Set(values, 1, 1)
	if got := r.Now().Get("new").Rules(); got != "on nopass sanitize-payload ~* resetchannels -@all +get (~y resetchannels -@all +set)" {
		t.Errorf("new is %q", got)
	}
	if got := r.Now().Get("bad").Rules(); got != "off sanitize-payload resetchannels -@all" {
		t.Errorf("bad is %q", got)
	}
	r.Set(nil, 1, 0) // older
	if r.Now().Get("new") == nil {
		t.Error("older values have replaced newer ones")
	}
	r.Set(nil, 2, 0) // of another cluster
	if r.Now().Get("new") != nil || r.Now().Default() == nil {
		t.Error("the values of the new generation have not replaced those of the old one")
	}
}

// What a check costs: for a user who may do everything, and for others.
func BenchmarkCheck(b *testing.B) {
	r := registry(b)
	t := table()
	get := acl.Call{Row: t.ByName["get"], Args: [][]byte{[]byte("GET"), []byte("user:1234:name")}}
	set := acl.Call{Row: t.ByName["set"], Args: [][]byte{[]byte("SET"), []byte("user:1234:name"), []byte("x")}}
	for _, bench := range []struct{ name, rules string }{
		{"everything", "~* &* +@all"}, {"commands", "~* &* +@all -@dangerous"}, {"prefix", "~user:* +@all"},
		{"8 patterns", "~a:* ~b:* ~c:* ~d:* ~e:* ~f:* ~g:* ~user:* +@all"}, {"glob", "~user:*:name +@all"}, {"selector", "+@read ~a:* (+@all ~user:*)"},
	} {
		u, err := acl.NewUser(r.Catalog, "u", false).With(false, strings.Fields(bench.rules)...)
		if err != nil {
			b.Fatal(err)
		}
		for name, call := range map[string]*acl.Call{"GET": &get, "SET": &set} {
			b.Run(bench.name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				scratch := make([]command.KeyRef, 0, 16)
				for b.Loop() {
					made := acl.Call{Row: call.Row, Args: call.Args}
					var d acl.Denial
					if d, scratch = u.Check(&made, scratch); d.Reason != acl.Allowed {
						b.Fatal(d)
					}
				}
			})
		}
	}
}
