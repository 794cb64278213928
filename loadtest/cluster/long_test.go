package cluster

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Every strategy, in this process and in processes: what an event moves is told, and hardly
// less than what has to move.
func TestEveryStrategyThroughEveryEvent(t *testing.T) {
	if os.Getenv("RINGSIDE_LONG") == "" {
		t.Skip("RINGSIDE_LONG is not set")
	}
	binary, err := Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, processes := range []bool{false, true} {
		for _, contestant := range []string{"buckets", "ketama", "vnode", "vnode:128"} {
			t.Run(fmt.Sprintf("%s processes=%v", contestant, processes), func(t *testing.T) {
				cfg := testConfig(t, contestant)
				if processes {
					cfg.Processes, cfg.Binary = true, binary
				}
				throughEveryEvent(t, cfg, 200_000)
			})
		}
	}
}

func throughEveryEvent(t *testing.T, cfg Config, keys int) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	began := time.Now()
	f, err := Start(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	t.Logf("started in %v", time.Since(began))
	w, err := f.Watch(ctx, WatchConfig{Every: 200 * time.Millisecond, Profile: true, Began: began})
	if err != nil {
		t.Fatal(err)
	}
	filling := time.Now()
	fill(t, f, keys)
	t.Logf("filled in %v", time.Since(filling))
	if err := f.Balanced(ctx); err != nil { // a backup may have fallen behind
		t.Fatal(err)
	}
	for _, event := range []struct {
		name   string
		happen func() ([]string, error)
	}{
		{"join", func() ([]string, error) { return f.Join(ctx, 1) }},
		{"leave", func() ([]string, error) { return f.Leave(ctx, 1) }},
		{"join 2", func() ([]string, error) { return f.Join(ctx, 2) }},
		{"kill", func() ([]string, error) { return f.Kill(ctx, 1) }},
		{"restart", func() ([]string, error) { return f.Restart(ctx) }},
	} {
		before, err := w.Holdings(ctx)
		if err != nil {
			t.Fatal(err)
		}
		sum := int64(0)
		for _, h := range before.Nodes {
			sum += h.Keys
		}
		moved, err := w.Moved(ctx)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Now()
		ids, err := event.happen()
		if err != nil {
			t.Fatal(event.name, err)
		}
		happened := time.Since(at)
		if err := f.Balanced(ctx); err != nil {
			t.Fatal(event.name, err)
		}
		balanced := time.Since(at)
		after, err := w.Moved(ctx)
		if err != nil {
			t.Fatal(err)
		}
		m, least := after.Sub(moved), f.Least(before)
		if off := float64(before.Total.Keys)/float64(keys) - 1; off < -0.01 || off > 0.01 {
			t.Errorf("%d keys are told of %d", before.Total.Keys, keys)
		}
		if off := float64(sum)/float64(2*keys) - 1; off < -0.01 || off > 0.01 {
			t.Errorf("%d copies are told of %d", sum, 2*keys)
		}
		// On a machine that is too busy backups fall behind and are copied once more, so that
		// there is no upper bound. vnode spares itself the evening out.
		if float64(m.Keys) < 0.5*float64(least.Keys) {
			t.Errorf("%s: %d keys have moved, where %d had to", event.name, m.Keys, least.Keys)
		}
		t.Logf("%-8s %v in %v, balanced after %v; %d keys, copies %d; moved %d keys %d bytes in %d handoffs, least %d: %.3f, bytes %.3f; RSS %d MB", event.name, ids,
			happened.Round(time.Millisecond), balanced.Round(time.Millisecond), before.Total.Keys, sum, m.Keys, m.Bytes, m.Handoffs, least.Keys,
			float64(m.Keys)/float64(least.Keys), float64(m.Bytes)/float64(least.Bytes), rss()>>20)
	}
	samples, layouts := w.Stop()
	sum := int64(0)
	for _, s := range samples {
		sum += s.MovedKeys
	}
	if all, _ := w.Moved(ctx); sum != w.sum.moved.Keys || all.Keys != sum {
		t.Errorf("%d keys have moved in samples, %d in all", sum, w.sum.moved.Keys)
	}
	last := samples[len(samples)-1]
	if len(last.Nodes) != 5 || last.Handoffs != 0 || len(layouts) < 10 {
		t.Errorf("in the end %+v, and %d layouts", last, len(layouts))
	}
	t.Logf("%d samples, %d layouts; the last: %+v", len(samples), len(layouts), last)
	for _, n := range last.Nodes {
		if n.Cores != nil {
			t.Logf("%s %.3f cores", n.Node, *n.Cores)
		}
	}
	if last.SharedCores != nil {
		t.Logf("generator %.3f, shared %.3f", *last.GeneratorCores, *last.SharedCores)
	}
}

func rss() int64 {
	b, _ := os.ReadFile("/proc/self/statm")
	f := strings.Fields(string(b))
	if len(f) < 2 {
		return 0
	}
	n, _ := strconv.ParseInt(f[1], 10, 64)
	return n * int64(os.Getpagesize())
}
