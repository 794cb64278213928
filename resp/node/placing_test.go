package node

import (
	"errors"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/replica/members"
)

// openPlaced opens a node that asks for a strategy, or for none, and waits until it is in a cluster.
func openPlaced(t *testing.T, cfg Config, role, strategy string) *Node {
	t.Helper()
	cfg.Role, cfg.Strategy = role, strategy
	n, err := Open(cfg)
	if err != nil {
		t.Fatalf("%s, strategy %q: %v", cfg.ID, strategy, err)
	}
	resptest.WaitFor(t, cfg.ID+" enters", func() bool {
		if err := n.Err(); err != nil {
			t.Fatalf("%s, strategy %q: %v", cfg.ID, strategy, err)
		}
		return n.cluster.entry.entered.Load()
	})
	return n
}

// A node may name the strategy that its cluster was founded with, the one that it has now, or none: when it joins, and
// when it is started again. Another one is refused.
func TestNodesNeedNotNameTheStrategy(t *testing.T) {
	if testing.Short() {
		t.Skip("opens many nodes")
	}
	defer goneInTheEnd(t)
	founder := memberConfig(t, t.TempDir(), "a")
	a := openPlaced(t, founder, RoleStore, StrategyKetama)
	end := func(n *Node) {
		t.Helper()
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
	everyWay := func(now string) {
		t.Helper()
		for _, role := range []string{RoleStore, RoleProxy, RoleWitness} {
			for _, asked := range []string{"", StrategyKetama, now} {
				cfg := memberConfig(t, t.TempDir(), role+asked+now, a.gossipAddr())
				for _, again := range []string{asked, now} {
					n := openPlaced(t, cfg, role, again)
					if got := n.Strategy(); got != now {
						t.Errorf("%s sees strategy %q", cfg.ID, got)
					}
					end(n)
				}
			}
		}
		wrong := memberConfig(t, t.TempDir(), "wrong"+now, a.gossipAddr())
		wrong.Strategy = "rendezvous"
		n, err := Open(wrong)
		if err != nil {
			t.Fatal(err)
		}
		if err := n.ended(t); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "--strategy rendezvous was asked for, the cluster has "+now) {
			t.Error(err)
		}
	}
	everyWay(StrategyKetama)
	if err := a.Do(t.Context(), "RING", "STRATEGY", "maglev").Err(); err != nil {
		t.Fatal(err)
	}
	everyWay("maglev")
	end(a)
	for _, asked := range []string{"", StrategyKetama, "maglev"} {
		end(openPlaced(t, founder, RoleStore, asked))
	}
	founder.Strategy = StrategyVnode
	a, err := Open(founder)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.ended(t); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "--strategy vnode was asked for, the cluster has maglev") {
		t.Error(err)
	}
	founder.Strategy, founder.Hash = "", HashSlot
	if _, err := Open(founder); err == nil || !strings.Contains(err.Error(), "was created with --strategy ketama --hash native") {
		t.Error(err)
	}
}

// A node that is to join, and is started before any other, takes the defaults. It ends when it meets a cluster of another
// strategy, and takes that one when it is started again: its directory holds nothing yet.
func TestNodeStartedBeforeItsClusterTakesItsStrategyLater(t *testing.T) {
	if testing.Short() {
		t.Skip("opens many nodes")
	}
	defer goneInTheEnd(t)
	founder := memberConfig(t, t.TempDir(), "a")
	founder.GossipAddr = freeGossip(t, 1)[0]
	for _, role := range []string{RoleStore, RoleProxy, RoleWitness} {
		cfg := memberConfig(t, t.TempDir(), "b"+role, founder.GossipAddr)
		cfg.Role = role
		early, err := Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		a := openPlaced(t, founder, RoleStore, "vnode")
		if err := early.ended(t); !errors.Is(err, members.ErrStranger) || !strings.Contains(err.Error(), "start it again") {
			t.Errorf("%s: %v", role, err)
		}
		late := openPlaced(t, cfg, role, "")
		if got := late.Strategy(); got != StrategyVnode {
			t.Errorf("%s: strategy %q", role, got)
		}
		if err := errors.Join(late.Close(), a.Close()); err != nil {
			t.Error(err)
		}
	}
}

// A setting of one strategy is refused where the node has another, also if none was named.
func TestSettingOfAnotherStrategyIsRefusedOnceTheStrategyIsKnown(t *testing.T) {
	defer goneInTheEnd(t)
	cfg := memberConfig(t, t.TempDir(), "a")
	cfg.Points = 40
	if err := cfg.Validate(); err != nil {
		t.Errorf("before: %v", err)
	}
	var fault *Fault
	if _, err := Open(cfg); !errors.As(err, &fault) || fault.Error() != "points: belongs to strategy ketama, not to buckets" {
		t.Error(err)
	}
	end := openPlaced(t, cfg, RoleStore, StrategyKetama).Close
	if err := end(); err != nil {
		t.Error(err)
	}
	again := openPlaced(t, cfg, RoleStore, "")
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}
