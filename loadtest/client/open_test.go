package client

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/loadtest/workload"
)

// An open loop counts from when an operation was to begin: while the server stands still,
// more and more are late, not one for each client.
func TestOpenLoopCountsWaitingTime(t *testing.T) {
	var gate atomic.Pointer[chan struct{}]
	f := newFake(t, &fake{answer: func(int, []string) (string, bool, bool) {
		if g := gate.Load(); g != nil {
			<-*g
		}
		return "", false, true
	}})
	w := workloadOf(t, "1 get")
	w.Rate, _ = workload.ParseRate("2000")
	for _, pipeline := range []int{1, 8} {
		l := open(t, Config{Workload: w, Targets: only(f.addr), Pipeline: pipeline})
		l.Start()
		started := time.Now()
		untilDone(t, l, 50)
		closed := make(chan struct{})
		gate.Store(&closed)
		time.Sleep(200 * time.Millisecond)
		gate.Store(nil)
		close(closed)
		untilDone(t, l, l.Now().Operations+800)
		// In the end, nothing has been left out.
		for ctx := within(t); float64(l.Now().Operations) < 2000*time.Since(started).Seconds()-100; time.Sleep(time.Millisecond) {
			if ctx.Err() != nil {
				t.Fatalf("after a minute, %d operations are done in %v", l.Now().Operations, time.Since(started))
			}
		}
		r, err := l.Stop(within(t))
		if err != nil {
			t.Fatal(err)
		}
		all := r.Series.All()
		// 400 operations were due in 200 ms, and waited for half of it on the average.
		if waited := all.Latency.Mean * float64(all.Operations) / 1e6; waited < 20 {
			t.Errorf("all operations together waited for %.1f s", waited)
		}
		if all.Service == nil || all.Service.Mean >= all.Latency.Mean {
			t.Errorf("service %+v, latency %+v", all.Service, all.Latency)
		}
	}
}
