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
		if behind := l.Now().Behind; behind < 100*time.Millisecond {
			t.Errorf("after 200 ms of silence, it is %s behind", behind)
		}
		gate.Store(nil)
		close(closed)
		untilDone(t, l, l.Now().Operations+800)
		took := time.Since(started) // until it is told to stop: what that takes is no time for operations
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
		due := int64((took - r.Behind).Seconds() * 2000)
		if all.Operations < due-int64(w.Clients) {
			t.Errorf("%d operations of %d", all.Operations, due)
		}
	}
}
