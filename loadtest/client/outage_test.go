package client

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/freeport"
	"github.com/ringside-kv/ringside/loadtest/workload"
)

// An outage knows when a client came to a server that did not serve it.
type outage struct {
	mu           sync.Mutex
	down         bool
	times        int       // so often
	second, last time.Time // the first may come before an operation is due
}

// notes reports whether the server is down, and notes that a client has come.
func (o *outage) notes(counts bool) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.down && counts {
		o.last = time.Now()
		if o.times++; o.times == 2 {
			o.second = o.last
		}
	}
	return o.down
}

func (o *outage) set(down bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.down = down
}

func (o *outage) seen() (times int, length time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.times, o.last.Sub(o.second)
}

// TestOutageIsTheLongestPause has the only server of a client go away, and come back or not. Nearly no key of many is
// asked for twice meanwhile.
func TestOutageIsTheLongestPause(t *testing.T) {
	nobody, release, err := freeport.Loopback(1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	for _, how := range []string{"unreachable", "hangs up", "errors"} {
		for _, rate := range []string{"", "2000"} {
			for _, back := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s, rate %q, back %t", how, rate, back), func(t *testing.T) {
					t.Parallel()
					var o outage
					f := newFake(t, &fake{answer: func(int, []string) (string, bool, bool) {
						down := o.notes(how != "unreachable")
						return "-LOADING wait\r\n", down, !down || how == "errors"
					}})
					targets := func() []string {
						if how == "unreachable" && o.notes(true) {
							return nobody
						}
						return []string{f.addr}
					}
					w := workloadOf(t, "1 get")
					w.Clients, w.Keys = 1, 1_000_000
					w.Rate, _ = workload.ParseRate(rate)
					l := open(t, Config{Workload: w, Targets: targets})
					l.Start()
					untilDone(t, l, 20)
					o.set(true)
					for ctx := within(t); ; time.Sleep(time.Millisecond) {
						if times, _ := o.seen(); times >= 8 {
							break
						}
						if ctx.Err() != nil {
							t.Fatal("after a minute, the client has not come 8 times")
						}
					}
					if back {
						o.set(false)
						untilDone(t, l, l.Now().Operations+20)
					}
					r, err := l.Stop(within(t))
					if err != nil {
						t.Fatal(err)
					}
					all := r.Series.All()
					_, length := o.seen()
					pause, slowest := time.Duration(all.LongestPauseMS*1e6), time.Duration(all.Latency.Max*1e3)
					if pause < length || how == "unreachable" && slowest < length-time.Microsecond {
						t.Errorf("a pause of %v at the most, the slowest operation took %v; the server was down for %v", pause, slowest, length)
					}
					if all.Failed == 0 {
						t.Error("no operation failed")
					}
				})
			}
		}
	}
}
