package fleet

import (
	"context"
	"os"
	"testing"
	"time"
)

func testConfig(t *testing.T, contestant string) Config {
	return Config{Contestant: contestant, Nodes: 3, Backups: 1, Dir: t.TempDir()}
}

func TestAFleetStartsAndGoes(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cfg := testConfig(t, "buckets")
	began := time.Now()
	f, err := Start(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Log("started", time.Since(began), f.Addrs())
	say := func(what string, ids []string, err error) {
		t.Log(time.Since(began), what, ids, err)
		if err != nil {
			t.Error(err)
		}
		if err := f.Balanced(ctx); err != nil {
			t.Error(err)
		}
		t.Log(time.Since(began), "balanced", f.Nodes())
	}
	ids, err := f.Join(ctx, 1)
	say("join", ids, err)
	ids, err = f.Leave(ctx, 1)
	say("leave", ids, err)
	ids, err = f.Kill(ctx, 1)
	say("kill", ids, err)
	ids, err = f.Restart(ctx)
	say("restart", ids, err)
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	t.Log(time.Since(began), "closed")
	if left, _ := os.ReadDir(cfg.Dir); len(left) > 0 {
		t.Error(left)
	}
}
