package client

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/freeport"
	"github.com/ringside-kv/ringside/loadtest/workload"
)

func TestSameSeedGivesSameOperations(t *testing.T) {
	const n = 300
	ask := func(pipeline int, think time.Duration) []string {
		f := newFake(t, &fake{})
		w := workloadOf(t, "5 get; 3 set; 1 mget 3")
		l := open(t, Config{Workload: w, Targets: only(f.addr), Pipeline: pipeline, Think: think})
		l.Start()
		for enough := false; !enough; time.Sleep(time.Millisecond) {
			f.mu.Lock()
			enough = len(f.seen) == w.Clients && !slices.ContainsFunc(f.seen, func(c [][]string) bool { return len(c) < n })
			f.mu.Unlock()
		}
		if _, err := l.Stop(within(t)); err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, c := range f.commands() {
			all = append(all, strings.Join(strings.Split(c, "\n")[:n], "\n"))
		}
		slices.Sort(all) // connections are accepted in any order
		return all
	}
	first := ask(1, 0)
	if !slices.Equal(first, ask(16, 0)) || !slices.Equal(first, ask(7, 100*time.Microsecond)) {
		t.Error("other operations, or another order")
	}
	if first[0] == first[1] {
		t.Error("two clients do the same")
	}
}

// Connections break after every number of bytes. No write is sent twice, what is not
// answered is known to be so, and nobody is accused.
func TestConnectionsThatBreakAnywhere(t *testing.T) {
	for _, rate := range []string{"", "20000"} {
		f := newFake(t, &fake{cut: func(conn int) int {
			if conn < 4 || conn > 300 {
				return -1 - conn/1000
			}
			return conn - 4
		}})
		// The first connections are to be left: by an answer that ends them.
		f.answer = func(conn int, _ []string) (string, bool, bool) { return "", false, conn >= 4 }
		w := workloadOf(t, "1 get; 1 set; 1 mget 2")
		var err error
		if w.Rate, err = workload.ParseRate(rate); err != nil {
			t.Fatal(err)
		}
		w.Keys = 50
		cfg := Config{Workload: w, Targets: only(f.addr), Pipeline: 5}
		verified(t, &cfg)
		l := open(t, cfg)
		l.Start()
		for n := 0; n < 320; time.Sleep(time.Millisecond) {
			f.mu.Lock()
			n = len(f.seen)
			f.mu.Unlock()
			if n > 300 {
				break
			}
		}
		untilDone(t, l, l.Now().Operations+500)
		r, err := l.Stop(within(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Recheck(within(t)); err != nil {
			t.Error(err)
		}
		if c := cfg.Check.Checked(); c.Lost+c.Stale+c.Corrupt+c.FinalUnread > 0 || c.FinalKeys == 0 || c.Reads < 100 {
			t.Errorf("%+v", c)
		}
		all := r.Series.All()
		f.mu.Lock()
		executed := int64(len(f.writes))
		for value, n := range f.writes {
			if n > 1 {
				t.Errorf("%.48s was sent %d times", value, n)
			}
		}
		f.mu.Unlock()
		acked := int64(0)
		for _, c := range all.Commands {
			if c.Command == "SET" {
				acked = c.Operations - c.Failed
			}
		}
		if r.Broken < 300 || all.Unknown == 0 || executed < acked || executed > acked+all.Unknown || all.Failed < all.Unknown {
			t.Errorf("%d connections broke, %d writes were executed, %d acknowledged, %d are unknown, %d operations failed", r.Broken, executed, acked, all.Unknown, all.Failed)
		}
		if all.LongestPauseMS <= 0 || all.LongestPauseOf == "" {
			t.Errorf("the longest pause is %v of %q", all.LongestPauseMS, all.LongestPauseOf)
		}
	}
}

func TestErrorRepliesAreFailures(t *testing.T) {
	for reply, want := range map[string]struct{ unknown, redirected, broken bool }{
		"-MOVED 1 127.0.0.1:1\r\n": {redirected: true},
		"-TRYAGAIN later\r\n":      {},
		"-UNKNOWN who knows\r\n":   {unknown: true},
		"-ERR proxy is lost\r\n":   {unknown: true},
		"garbage\r\n":              {unknown: true, broken: true},
		"+OK\r\n+OK\r\n":           {broken: true}, // an answer too many
		"":                         {unknown: true, broken: true},
	} {
		f := newFake(t, &fake{answer: func(int, []string) (string, bool, bool) { return reply, true, reply != "" }})
		l := open(t, Config{Workload: workloadOf(t, "1 set"), Targets: only(f.addr), Window: 10 * time.Millisecond})
		l.Start()
		untilDone(t, l, 20)
		r, err := l.Stop(within(t))
		if err != nil {
			t.Fatal(err)
		}
		all := r.Series.All()
		if want.broken && reply == "+OK\r\n+OK\r\n" {
			if r.Broken == 0 || !errors.Is(r.Why, errUnasked) {
				t.Errorf("%q: %d connections broke: %v", reply, r.Broken, r.Why)
			}
			continue
		}
		if all.Failed != all.Operations || (all.Unknown == all.Operations) != want.unknown || all.Unknown > 0 != want.unknown ||
			all.Redirected > 0 != want.redirected || r.Broken > 0 != want.broken {
			t.Errorf("%q: %+v, broken %d: %v", reply, all.Clients, r.Broken, r.Why)
		}
	}
}

func TestSilentServerIsLeft(t *testing.T) {
	var silent atomic.Bool
	still := newFake(t, &fake{answer: func(int, []string) (string, bool, bool) { return "", silent.Load(), true }})
	other := newFake(t, &fake{})
	l := open(t, Config{Workload: workloadOf(t, "1 set"), Targets: only(still.addr, other.addr), Timeout: 20 * time.Millisecond, Pipeline: 2})
	l.Start()
	untilDone(t, l, 50)
	silent.Store(true)
	for len(other.commands()) == 0 {
		time.Sleep(time.Millisecond)
	}
	untilDone(t, l, l.Now().Operations+50)
	r, err := l.Stop(within(t))
	if all := r.Series.All(); err != nil || all.Unknown < 4 {
		t.Errorf("%v, %+v", err, all.Clients)
	}
}

func TestClientsFollowRedirects(t *testing.T) {
	a, b := newFake(t, &fake{}), newFake(t, &fake{})
	var targets atomic.Pointer[[]string]
	targets.Store(&[]string{a.addr})
	for _, route := range []Route{One, Any} {
		l := open(t, Config{Workload: workloadOf(t, "1 set"), Targets: func() []string { return *targets.Load() }, Route: route})
		l.Start()
		untilDone(t, l, 20)
		targets.Store(&[]string{b.addr, a.addr})
		before := len(b.commands())
		for len(b.commands()) == before {
			time.Sleep(time.Millisecond)
		}
		r, err := l.Stop(within(t))
		if all := r.Series.All(); err != nil || all.Failed > 0 || r.Broken > 0 {
			t.Errorf("%s: %v, %+v", route, err, all.Clients)
		}
		targets.Store(&[]string{a.addr})
	}
}

func TestClientsThatDoNotEndAreCutOff(t *testing.T) {
	for _, rate := range []string{"", "1000"} {
		var asked atomic.Int64
		f := newFake(t, &fake{answer: func(int, []string) (string, bool, bool) { asked.Add(1); return "", true, true }})
		w := workloadOf(t, "1 set")
		w.Rate, _ = workload.ParseRate(rate)
		l := open(t, Config{Workload: w, Targets: only(f.addr), Timeout: time.Hour})
		l.Start()
		for asked.Load() < 4 {
			time.Sleep(time.Millisecond)
		}
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(20*time.Millisecond, cancel)
		r, err := l.Stop(ctx)
		if all := r.Series.All(); !errors.Is(err, context.Canceled) || all.Unknown != all.Operations || all.Unknown != 4 {
			t.Errorf("%v, %+v", err, all.Clients)
		}
	}
}

func TestPhasesAndLiveFigures(t *testing.T) {
	f := newFake(t, &fake{})
	l := open(t, Config{Workload: workloadOf(t, "1 get; 1 set"), Targets: only(f.addr), Window: 10 * time.Millisecond})
	l.Phase("first")
	l.Start()
	untilDone(t, l, 100)
	l.Phase("second")
	untilDone(t, l, l.Now().Operations+100)
	live := l.Now()
	for ctx := within(t); live.PerSecond == 0 && ctx.Err() == nil; live = l.Now() { // a window has to be over
		time.Sleep(time.Millisecond)
	}
	if live.Phase != "second" || live.Connected != 4 || live.PerSecond <= 0 || live.P99 <= 0 {
		t.Errorf("%+v", live)
	}
	r, err := l.Stop(within(t))
	if err != nil {
		t.Fatal(err)
	}
	phases := r.Series.Phases()
	if len(phases) != 2 || phases[0].Name != "first" || phases[1].Name != "second" || phases[0].UntilMS != phases[1].FromMS || phases[1].Operations < 50 {
		t.Errorf("%+v", phases)
	}
	if r.Took <= 0 || r.Cores <= 0 {
		t.Errorf("%+v", r)
	}
}

func TestOpenReportsUnreachableServers(t *testing.T) {
	nobody, release, err := freeport.Loopback(1)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	for _, route := range []Route{One, Any, Ring, Cluster} {
		_, err := Open(within(t), Config{Workload: workloadOf(t, "1 get"), Targets: only(nobody[0]), Route: route, Timeout: time.Second})
		if err == nil || strings.Count(err.Error(), "refused") != 1 { // however many clients there are
			t.Errorf("%s: %v", route, err)
		}
	}
	w := workloadOf(t, "1 mget 2")
	w.Clients = 0
	_, err = Open(within(t), Config{Workload: w, Route: Cluster, Pipeline: -1, Think: -1, Username: "x", Timeout: 1, Window: 1})
	for _, want := range []string{"0 clients", "no targets", "pipeline of -1", "pause of -1ns", "user name without", "time-out of 1ns", "window of 1ns", "MGET 2"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in %v", want, err)
		}
	}
}
