package node

import (
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/replica/members"
)

// memberConfig is that of a node on ports of its own.
func memberConfig(t *testing.T, dir, id string, join ...string) Config {
	t.Helper()
	c := DefaultConfig()
	c.Addr, c.HTTPAddr, c.Dir, c.ID, c.Join, c.env.Timing = "127.0.0.1:0", HTTPOff, dir, id, join, members.Fast()
	c.Cache, c.BlockCache, c.Backups = 8<<20, 8<<20, 0
	return c
}

// A lone node's data is never merged into a cluster, and may found one.
func TestDataOfLoneNodeIsNotMerged(t *testing.T) {
	defer goneInTheEnd(t)
	ctx := t.Context()
	lone := t.TempDir()
	n := openMemberIn(t, lone, "lone")
	client := redistest.Client(&redis.Options{Addr: n.Addr().String()})
	if err := client.Set(ctx, "key", "value", 0).Err(); err != nil {
		t.Fatal(err)
	}
	_ = client.Close()
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	forgetCluster(t, lone) // as an earlier version has left it
	a := openMember(t, "a")
	defer a.Close()
	if n, err := Open(memberConfig(t, lone, "lone", a.gossipAddr())); !errors.Is(err, ErrLoneData) || n != nil {
		t.Errorf("a lone node joins: %v", err)
	}
	cfg := memberConfig(t, lone, "lone")
	cfg.BootstrapExpect = 2
	if n, err := Open(cfg); !errors.Is(err, ErrLoneData) || n != nil {
		t.Errorf("a lone node founds with others: %v", err)
	}
	founder := openMemberIn(t, lone, "lone")
	defer founder.Close()
	client = redistest.Client(&redis.Options{Addr: founder.Addr().String()})
	defer client.Close()
	if got, err := client.Get(ctx, "key").Result(); got != "value" || err != nil {
		t.Errorf("the founder's key is %q, %v", got, err)
	}
}
