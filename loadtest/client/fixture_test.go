package client

import (
	"context"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/loadtest/check"
	"github.com/ringside-kv/ringside/loadtest/workload"
)

// workloadOf is one of 4 clients and 1,000 keys.
func workloadOf(t testing.TB, mix string) workload.Config {
	t.Helper()
	m, err := workload.ParseMix(mix)
	if err != nil {
		t.Fatal(err)
	}
	sizes, err := workload.ParseSizes("60")
	if err != nil {
		t.Fatal(err)
	}
	return workload.Config{Seed: 1, Clients: 4, Keys: 1000, Prefix: "k:", Mix: m, Sizes: sizes, Stamped: true}
}

// only is a list of targets that does not change.
func only(addrs ...string) func() []string { return func() []string { return addrs } }

// verified gives a load a model that judges it, of a server without keys.
func verified(t testing.TB, cfg *Config) {
	t.Helper()
	m, err := check.NewModel(check.Config{Clients: cfg.Writers(), Fresh: true, Name: func(key int64) string {
		return string(cfg.Workload.AppendKey(nil, key))
	}})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Check = m
}

func open(t testing.TB, cfg Config) *Load {
	t.Helper()
	l, err := Open(within(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// within is a minute, which nothing here takes.
func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// play runs a load for so long.
func play(t testing.TB, l *Load, d time.Duration) Result {
	t.Helper()
	l.Start()
	time.Sleep(d)
	r, err := l.Stop(within(t))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// untilDone waits until so many operations have ended.
func untilDone(t testing.TB, l *Load, n int64) {
	t.Helper()
	for ctx := within(t); l.Now().Operations < n; time.Sleep(time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatalf("after a minute, %d operations are done", l.Now().Operations)
		}
	}
}
