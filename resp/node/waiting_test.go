package node

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/admin"
)

// A node that is told to join founds nothing, however long nobody is there: it says what
// it waits for, is not ready, and answers with errors in time. Then it joins.
func TestJoiningNodeWaitsForOthers(t *testing.T) {
	randomtest.DrawShort(t, 4)
	defer goneInTheEnd(t)
	late := freeGossip(t, 1)[0]
	log := newRecords()
	cfg := memberConfig(t, t.TempDir(), "b", late)
	cfg.HTTPAddr, cfg.Logger = "127.0.0.1:0", slog.New(log)
	b, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	log.await(t, "not in a cluster yet", "no other node answers at "+late)
	if code, body := fetch(t, b, "/readyz"); code != http.StatusServiceUnavailable || !strings.Contains(body, "not in a cluster yet") {
		t.Errorf("/readyz: %d %s", code, body)
	}
	if code, _ := fetch(t, b, "/healthz"); code != http.StatusOK {
		t.Errorf("/healthz: %d", code)
	}
	client := redistest.Client(&redis.Options{Addr: b.Addr().String(), MaxRetries: -1, ReadTimeout: time.Minute})
	defer client.Close()
	if err := client.Get(t.Context(), "key").Err(); err == nil || err.Error() != "TRYAGAIN this node has not entered its cluster yet" {
		t.Errorf("a key of no cluster: %v", err)
	}
	if b.cluster.entry.chosenMembership().Generation != 0 {
		t.Error("it has chosen a cluster")
	}

	cfg = memberConfig(t, t.TempDir(), "a")
	cfg.GossipAddr = late
	a, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	resptest.WaitFor(t, "it serves", func() bool { return client.Set(t.Context(), "key", "value", 0).Err() == nil })
	resptest.WaitFor(t, "it is ready", func() bool {
		code, _ := fetch(t, b, "/readyz")
		return code == http.StatusOK
	})
	resptest.WaitFor(t, "both have a share", func() bool { return b.primaries()["b"] == 128 })

	// What others have does not take it out of service when they go.
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	resptest.WaitFor(t, "it notes what is missing", func() bool {
		code, body := fetch(t, b, "/readyz")
		return code == http.StatusOK && strings.Contains(body, "128 of 256 ranges have no node that serves them")
	})
}

// A node that starts while another one is away is not ready: it could not serve that
// one's keys.
func TestNodeIsReadyOnceEveryRangeIsServed(t *testing.T) {
	defer goneInTheEnd(t)
	dirs := []string{t.TempDir(), t.TempDir()}
	a := openMemberIn(t, dirs[0], "a")
	b := openMemberIn(t, dirs[1], "b", a.gossipAddr())
	resptest.WaitFor(t, "both have a share", func() bool { return a.primaries()["b"] == 128 && b.primaries()["b"] == 128 })
	for _, n := range []*Node{b, a} {
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
	a = openMemberIn(t, dirs[0], "a")
	defer a.Close()
	resptest.WaitFor(t, "a is in", func() bool { return a.cluster.entry.entered.Load() })
	if _, err := admin.Summary(a.cluster.readiness.ready()); err == nil || !strings.Contains(err.Error(), "128 of 256 ranges have no node") {
		t.Errorf("ready: %v", err)
	}
	b = openMemberIn(t, dirs[1], "b", a.gossipAddr())
	defer b.Close()
	resptest.WaitFor(t, "a is ready", func() bool { _, err := admin.Summary(a.cluster.readiness.ready()); return err == nil })
}

// The last store of a cluster keeps what it has, and the founder hands all of it over,
// with its vote.
func TestFounderLeaves(t *testing.T) {
	defer goneInTheEnd(t)
	ctx := context.Background()
	a := openMember(t, "a")
	defer a.Close()
	resptest.WaitFor(t, "a cluster of one", func() bool { return a.cluster.entry.entered.Load() })
	if err := a.Leave(ctx); err == nil || !strings.Contains(err.Error(), "no other store is left") {
		t.Errorf("the last store leaves: %v", err)
	}
	client := redistest.Client(&redis.Options{Addr: a.Addr().String(), MaxRetries: -1})
	defer client.Close()
	for i := range 100 {
		if err := client.Set(ctx, string(rune('a'+i)), i, 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	b := openMemberIn(t, dir, "b", a.gossipAddr())
	defer func() { b.Close() }()
	resptest.WaitFor(t, "two shares", func() bool { return b.primaries()["b"] == 128 && a.primaries()["b"] == 128 })

	short, cancel := context.WithTimeout(ctx, time.Nanosecond)
	defer cancel()
	if err := a.cluster.departure.waitDrained(short); err == nil || !strings.Contains(err.Error(), "128 ranges with about") || !strings.Contains(err.Error(), a.cfg.Dir) {
		t.Errorf("in no time: %v", err)
	}
	leaving, cancel := context.WithTimeout(ctx, 5*time.Minute) // beside a load, and with the race detector
	defer cancel()
	if err := a.Leave(leaving); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	// b goes on alone, also after a restart: the group of servers is of it alone.
	resptest.WaitFor(t, "b is the only voter", func() bool { _, self := b.cluster.table.Leader(); return self && b.cluster.table.Votes() })
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b = openMemberIn(t, dir, "b")
	again := redistest.Client(&redis.Options{Addr: b.Addr().String(), MaxRetries: -1})
	defer again.Close()
	for i := range 100 {
		if got, err := again.Get(ctx, string(rune('a'+i))).Int(); got != i || err != nil {
			t.Fatalf("key %d is %d, %v", i, got, err)
		}
	}
}

// A proxy has nothing to hand over.
func TestProxyLeavesAtOnce(t *testing.T) {
	defer goneInTheEnd(t)
	a := openMember(t, "a")
	defer a.Close()
	p := openProxy(t, t.TempDir(), "p", a.gossipAddr())
	defer p.Close()
	resptest.WaitFor(t, "p is in", func() bool { return p.cluster.entry.entered.Load() })
	if err := p.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	resptest.WaitFor(t, "nobody lists it as present", func() bool {
		n, _ := a.cluster.table.State().Node("p")
		return n.State.String() == "gone"
	})
}

// A node that waits for a cluster may go at any time.
func TestNodeOutsideClusterLeavesAtOnce(t *testing.T) {
	defer goneInTheEnd(t)
	b := openMember(t, "b", "127.0.0.1:1")
	defer b.Close()
	if err := b.Leave(t.Context()); err != nil {
		t.Error(err)
	}
}
