package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/replica/members"
	"github.com/ringside-kv/ringside/replica/table"
)

func openProxy(t *testing.T, dir, id string, join ...string) *Node {
	t.Helper()
	c := memberConfig(t, dir, id, join...)
	c.Role = RoleProxy
	n, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A proxy serves every key for its clients and has none: no share, no vote, no data on
// its disk.
func TestProxyRoutesAndHoldsNothing(t *testing.T) {
	defer goneInTheEnd(t)
	ctx := context.Background()
	a := openMember(t, "a")
	defer a.Close()
	b := openMember(t, "b", a.gossipAddr())
	defer b.Close()
	dir := t.TempDir()
	p := openProxy(t, dir, "p", a.gossipAddr())
	defer func() { p.Close() }()
	resptest.WaitFor(t, "two shares", func() bool {
		n := p.primaries()
		return n["a"] == 128 && n["b"] == 128
	})
	client := redistest.Client(&redis.Options{Addr: p.Addr().String(), MaxRetries: -1})
	defer client.Close()
	for i := range 500 {
		if err := client.Set(ctx, fmt.Sprint("key:", i), i, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := client.DBSize(ctx).Result(); n != 500 || err != nil {
		t.Errorf("DBSIZE through the proxy is %d, %v", n, err)
	}
	keys, err := client.Keys(ctx, "*").Result()
	if err != nil || len(keys) != 500 {
		t.Errorf("KEYS through the proxy are %d, %v", len(keys), err)
	}
	if a.store.Keys()+b.store.Keys() != 500 || p.store.Keys() != 0 {
		t.Errorf("%d, %d and %d keys", a.store.Keys(), b.store.Keys(), p.store.Keys())
	}
	resptest.WaitFor(t, "the proxy in the table", func() bool {
		node, _ := a.cluster.table.State().Node("p")
		return node.Role == table.Proxy && node.State == table.Member && len(a.cluster.table.State().MembersOf()) == 2
	})
	m, _ := a.cluster.members.Node("p")
	if m.Role != members.RoleProxy {
		t.Errorf("gossip has %+v", m)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "data", "*")); len(files) > 0 {
		t.Errorf("on its disk are %v", files)
	}
	redirected := redistest.Client(&redis.Options{Addr: p.Addr().String(), MaxRetries: -1, PoolSize: 1})
	defer redirected.Close()
	if err := redirected.Do(ctx, "RING", "ROUTE", "redirect").Err(); err != nil {
		t.Fatal(err)
	}
	if err := redirected.Get(ctx, "key:1").Err(); err == nil || !strings.HasPrefix(err.Error(), "MOVED ") {
		t.Errorf("a redirect connection gets %v", err)
	}

	// It comes back as what it was.
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	p = openProxy(t, dir, "p", a.gossipAddr())
	again := redistest.Client(&redis.Options{Addr: p.Addr().String(), MaxRetries: -1})
	defer again.Close()
	resptest.WaitFor(t, "the proxy serves again", func() bool { return again.Get(ctx, "key:7").Val() == "7" })
}

func TestProxyRefusesDirectoryOfStore(t *testing.T) {
	defer goneInTheEnd(t)
	dir := t.TempDir()
	a := openMemberIn(t, dir, "a")
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	c := memberConfig(t, dir, "p")
	c.Role = RoleProxy
	if n, err := Open(c); !errors.Is(err, ErrOtherRole) || n != nil {
		t.Errorf("%v", err)
	}
}

// A proxy without an id keeps the one that it was given first.
func TestProxyKeepsItsName(t *testing.T) {
	defer goneInTheEnd(t)
	dir := filepath.Join(t.TempDir(), "none", "yet")
	var names []string
	for range 2 {
		p := openProxy(t, dir, "", "127.0.0.1:1")
		names = append(names, p.ID())
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	host, _ := os.Hostname()
	if names[0] != names[1] || !strings.HasPrefix(names[0], host+"-") {
		t.Errorf("%v", names)
	}
}
