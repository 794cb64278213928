package resp

import (
	"maps"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/durations"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/uber-go/tally/v4"
)

func TestMetricsFollowTheServer(t *testing.T) {
	scope := tally.NewTestScope("", nil)
	_, addr := serveTest(t, func(c *Config, _ *serveStore) { c.Scope = scope })
	o := resptest.Dial(t, addr, 2)
	o.Want("+OK", "SET", "a", "1")
	o.Want("$1", "GET", "a")
	o.Want("_$", "GET", "b")
	o.Do("SET", "a", "1", "EX", "x")
	o.Do("GET")
	counter := func(name string) func() int64 {
		return func() int64 {
			if c := scope.Snapshot().Counters()[name]; c != nil {
				return c.Value()
			}
			return 0
		}
	}
	for name, want := range map[string]int64{
		"commands_total+command=set,result=ok":       1,
		"commands_total+command=set,result=error":    1,
		"commands_total+command=get,result=ok":       2,
		"commands_total+command=get,result=rejected": 1,
		"errors_total+code=ERR":                      2,
		"key_lookups_total+result=hit":               1,
		"key_lookups_total+result=miss":              1,
		"connections_accepted_total+":                1,
		"commits_total+":                             1,
	} {
		n := counter(name)
		resptest.WaitFor(t, name, func() bool { return n() >= want })
		if got := n(); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	resptest.WaitFor(t, "keys", func() bool { return scope.Snapshot().Gauges()["keys+"].Value() == 1 })
	// A reset of the statistics takes nothing back.
	o.Want("+OK", "CONFIG", "RESETSTAT")
	o.Want("$1", "GET", "a")
	n := counter("commands_total+command=get,result=ok")
	resptest.WaitFor(t, "one more", func() bool { return n() == 3 })
	for name, c := range scope.Snapshot().Counters() {
		if c.Value() < 0 || strings.Contains(name, "command=mget") {
			t.Errorf("%s: %d", name, c.Value())
		}
	}
}

func TestEachLatency(t *testing.T) {
	srv, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	o.Want("+PONG", "PING")
	o.Want("+OK", "DEBUG", "SLEEP", "0.01")
	seen := map[string]bool{}
	srv.EachLatency(func(command string, calls durations.Histogram) {
		seen[command] = true
		if calls.Count != 1 {
			t.Errorf("%s: %d calls", command, calls.Count)
		}
		for i, end := range calls.Ends {
			if want := end > calls.Sum; (calls.Below[i] == 1) != want {
				t.Errorf("%s: %v s counts %d below %v s", command, calls.Sum, calls.Below[i], end)
			}
		}
	})
	if !seen["ping"] || !seen["debug"] || seen["get"] {
		t.Errorf("commands: %v", seen)
	}
}

// TestAnsweredCommandsAreTimed: each reply to a client once, from its request's arrival, unless the client asked to wait.
func TestAnsweredCommandsAreTimed(t *testing.T) {
	srv, addr := serveTest(t, nil)
	o, other := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 2)
	for _, v := range o.DoAll([][]string{{"SET", "a", "1"}, {"GET", "a"}, {"GET", "b"}, {"SET", "a", "12"}, {"EVAL", "return redis.call('STRLEN', KEYS[1])", "1", "a"}}) {
		if strings.HasPrefix(v.String(), "-") {
			t.Error(v)
		}
	}
	o.Do("SET", "a", "1", "EX", "x")
	o.Do("NOSUCH")
	for _, words := range [][]string{{"MULTI"}, {"INCR", "n"}, {"EXEC"}, {"PUBLISH", "c", "m"}, {"WAIT", "0", "1"}, {"CLIENT", "REPLY", "OFF"}, {"DEL", "a"}, {"CLIENT", "REPLY", "ON"}} {
		if o.Send(words...); words[0] != "DEL" && words[len(words)-1] != "OFF" {
			o.Next()
		}
	}
	o.Send("BLPOP", "list", "0")
	awaitBlocked(t, other, 1)
	other.Want(":1", "RPUSH", "list", "x")
	o.Next()
	other.Do("EVAL", "return redis.call('LPOP', KEYS[1])", "1", "list")
	want := map[string]uint64{"set": 3, "get": 2, "eval": 2, "multi": 1, "exec": 1, "publish": 1, "rpush": 1}
	// The reply may be here before it is counted.
	resptest.WaitFor(t, "all to be counted", func() bool {
		got := make(map[string]uint64)
		srv.EachAnswered(func(command string, calls durations.Histogram) { got[command] = calls.Count })
		delete(got, "info")
		delete(got, "client|reply")
		return maps.Equal(got, want)
	})
}
