package client

import (
	"bytes"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// While more goroutines compute than there are processors, it is noticed.
func TestStrainIsNoticed(t *testing.T) {
	var s strain
	if s.share() != 0 {
		t.Error("there is some before it is watched")
	}
	stop := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() { s.watch(stop) })
	var ended atomic.Bool
	for range 8 * runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for !ended.Load() {
			}
		})
	}
	for end := time.Now().Add(time.Minute); s.share() < 0.2 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	share := s.share()
	ended.Store(true)
	close(stop)
	all.Wait()
	if share < 0.2 {
		t.Errorf("%v of the time", share)
	}
}

// What the clients take can be told from profiles of the process.
func TestGoroutinesOfALoadAreMarked(t *testing.T) {
	f := newFake(t, &fake{})
	l := open(t, Config{Workload: workloadOf(t, "1 get"), Targets: only(f.addr)})
	l.Start()
	untilDone(t, l, 10)
	var b bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil {
		t.Fatal(err)
	}
	marked := 0
	for _, stack := range strings.Split(b.String(), "\n\n") {
		ours := strings.Contains(stack, "client.(*worker).")
		mark := strings.Contains(stack, `"`+Label+`":"`+LabelValue+`"`)
		if ours && mark {
			marked++
		}
		if ours != mark && ours {
			t.Errorf("not marked: %s", stack)
		}
	}
	if marked == 0 {
		t.Errorf("none is marked:\n%s", b.String())
	}
	if _, err := l.Stop(within(t)); err != nil {
		t.Fatal(err)
	}
}

// Bells ring in the order of their times, once, and not before.
func TestBellsRingWhenTheyAreDue(t *testing.T) {
	base := time.Now()
	now := func() time.Duration { return time.Since(base) }
	a, err := newAlarm(now)
	if err != nil {
		t.Fatal(err)
	}
	type ring struct {
		n  int
		at time.Duration
	}
	rung := make(chan ring, 10)
	bells := make([]bell, 4)
	due := []time.Duration{30 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, time.Hour}
	for i := range bells {
		a.set(&bells[i], due[i], func() { rung <- ring{i, now()} })
	}
	dropped := bell{}
	a.set(&dropped, 15*time.Millisecond, func() { rung <- ring{99, now()} })
	a.drop(&dropped)
	a.set(&bells[1], 25*time.Millisecond, func() { rung <- ring{1, now()} })
	for _, want := range []int{2, 1, 0} {
		if r := <-rung; r.n != want || r.at < 20*time.Millisecond {
			t.Errorf("bell %d rings after %s, want bell %d", r.n, r.at, want)
		}
	}
	a.end()
	if r := <-rung; r.n != 3 {
		t.Errorf("bell %d rings at the end", r.n)
	}
	a.set(&bells[0], time.Hour, func() { rung <- ring{0, now()} })
	if r := <-rung; r.n != 0 {
		t.Errorf("bell %d rings after the end", r.n)
	}
	a.close()
	if len(rung) > 0 {
		t.Errorf("%+v rings as well", <-rung)
	}
}
