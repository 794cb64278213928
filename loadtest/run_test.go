package loadtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/loadtest/client"
	"github.com/ringside-kv/ringside/loadtest/cluster"
	"github.com/ringside-kv/ringside/loadtest/report"
	"github.com/ringside-kv/ringside/loadtest/result"
	"github.com/ringside-kv/ringside/loadtest/workload"
	"github.com/ringside-kv/ringside/resp/node"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// small is a test of a few seconds.
func small(t *testing.T, steps string, all ...Contestant) Config {
	t.Helper()
	s, err := ParseScript(steps)
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{
		Contestants: all, Rounds: 1, Script: s, Verify: true,
		Config: client.Config{
			Workload: workload.Config{Seed: 7, Clients: 4, Prefix: "k"},
			Route:    client.Any, Pipeline: 2, Think: time.Millisecond, Timeout: 5 * time.Second, Window: 100 * time.Millisecond,
		},
		Fleet:   cluster.Config{Nodes: 3, Backups: 1, RereplicateAfter: time.Second, Dir: t.TempDir()},
		Version: "of a test",
	}
	for _, part := range []struct {
		err   error
		parse func() error
	}{
		{parse: func() (err error) { cfg.Workload.Mix, err = workload.ParseMix("3 get; 1 set"); return }},
		{parse: func() (err error) { cfg.Workload.Choice, err = workload.ParseChoice("uniform"); return }},
		{parse: func() (err error) { cfg.Workload.Sizes, err = workload.ParseSizes("64"); return }},
	} {
		if err := part.parse(); err != nil {
			t.Fatal(err)
		}
	}
	return cfg
}

// server is a node that runs already.
func server(t *testing.T) *node.Node {
	t.Helper()
	cfg := node.DefaultConfig()
	cfg.Addr, cfg.Dir, cfg.HTTPAddr = "127.0.0.1:0", t.TempDir(), node.HTTPOff
	n, err := node.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	return n
}

func only(t *testing.T, r *result.Report, err error) *result.Run {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Contestants) != 1 || len(r.Contestants[0].Runs) != 1 {
		t.Fatalf("%d contestants", len(r.Contestants))
	}
	return &r.Contestants[0].Runs[0]
}

// empty tells that no temporary directory is left.
func empty(t *testing.T, dir string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// By every route no answer is wrong and none is an error while a node joins or the strategy is
// switched, and in redirect mode clients are redirected. Errors are allowed in a run in which the
// process stood still for so long that a node may have lost its lease, or a connection its deadline:
// then the run is repeated.
func TestEveryWayToAKeyThatMoves(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a cluster for each")
	}
	t.Parallel() // it waits most of the time
	type way struct {
		route client.Route
		hash  string
	}
	ways := []way{
		{client.One, strategy.Native}, {client.Ring, strategy.Native}, {client.Ring, strategy.Slot},
		{client.Cluster, strategy.Native}, {client.Cluster, strategy.Slot},
	}
	if os.Getenv("RINGSIDE_LONG") == "" { // two random ones in each run; test:loadtest runs all
		rand.Shuffle(len(ways), func(i, j int) { ways[i], ways[j] = ways[j], ways[i] })
		ways = ways[:2]
	}
	for _, c := range ways {
		events := []string{"join", "strategy ketama"}
		if os.Getenv("RINGSIDE_LONG") == "" {
			events = events[rand.IntN(2):][:1]
		}
		steps := "load 2000; run 300ms; " + strings.Join(events, "; balance; run 500ms; ") + "; balance; run 500ms"
		t.Run(fmt.Sprintf("%v %s: %s", c.route, c.hash, strings.Join(events, ", ")), func(t *testing.T) {
			t.Parallel() // it waits most of the time
			for range 5 {
				cfg := small(t, steps, Contestant{Name: "buckets", Strategy: "buckets"})
				cfg.Route, cfg.Fleet.Hash = c.route, c.hash
				pause := longestPause()
				r, err := Run(t.Context(), cfg)
				paused := pause()
				run := only(t, r, err)
				if run.Failure != "" {
					t.Fatal(run.Failure)
				}
				if run.All.Operations < 500 || run.Events[0].MovedKeys == 0 {
					t.Errorf("%d operations, moved %d", run.All.Operations, run.Events[0].MovedKeys)
				}
				if k := run.Checked; k.Lost+k.Stale+k.Corrupt+k.FinalUnread > 0 {
					t.Errorf("checked: %+v", k)
				}
				if cfg.redirects() != (run.All.Redirected > 0) {
					t.Errorf("redirected %d times", run.All.Redirected)
				}
				if run.All.Failed+run.All.Unknown == 0 || t.Failed() {
					return
				}
				if paused < time.Second/4 {
					t.Fatalf("%d failed, %d of unknown outcome", run.All.Failed, run.All.Unknown)
				}
				t.Logf("%d failed, %d of unknown outcome: the process stood still for %s", run.All.Failed, run.All.Unknown, paused)
			}
			t.Skip("the machine is too busy")
		})
	}
}

// longestPause begins to look for moments at which this process gets no processor time. The
// function that it returns ends that, and returns the longest pause.
func longestPause() (end func() time.Duration) {
	const pace = 50 * time.Millisecond
	stop, longest := make(chan struct{}), make(chan time.Duration)
	go func() {
		var most time.Duration
		ticker := time.NewTicker(pace)
		defer ticker.Stop()
		for last := time.Now(); ; {
			select {
			case <-stop:
				longest <- most
				return
			case <-ticker.C:
				now := time.Now()
				most = max(most, now.Sub(last)-pace)
				last = now
			}
		}
	}()
	return func() time.Duration {
		close(stop)
		return <-longest
	}
}

// A cluster plays a whole script: what happens in it is all told, nothing is lost, and
// nothing stays behind.
func TestClusterPlaysAScript(t *testing.T) {
	t.Parallel() // it waits most of the time
	// Each event begins with a balanced cluster: on a slow machine a backup may fall behind
	// the clients and be copied again, and what an event has to move at the least is told
	// from what nodes hold when it begins.
	steps, want := "load 3000; run 1s; balance; join; balance; run 500ms; balance; leave; balance; kill; balance; run 500ms; balance; restart; balance; strategy ketama; balance; run 500ms", "join leave kill restart strategy"
	if testing.Short() {
		steps, want = "load 3000; run 1s; balance; kill; balance; run 500ms", "kill"
	}
	cfg := small(t, steps, Contestant{Name: "vnode", Strategy: "vnode"})
	told := make(map[string]bool)
	cfg.Progress = func(all []report.State) { told[all[0].Phase] = true }
	r, err := Run(t.Context(), cfg)
	run := only(t, r, err)
	if run.Failure != "" {
		t.Fatal(run.Failure)
	}
	if run.LoadKeys != 3000 || run.All.Operations == 0 || len(run.Windows) < 15 || len(run.Samples) == 0 || len(run.Layouts) < 2 {
		t.Errorf("loaded %d, %d operations, %d windows, %d samples, %d layouts", run.LoadKeys, run.All.Operations, len(run.Windows), len(run.Samples), len(run.Layouts))
	}
	var names []string
	for i, e := range run.Events {
		names = append(names, e.Name)
		if e.BalancedMS == nil || *e.BalancedMS < e.DoneMS || e.DoneMS < e.AtMS {
			t.Errorf("%s: from %v to %v, balanced %v", e.Name, e.AtMS, e.DoneMS, e.BalancedMS)
		}
		if e.Before.PerSecond <= 0 && i == 0 || e.During.PerSecond <= 0 || e.Node == "" || e.BalanceAfter == nil {
			t.Errorf("%+v", e)
		}
		// On a machine that stands still, commands exceed their deadline. That none fails otherwise is
		// tested in virtual time: TestSwitchOfStrategyLosesAndFailsNothing.
		if e.Name == "strategy" && (e.Node != "ketama" || e.MovedKeys == 0 || e.Factor == nil || *e.Factor < 0.9) {
			t.Errorf("%+v", e)
		}
		if e.Name == "join" || e.Name == "leave" || e.Name == "kill" {
			// No upper bound: copies made again during the event count as moved.
			if e.Factor == nil || *e.Factor < 0.5 || e.LeastKeys < 500 || e.LeastKeys > 3000 || e.MovedBytes == 0 || e.Handoffs == 0 {
				t.Errorf("%s moved %d keys, %d bytes by %d handoffs; %d at the least", e.Name, e.MovedKeys, e.MovedBytes, e.Handoffs, e.LeastKeys)
			}
		}
	}
	if got := strings.Join(names, " "); got != want {
		t.Errorf("events: %s", got)
	}
	if k := run.Checked; k == nil || k.Lost+k.Stale+k.Corrupt > 0 || k.Reads == 0 || k.FinalKeys < 3000 || k.FinalUnread > 0 {
		t.Errorf("checked: %+v", k)
	}
	if !told["run 1s"] || !told["balance"] {
		t.Errorf("told: %v", told)
	}
	empty(t, cfg.Fleet.Dir)
}

// What cannot be reached, and what goes away, is said to be so; the others go on.
func TestOtherContestantsContinue(t *testing.T) {
	t.Parallel() // it waits most of the time
	first, second := server(t), server(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	at := func(n *node.Node) []string { return []string{n.Addr().String()} }
	cfg := small(t, "load 100; run 1h",
		Contestant{Name: "nobody", Addrs: []string{"127.0.0.1:1"}},
		Contestant{Name: "goes away", Addrs: at(first)},
		Contestant{Name: "stays", Addrs: at(second)})
	cfg.Progress = func(all []report.State) {
		runs := func(s report.State) bool { return s.Phase == "run 1h0m0s" && s.PerSecond > 0 }
		if runs(all[1]) {
			_ = first.Close()
		}
		if all[1].Failure != "" && runs(all[2]) {
			cancel()
		}
	}
	r, err := Run(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"refused", errGone.Error(), errInterrupted.Error()} {
		run := &r.Contestants[i].Runs[0]
		if !strings.Contains(run.Failure, want) {
			t.Errorf("%s: %q, want %q", r.Contestants[i].Name, run.Failure, want)
		}
		if i > 0 && run.All.Operations == 0 {
			t.Errorf("%s: what was seen before is not there", r.Contestants[i].Name)
		}
	}
	if !r.Interrupted {
		t.Error("it is not said that it was interrupted")
	}
}

// A cluster that is interrupted leaves nothing behind, and what there is.
func TestInterrupted(t *testing.T) {
	t.Parallel() // it waits most of the time
	cfg := small(t, "load 1000; run 1h", Contestant{Name: "buckets", Strategy: "buckets"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cfg.Progress = func(all []report.State) {
		if all[0].Phase == "run 1h0m0s" && all[0].PerSecond > 0 {
			cancel()
		}
	}
	r, err := Run(ctx, cfg)
	run := only(t, r, err)
	if run.Failure != errInterrupted.Error() || run.All.Operations == 0 || !r.Interrupted {
		t.Errorf("%q after %d operations", run.Failure, run.All.Operations)
	}
	empty(t, cfg.Fleet.Dir)
}

// What makes no sense is refused, all of it at once, before anything begins.
func TestConfigsThatMakeNoSense(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"nobody to compare":     func(c *Config) { c.Contestants = nil },
		"twice":                 func(c *Config) { c.Contestants = append(c.Contestants, c.Contestants[0]) },
		"0 rounds":              func(c *Config) { c.Rounds = 0 },
		"the script is empty":   func(c *Config) { c.Script = nil },
		"a strategy or address": func(c *Config) { c.Contestants[0].Addrs = []string{"x:1"} },
		"neither come nor go":   func(c *Config) { c.Contestants[0] = Contestant{Name: "x", Addrs: []string{"x:1"}} },
		"one must stay":         func(c *Config) { c.Fleet.Nodes = 1 },
		"0 clients":             func(c *Config) { c.Workload.Clients = 0 },
	} {
		cfg := small(t, "run 1s; leave", Contestant{Name: "buckets", Strategy: "buckets"})
		change(&cfg)
		if _, err := Run(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if _, err := os.Stat(cfg.Fleet.Dir); err != nil {
			t.Error(err)
		}
	}
}

// used is a server that holds a key of its user.
func used(t *testing.T) *redis.Client {
	t.Helper()
	client := redistest.Client(&redis.Options{Addr: server(t).Addr().String()})
	t.Cleanup(func() { _ = client.Close() })
	if err := client.Set(t.Context(), "user:1", "kept", 0).Err(); err != nil {
		t.Fatal(err)
	}
	return client
}

// untouched tells that the server holds its user's key and no other.
func untouched(t *testing.T, client *redis.Client) {
	t.Helper()
	keys, err := client.Keys(t.Context(), "*").Result()
	if err != nil || len(keys) != 1 || keys[0] != "user:1" {
		t.Errorf("keys %.5q, %v", keys, err)
	}
}

func TestLoadOnUsedStoreRemovesItsKeys(t *testing.T) {
	t.Parallel()
	for _, route := range []client.Route{client.Any, client.Cluster} {
		client := used(t)
		cfg := small(t, "load 500; run 100ms", Contestant{Name: "it", Addrs: []string{client.Options().Addr}})
		cfg.Clear, cfg.Route = true, route
		var said []string
		cfg.Notice = func(text string) { said = append(said, text) }
		r, err := Run(t.Context(), cfg)
		if run := only(t, r, err); run.Failure != "" || run.All.Operations == 0 {
			t.Errorf("%v: %d operations, %s", route, run.All.Operations, run.Failure)
		}
		if len(said) != 1 || !strings.HasPrefix(said[0], "it holds 1 keys already") {
			t.Errorf("%v: said %q", route, said)
		}
		untouched(t, client)
	}
}

// A load with names of keys does not overwrite what is there, unless it is told to.
func TestLoadWithNamesSparesKeysInUse(t *testing.T) {
	t.Parallel()
	client := used(t)
	for _, tt := range []struct {
		name      string
		names     []string
		steps     string
		mix       string
		overwrite bool
		refused   bool
	}{
		{"the name of a key in use", []string{"new:1", "user:1"}, "load 2; run 100ms", "1 get", false, true},
		{"without a step load", []string{"new:1", "user:1"}, "run 100ms", "1 get; 1 set", false, true},
		{"only reads", []string{"new:1", "user:1"}, "run 100ms", "1 get", false, false},
		{"other names", []string{"new:1", "new:2"}, "load 2; run 100ms", "1 get; 1 set", false, false},
		{"again", []string{"new:1", "new:2"}, "load 2; run 100ms", "1 get; 1 set", true, false},
	} {
		cfg := small(t, tt.steps, Contestant{Name: "it", Addrs: []string{client.Options().Addr}})
		var err error
		if cfg.Workload.Mix, err = workload.ParseMix(tt.mix); err != nil {
			t.Fatal(err)
		}
		for _, name := range tt.names {
			cfg.Workload.Names = append(cfg.Workload.Names, []byte(name))
		}
		cfg.Overwrite = tt.overwrite
		r, err := Run(t.Context(), cfg)
		if tt.refused {
			if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), `it: "user:1": `) {
				t.Errorf("%s: %v", tt.name, err)
			}
		} else if run := only(t, r, err); run.Failure != "" || run.All.Operations == 0 {
			t.Errorf("%s: %d operations, %s", tt.name, run.All.Operations, run.Failure)
		}
		if got := client.Get(t.Context(), "user:1").Val(); got != "kept" {
			t.Errorf("%s: the user's key is %.20q now", tt.name, got)
		}
	}
}

func TestInterruptedLoadOnUsedStoreRemovesItsKeys(t *testing.T) {
	t.Parallel()
	client := used(t)
	cfg := small(t, "load 500; run 1h", Contestant{Name: "it", Addrs: []string{client.Options().Addr}})
	cfg.Clear = true
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cfg.Progress = func(all []report.State) {
		if all[0].Phase == "run 1h0m0s" && all[0].PerSecond > 0 {
			cancel()
		}
	}
	if r, err := Run(ctx, cfg); err != nil || !r.Interrupted {
		t.Errorf("%+v, %v", r, err)
	}
	untouched(t, client)
}

func TestContestantsTakeTurnsInBeginningARound(t *testing.T) {
	for round, want := range [][]int{{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 1, 2}} {
		if got := order(3, round+1); !slices.Equal(got, want) {
			t.Errorf("round %d: %v, want %v", round+1, got, want)
		}
	}
}
