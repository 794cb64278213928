package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ringside-kv/ringside/internal/resptest"
)

func testConfig(t *testing.T, contestant string) Config {
	return Config{Contestant: contestant, Nodes: 3, Backups: 1, Dir: t.TempDir(), Password: "secret"}
}

// empty tells that nothing is left in a directory.
func empty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("in %s there is left %v, %v", dir, left, err)
	}
}

// gone waits for what memberlist leaves behind for a while.
func gone(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		err := goleak.Find()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// fill sets keys through the nodes of a fleet, one after the other.
func fill(t *testing.T, f *Cluster, keys int) {
	t.Helper()
	addrs := f.Addrs()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	const batch = 100
	for i, addr := range addrs {
		l, err := f.access().dial(ctx, addr)
		if err != nil {
			t.Fatal(err)
		}
		mine := keys*(i+1)/len(addrs) - keys*i/len(addrs)
		for at := 0; at < mine; at += batch {
			n := min(batch, mine-at)
			for k := range n {
				l.Add([]byte("SET"), fmt.Appendf(nil, "key:%d:%d", i, at+k), []byte(strings.Repeat("v", 100)))
			}
			free := l.bound(ctx, patience)
			if err := l.Flush(); err != nil {
				t.Fatal(err)
			}
			for range n {
				if _, err := l.Reply(); err != nil {
					t.Fatal(err)
				}
			}
			free()
		}
		l.Close()
	}
}

// A fleet grows, loses a node and gets it back; what happens is seen; and nothing is left of
// it in the end.
func TestFleetGrowsAndLosesANode(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cfg := testConfig(t, "buckets:000F")
	cfg.Nodes, cfg.RereplicateAfter = 2, time.Minute
	f, err := Start(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := f.Watch(ctx, WatchConfig{Every: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	const keys = 3000
	fill(t, f, keys)
	if err := f.Balanced(ctx); err != nil {
		t.Fatal(err)
	}
	before, err := w.Holdings(ctx)
	if err != nil || before.Total.Keys != keys || before.Nodes["n1"].Keys != keys || before.Nodes["n2"].Keys != keys {
		t.Errorf("%+v, %v", before, err)
	}
	ids, err := f.Join(ctx, 1)
	if err != nil || !slices.Equal(ids, []string{"n3"}) {
		t.Fatal(ids, err)
	}
	if err := f.Balanced(ctx); err != nil {
		t.Fatal(err)
	}
	moved, err := w.Moved(ctx)
	if err != nil {
		t.Fatal(err)
	}
	after, err := w.Holdings(ctx)
	if err != nil || after.Total.Keys != keys || len(after.Nodes) != 3 {
		t.Errorf("%+v, %v", after, err)
	}
	if got := after.Nodes["n3"]; moved.Keys != got.Keys || moved.Bytes != got.Bytes || got.Keys == 0 {
		t.Errorf("%+v moved, and n3 has %+v", moved, got)
	}
	if least := f.Least(before); least.Keys != 2*keys/3 {
		t.Errorf("%+v had to move", least)
	}
	ids, err = f.Kill(ctx, 1)
	if err != nil || len(ids) != 1 {
		t.Fatal(ids, err)
	}
	up := f.Nodes()
	if len(up) != 2 || slices.ContainsFunc(up, func(n Node) bool { return n.ID == ids[0] }) {
		t.Errorf("%s was killed, and up are %v", ids, up)
	}
	if _, err := f.Kill(ctx, 2); err == nil {
		t.Error("the last two can be killed")
	}
	if _, err := f.Leave(ctx, 2); err == nil {
		t.Error("the last two can leave")
	}
	back, err := f.Restart(ctx)
	if err != nil || !slices.Equal(back, ids) {
		t.Fatal(back, err)
	}
	if _, err := f.Restart(ctx); err == nil {
		t.Error("nobody is dead, and starts again")
	}
	if err := f.Balanced(ctx); err != nil {
		t.Fatal(err)
	}
	if again, err := w.Holdings(ctx); err != nil || again.Total != after.Total || again.Nodes[ids[0]] != after.Nodes[ids[0]] {
		t.Errorf("%+v, %v; before %+v", again, err, after)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	samples, layouts := w.Stop()
	if len(samples) < 3 || len(layouts) < 2 {
		t.Errorf("%d samples, %d layouts", len(samples), len(layouts))
	}
	sum := int64(0)
	for _, s := range samples {
		if sum += s.MovedKeys; s.MovedKeys < 0 {
			t.Errorf("%+v", s)
		}
	}
	if sum < moved.Keys {
		t.Errorf("%d keys have moved in samples, %d in all", sum, moved.Keys)
	}
	if _, err := f.Join(ctx, 1); err != ErrClosed {
		t.Errorf("it is closed, and grows: %v", err)
	}
	if _, err := f.Watch(ctx, WatchConfig{}); err == nil {
		t.Error("it is closed, and can be watched")
	}
	empty(t, cfg.Dir)
	gone(t)
}

// Whoever gives up waiting for a fleet has nothing left of it.
func TestStartIsGivenUp(t *testing.T) {
	cfg := testConfig(t, "vnode")
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if f, err := Start(ctx, cfg); err == nil {
		_ = f.Close()
		t.Skip("it was quicker")
	}
	empty(t, cfg.Dir)
	gone(t)
}

func TestStartThatFails(t *testing.T) {
	cfg := testConfig(t, "ketama")
	cfg.Processes, cfg.Binary = true, "/bin/false"
	if _, err := Start(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "ended: exit status 1") {
		t.Error(err)
	}
	empty(t, cfg.Dir)
	cfg.Dir += "/nowhere"
	if _, err := Start(t.Context(), cfg); err == nil {
		t.Error("there is no directory, and it starts")
	}
	gone(t)
}

func TestConfigReportsAllFaults(t *testing.T) {
	_, err := Start(t.Context(), Config{Contestant: "vnodes", Nodes: 65, Binary: "x"})
	for _, want := range []string{"column 1", "65 nodes", "a binary is given"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	_, err = Start(t.Context(), Config{Contestant: "vnode", Nodes: 1, Hash: "no-such", Fsync: "sometimes", Backups: -1})
	for _, want := range []string{"hash", "fsync", "backups"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

// What configures nodes here is nothing to those of a fleet.
func TestEnvironmentOfProcesses(t *testing.T) {
	got := CleanEnvironment([]string{"PATH=/bin", "RINGSIDE_STRATEGY=ketama", "GOGC=50", "RINGSIDE_CONFIG=x"})
	if !slices.Equal(got, []string{"PATH=/bin", "GOGC=50"}) {
		t.Error(got)
	}
}

// Close reports a node that ended by itself.
func TestNodeThatEndsByItselfIsAFault(t *testing.T) {
	f, err := Start(t.Context(), testConfig(t, "buckets"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Kill(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	m := f.those(up)[0]
	c, err := f.access().dial(t.Context(), m.at.client)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = c.do(t.Context(), "SHUTDOWN") // it has no reply
	resptest.WaitFor(t, m.id+" ends", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return m.state == dead
	})
	if err, want := f.Close(), "cluster: "+m.id+" ended by itself"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// Clients are sent to a node once it is in the cluster, and no sooner.
func TestClientsFindANodeThatIsReady(t *testing.T) {
	f, err := Start(t.Context(), testConfig(t, "buckets"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	before := f.Addrs()
	joined := make(chan error, 1)
	go func() {
		_, err := f.Join(context.Background(), 1)
		joined <- err
	}()
	seen := before
	for len(seen) == len(before) && len(joined) == 0 {
		seen = f.Addrs()
		time.Sleep(time.Millisecond)
	}
	if missing := f.notIn(t.Context(), []string{"n4"}); missing != nil {
		t.Error(missing)
	}
	if err := <-joined; err != nil {
		t.Fatal(err)
	}
	if got := f.Addrs(); len(got) != len(before)+1 {
		t.Errorf("%v, and before %v", got, before)
	}
}

func TestLastLineOfALogSaysWhyAProcessEnded(t *testing.T) {
	name := filepath.Join(t.TempDir(), "n1.log")
	for text, want := range map[string]string{"": "", "one\n": "one", "one\ntwo\nthree\n": "three", "one\ntwo": "two"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := lastLine(name); err == nil && want != "" || err != nil && err.Error() != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}
