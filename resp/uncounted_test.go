package resp

import (
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// Who has a reply finds its command counted, and so does a command behind others in their
// pipeline, in a transaction or in a script.
func TestAnsweredCommandsAreCounted(t *testing.T) {
	srv, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	calls := func(name string) int64 {
		return srv.stats.Commands[srv.table.Named([]byte(name)).ID].Calls.Load()
	}
	for i := range int64(50) {
		o.Send("SET", "a", "1")
		o.Send("GET", "a")
		o.Send("GET", "b")
		for range 3 {
			o.Next()
		}
		got := [4]int64{calls("set"), calls("get"), srv.stats.Hits.Load(), srv.stats.Misses.Load()}
		if want := [4]int64{i + 1, 2 * (i + 1), i + 1, i + 1}; got != want {
			t.Fatalf("SETs, GETs, hits and misses: %d, want %d", got, want)
		}
	}
	for _, pipeline := range []string{"SET a 1|GET a|INFO commandstats", "MULTI|SET a 1|GET a|INFO commandstats|EXEC",
		`EVAL "redis.call('SET', KEYS[1], 1); redis.call('GET', KEYS[1]); return redis.call('INFO', 'commandstats')" 1 a`} {
		o.Want("+OK", "CONFIG", "RESETSTAT")
		var all []byte
		lines := strings.Split(pipeline, "|")
		for _, line := range lines {
			all = append(all, line+"\r\n"...)
		}
		if _, err := o.C.Write(all); err != nil {
			t.Fatal(err)
		}
		var info resptest.Value
		for range lines {
			info = o.Next()
		}
		if len(info.Elems) > 0 {
			info = info.Elems[len(info.Elems)-1]
		}
		for _, want := range []string{"cmdstat_set:calls=1,", "cmdstat_get:calls=1,"} {
			if !strings.Contains(info.Text, want) {
				t.Errorf("%s does not show %s\n%s", pipeline, want, info.Text)
			}
		}
	}
}
