package node

import (
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/node/internal/placing"
	"github.com/ringside-kv/ringside/ring"
)

// A cluster keeps the settings that it was founded with: a node that gives none takes
// them, also to plan by.
func TestSettingsAreTheClusters(t *testing.T) {
	defer goneInTheEnd(t)
	cfg := memberConfig(t, t.TempDir(), "a")
	cfg.Strategy, cfg.VNodes = StrategyVnode, 16
	a, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	resptest.WaitFor(t, "a cluster of one", func() bool { return a.cluster.entry.entered.Load() })
	cfg = memberConfig(t, t.TempDir(), "b", a.gossipAddr())
	cfg.Strategy = StrategyVnode
	b, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	resptest.WaitFor(t, "two shares", func() bool { p := b.primaries(); return p["a"] > 0 && p["b"] > 0 && p["b"] <= 16 })
	if s := b.cluster.table.State().Cluster().Strategy; s.VNodes != 16 {
		t.Errorf("%+v", s)
	}
	in := ring.Input{Members: b.cluster.table.State().MembersOf()}
	agreed, err := b.cluster.strategy.Desired(in)
	if err != nil {
		t.Fatal(err)
	}
	own, err := placing.Desired(b.cluster.strategy.Own, in)
	if err != nil {
		t.Fatal(err)
	}
	if agreed.Len() <= own.Len() {
		t.Errorf("b plans %d ranges; by its own settings it would be %d", agreed.Len(), own.Len())
	}
}

// Points picked by hand are a node's from its first start on, and stay if a later start
// gives none.
func TestPinsAreRegistered(t *testing.T) {
	defer goneInTheEnd(t)
	dir := t.TempDir()
	for _, pin := range []string{"5,-7", ""} {
		cfg := memberConfig(t, dir, "a")
		cfg.Strategy, cfg.Pin = StrategyVnode, pin
		a, err := Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		resptest.WaitFor(t, "a cluster of one", func() bool { return a.cluster.entry.entered.Load() })
		n, _ := a.cluster.table.State().Node("a")
		if len(n.Pins) != 2 || !n.OnlyPins {
			t.Errorf("pin %q: %+v", pin, n)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	cfg := memberConfig(t, dir, "a")
	cfg.Strategy, cfg.Pin = StrategyVnode, "+9"
	a, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	resptest.WaitFor(t, "five points", func() bool {
		n, _ := a.cluster.table.State().Node("a")
		return len(n.Pins) == 1 && !n.OnlyPins
	})
}
