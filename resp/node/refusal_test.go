package node

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/replica/members"
)

// ended waits until a node wants to end, closes it, and returns why.
func (n *Node) ended(t *testing.T) error {
	t.Helper()
	select {
	case <-n.Done():
	case <-time.After(60 * time.Second):
		t.Error("the node goes on")
	}
	err := n.Err()
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	return err
}

// Who does not belong to a cluster is refused, and told why; so is the cluster.
func TestForeignNodeIsRefusedOnBothSides(t *testing.T) {
	if testing.Short() {
		t.Skip("opens many nodes")
	}
	defer goneInTheEnd(t)
	log := newRecords()
	cfg := memberConfig(t, t.TempDir(), "a")
	cfg.Strategy, cfg.VNodes, cfg.Logger = StrategyVnode, 8, slog.New(log)
	a, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	resptest.WaitFor(t, "a cluster of one", func() bool { return a.cluster.entry.entered.Load() })
	for _, tt := range []struct {
		id     string
		change func(*Config)
		want   error
		texts  []string // in the newcomer's error
		here   []string // in the member's log
	}{
		{"name", func(c *Config) { c.Cluster = "other" }, members.ErrStranger,
			[]string{`cluster "ringside", here it is "other"`}, []string{"node name at", `cluster "other", here it is "ringside"`}},
		{"strategy", func(c *Config) { c.Strategy, c.VNodes = StrategyKetama, 0 }, ErrRefused,
			[]string{"--strategy ketama was asked for, the cluster has vnode"}, []string{"refused a node with other settings", "--strategy ketama was asked for"}},
		{"hash", func(c *Config) { c.Hash = HashSlot }, members.ErrStranger,
			[]string{`hash "native", here it is "slot"`}, []string{"node hash at", `hash "slot", here it is "native"`}},
		{"key", func(c *Config) { c.ClusterKey = "sixteen bytes or more" }, members.ErrKey,
			[]string{"cluster key is another"}, []string{"refused a node of another cluster or with another key", "cluster key is another"}},
		{"settings", func(c *Config) { c.VNodes = 16 }, ErrRefused,
			[]string{"--vnodes 16 was asked for, the cluster has 8"}, []string{"refused a node with other settings", "settings", "--vnodes 16 was asked for, the cluster has 8"}},
	} {
		c := memberConfig(t, t.TempDir(), tt.id, a.gossipAddr())
		c.Strategy = StrategyVnode
		tt.change(&c)
		n, err := Open(c)
		if err != nil {
			t.Fatalf("%s: %v", tt.id, err)
		}
		err = n.ended(t)
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", tt.id, err)
		}
		for _, text := range tt.texts {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v does not say %q", tt.id, err, text)
			}
		}
		log.await(t, tt.here...)
		if err != nil && strings.Contains(err.Error(), "sixteen") || strings.Contains(log.all(), "sixteen") {
			t.Errorf("%s: the key is shown", tt.id)
		}
	}
	if err := a.Err(); err != nil {
		t.Error(err)
	}
}

// Two clusters of one name, each with its data, never become one, whichever is told to
// join the other.
func TestTwoFoundersNeverMerge(t *testing.T) {
	defer goneInTheEnd(t)
	ctx := t.Context()
	log := newRecords()
	cfg := memberConfig(t, t.TempDir(), "a")
	cfg.Logger = slog.New(log)
	a, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	dir := t.TempDir()
	b := openMemberIn(t, dir, "b")
	for _, n := range []*Node{a, b} {
		client := redistest.Client(&redis.Options{Addr: n.Addr().String()})
		if err := client.Set(ctx, "key", n.ID(), 0).Err(); err != nil {
			t.Fatal(err)
		}
		_ = client.Close()
	}
	resptest.WaitFor(t, "b is in its cluster", func() bool { return b.cluster.entry.entered.Load() })
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b, err = Open(memberConfig(t, dir, "b", a.gossipAddr()))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.ended(t); !errors.Is(err, members.ErrGeneration) || !strings.Contains(err.Error(), "never merged") {
		t.Error(err)
	}
	log.await(t, "refused a node of another cluster or with another key", "node b at", "never merged")

	// Without join it is what it was.
	b = openMemberIn(t, dir, "b")
	defer b.Close()
	for _, n := range []*Node{a, b} {
		client := redistest.Client(&redis.Options{Addr: n.Addr().String()})
		if got, err := client.Get(ctx, "key").Result(); got != n.ID() || err != nil {
			t.Errorf("%s has %q, %v", n.ID(), got, err)
		}
		_ = client.Close()
		if p := n.primaries(); len(p) != 1 || p[n.ID()] != 256 {
			t.Errorf("%s: %v", n.ID(), p)
		}
	}
}

// A node that can see two clusters of its name enters neither until it sees but one.
func TestNodeThatSeesTwoClustersWaits(t *testing.T) {
	defer goneInTheEnd(t)
	a, b := openMember(t, "a"), openMember(t, "b")
	defer a.Close()
	resptest.WaitFor(t, "they are in their clusters", func() bool { return a.cluster.entry.entered.Load() && b.cluster.entry.entered.Load() })
	log := newRecords()
	cfg := memberConfig(t, t.TempDir(), "c", a.gossipAddr(), b.gossipAddr())
	cfg.Logger = slog.New(log)
	c, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const two = `there are two clusters named "ringside"`
	resptest.WaitFor(t, "c sees two, or was in before it could", func() bool { return log.has(two) || c.cluster.entry.entered.Load() })
	if log.has(two) {
		c.cluster.entry.choice.Lock()
		if c.cluster.entry.membership.Generation != 0 {
			t.Errorf("c has chosen %+v", c.cluster.entry.membership)
		}
		c.cluster.entry.choice.Unlock()
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	resptest.WaitFor(t, "c is in a's", func() bool { return c.cluster.entry.entered.Load() })
	if c.cluster.entry.generation() != a.cluster.entry.generation() {
		t.Error("c is in the cluster of nobody who is there")
	}
	if _, known := a.cluster.members.Node("b"); known {
		t.Error("a has taken b for one of its own")
	}
}

// A directory says which cluster it belongs to, and is not used in another.
func TestDirectoryKeepsToItsCluster(t *testing.T) {
	defer goneInTheEnd(t)
	dir := t.TempDir()
	n := openMemberIn(t, dir, "a")
	resptest.WaitFor(t, "a cluster of one", func() bool { return n.cluster.entry.entered.Load() })
	g := n.cluster.entry.generation()
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	cfg := memberConfig(t, dir, "a")
	cfg.Cluster = "other"
	if n, err := Open(cfg); !errors.Is(err, ErrOtherCluster) || n != nil {
		t.Errorf("%v", err)
	}
	cfg = memberConfig(t, dir, "a")
	cfg.Mask = "0FFF"
	n, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.ended(t); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "--mask 0FFF was asked for, the cluster has 00FF") {
		t.Error(err)
	}
	// Join does not matter to a directory that is in a cluster already, if nobody there
	// is of another one.
	n = openMemberIn(t, dir, "a", "127.0.0.1:1")
	defer n.Close()
	resptest.WaitFor(t, "it is back", func() bool { return n.cluster.entry.entered.Load() })
	if n.cluster.entry.generation() != g {
		t.Error("it has founded another cluster")
	}
}

// A second process with the id of a node that answers is refused, and the first one continues: here the
// second has an empty directory, with which all data that the first has alone would be given up.
func TestSecondProcessOfIDIsRefusedWhileFirstAnswers(t *testing.T) {
	defer goneInTheEnd(t)
	a := openMember(t, "a")
	defer a.Close()
	b := openMember(t, "b", a.gossipAddr())
	resptest.WaitFor(t, "b is in", func() bool { return b.cluster.entry.entered.Load() })
	second, err := Open(memberConfig(t, t.TempDir(), "b", a.gossipAddr()))
	if err == nil {
		t.Fatal("it runs beside the first", second.Close())
	}
	for _, word := range []string{`"b"`, b.cluster.advertisedBus, "stop it", "another id"} {
		if !errors.Is(err, ErrIDInUse) || !strings.Contains(err.Error(), word) {
			t.Errorf("%q is not in %v", word, err)
		}
	}
	if n, _ := a.cluster.members.Node("b"); n.Incarnation != b.cluster.incarnation || n.Status != members.Alive {
		t.Errorf("the others see %+v", n)
	}
	if err := b.Err(); err != nil {
		t.Error(err)
	}
	dir := b.cfg.Dir
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b = openMemberIn(t, dir, "b", a.gossipAddr()) // at another address
	defer b.Close()
	resptest.WaitFor(t, "b is back", func() bool { return b.cluster.entry.entered.Load() })
}
