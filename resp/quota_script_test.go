package resp

import (
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/store"
)

// The commands of a script are judged by the databases that they write to, and MOVE by the one that it moves a key to.
func TestScriptAndMoveKeepQuotaOfOtherDatabase(t *testing.T) {
	srv, addr := serveTest(t, func(c *Config, _ *store.Config) { c.Databases = func() int { return 16 } })
	o, four := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
	four.Want("+OK", "SELECT", "4")
	four.Want("+OK", "SET", "old", strings.Repeat("v", 1000))
	values, err := (*agreed.Values)(nil).With([]agreed.Change{{Name: "quota/4", Body: `{"bytes":100,"policy":"noeviction"}`}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	srv.SetValues(values, 1, 1)
	oom := "-" + command.MsgOOM
	four.Want(oom, "SET", "x", "v")
	o.Want("+OK", "SET", "k", "v")
	for _, test := range []struct{ script, want string }{
		{"redis.call('select', 4) return redis.call('set', 'x', 'v')", "OOM"},
		{"return redis.call('copy', 'k', 'x', 'DB', 4)", "OOM"},
		{"return redis.call('move', 'k', 4)", "OOM"},
		{"redis.call('set', 'y', 'v') redis.call('select', 4) return redis.call('set', 'x', 'v')", "OOM"},
		{"redis.call('set', 'y', 'v') return redis.call('move', 'k', 4)", "OOM"},
		{"#!lua flags=allow-oom\nredis.call('select', 4) redis.call('set', 'x', 'v') return redis.call('del', 'x')", ""},
		{"redis.call('select', 4) redis.call('del', 'none') redis.call('select', 0) return redis.call('set', 'z', 'v')", ""},
	} {
		got := o.Do("EVAL", test.script, "0").String()
		if test.want == "" && got[0] == '-' || !strings.Contains(got, test.want) {
			t.Errorf("%s: %s", test.script, got)
		}
	}
	o.Want(":0", "EXISTS", "y") // all of the script is refused
	o.Want(":1", "EXISTS", "z")
	four.Want(":0", "EXISTS", "x")
	if got := four.Do("EVAL", "return redis.call('set', 'x', 'v')", "0").String(); !strings.HasPrefix(got, "-OOM") {
		t.Errorf("a script in the full database: %s", got)
	}
	four.Want("+OK", "EVAL", "redis.call('select', 0) return redis.call('set', 'z', 'v')", "0")
	o.Want(oom, "MOVE", "k", "4")
	o.Want(":1", "MOVE", "k", "5")
	four.Want(":1", "MOVE", "old", "5")
	four.Want("+OK", "SET", "x", "v")
}
