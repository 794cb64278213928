package resp

import (
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/stats"
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
	srv.EachLatency(func(command string, bounds []float64, below []uint64, count uint64, sum float64) {
		seen[command] = true
		if len(bounds) != len(below) || count != 1 {
			t.Errorf("%s: %d bounds, %d counts, %d calls", command, len(bounds), len(below), count)
		}
		for i := 1; i < len(below); i++ {
			if below[i] < below[i-1] || bounds[i] <= bounds[i-1] {
				t.Errorf("%s: bucket %d is below bucket %d", command, i, i-1)
			}
		}
		if command != "debug" {
			return
		}
		for i, bound := range bounds {
			if want := bound > sum; (below[i] == 1) != want {
				t.Errorf("%v s counts %d below %v s", sum, below[i], bound)
			}
		}
	})
	if !seen["ping"] || !seen["debug"] || seen["get"] {
		t.Errorf("commands: %v", seen)
	}
}

func TestLatencyBuckets(t *testing.T) {
	for d, want := range map[time.Duration]int{
		0: 0, 255: 0, 256: 1, 511: 1, 512: 2, time.Microsecond: 2, 1024: 3,
		time.Minute: stats.Buckets - 1, 100 * time.Hour: stats.Buckets - 1,
	} {
		got := stats.Bucket(d)
		if got != want {
			t.Errorf("%v: bucket %d, want %d", d, got, want)
		}
		if got < stats.Buckets-1 && d >= stats.Bound(got) || got > 0 && d < stats.Bound(got-1) {
			t.Errorf("%v is not within bucket %d", d, got)
		}
	}
}
