package client

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/loadtest/workload"
)

// TestClientsLeaveAServerThatStops has a server tell its clients to go, as a node does that leaves its cluster: they
// go where they are told, and no operation fails, though the server ends connections with the first command that
// comes after the replies to what was on its way.
func TestClientsLeaveAServerThatStops(t *testing.T) {
	for _, loop := range []string{"closed", "open"} {
		t.Run(loop, func(t *testing.T) {
			t.Parallel()
			to := newFake(t, &fake{})
			const pipeline = 4
			var after [4]atomic.Int64 // commands of each connection, once its client can know
			from := newFake(t, &fake{notices: true, answer: func(n int, args []string) (string, bool, bool) {
				if n >= len(after) { // a client has come back, since its connection broke
					return "$-1\r\n", true, true
				}
				switch after[n].Add(1) {
				case 19:
					time.Sleep(time.Millisecond) // the client reads the message while replies are missing
				case 18:
					return fmt.Sprintf(">4\r\n$6\r\nMOVING\r\n:1\r\n:5\r\n%s$-1\r\n", resptest.Bulk(to.addr)), true, true
				case 18 + pipeline: // more than was on its way
					return "", false, false
				}
				return "$-1\r\n", true, true
			}})
			cfg := Config{Workload: workloadOf(t, "1 get"), Targets: only(from.addr), Pipeline: pipeline}
			if loop == "open" {
				rate, err := workload.ParseRate("1000000") // operations are due all the time
				if err != nil {
					t.Fatal(err)
				}
				cfg.Workload.Rate = rate
			}
			l := open(t, cfg)
			l.Start()
			for ctx := within(t); len(to.commands()) < 4; time.Sleep(time.Millisecond) {
				if ctx.Err() != nil {
					t.Fatalf("after a minute, %d of 4 clients are at the other server", len(to.commands()))
				}
			}
			r, err := l.Stop(within(t))
			if all := r.Series.All(); err != nil || all.Failed > 0 || r.Broken > 0 {
				t.Errorf("%d of %d failed, %d connections broke: %v, %v", all.Failed, all.Operations, r.Broken, r.Why, err)
			}
		})
	}
}

// TestClientsReturnWhenTheyGetNoAddress has a server send its clients away without telling where.
func TestClientsReturnWhenTheyGetNoAddress(t *testing.T) {
	var conns atomic.Int64
	f := newFake(t, &fake{notices: true, answer: func(n int, args []string) (string, bool, bool) {
		conns.Store(max(conns.Load(), int64(n)))
		return ">4\r\n$6\r\nMOVING\r\n:1\r\n:5\r\n_\r\n$-1\r\n", true, true
	}})
	cfg := Config{Workload: workloadOf(t, "1 get"), Targets: only(f.addr)}
	l := open(t, cfg)
	l.Start()
	untilDone(t, l, 50)
	r, err := l.Stop(within(t))
	if all := r.Series.All(); err != nil || all.Failed > 0 || r.Broken > 0 || conns.Load() < 40 {
		t.Errorf("%d of %d failed, %d connections of %d broke: %v, %v", all.Failed, all.Operations, r.Broken, conns.Load(), r.Why, err)
	}
}

// TestServersThatRefuseNoticesAreUsedWithout has a proxy close connections with a command that it does not know.
func TestServersThatRefuseNoticesAreUsedWithout(t *testing.T) {
	f := newFake(t, &fake{hangsUp: true})
	l := open(t, Config{Workload: workloadOf(t, "1 get"), Targets: only(f.addr)})
	if r := play(t, l, 50*time.Millisecond); r.Series.All().Failed > 0 || r.Series.All().Operations == 0 || r.Broken > 0 {
		t.Errorf("%d failed, %d connections broke: %v", r.Series.All().Failed, r.Broken, r.Why)
	}
}
