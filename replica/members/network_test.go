package members

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/hashicorp/serf/serf"

	"github.com/ringside-kv/ringside/internal/fakenet"
)

// newFakeNet is a network for a test in virtual time.
func newFakeNet(t *testing.T, seed uint64, delay time.Duration, loss float64) *fakenet.Net {
	t.Logf("seed %d", seed)
	t.Cleanup(func() { time.Sleep(time.Minute) }) // virtual: memberlist's last probes end
	return fakenet.New(seed, delay, loss)
}

// fakeConfig is a node with the default timing on a host of its own.
func fakeConfig(t *testing.T, n *fakenet.Net, i int, incarnation uint64) Config {
	cfg := testConfig(t, string(rune('a'+i)), incarnation, "10.0.0.1:7")
	ip := fmt.Sprintf("10.0.0.%d", i+1)
	cfg.BindAddr, cfg.Network, cfg.Timing = ip+":7", n.Host(ip), LAN()
	cfg.Logger = nil
	return cfg
}

func awaitAlive(t *testing.T, m *Members, want int) {
	t.Helper()
	events, cancel := m.Watch()
	defer cancel()
	deadline := time.After(time.Hour)
	for m.view.Load().count(Alive) != want {
		select {
		case <-events:
		case <-deadline:
			t.Fatalf("%s does not see %d alive: %v", m.self.id, want, m.Nodes())
		}
	}
}

func TestFailureIsSeenInSecondsUnderTheDefaultTiming(t *testing.T) {
	for _, size := range []int{2, 3, 5, 10} {
		fakenet.Bubble(t, func(t *testing.T) {
			n := newFakeNet(t, uint64(size), 2*time.Millisecond, 0)
			var nodes []*Members
			for i := range size {
				nodes = append(nodes, open(t, fakeConfig(t, n, i, 1)))
			}
			for _, m := range nodes {
				awaitAlive(t, m, size)
			}
			if err := nodes[size-1].Close(); err != nil {
				t.Fatal(err)
			}
			// Virtual time; the package comment says what to expect.
			closed := time.Now()
			for _, m := range nodes[:size-1] {
				awaitAlive(t, m, size-1)
			}
			took := time.Since(closed)
			t.Logf("%d nodes: seen by all after %v", size, took)
			if took > 30*time.Second {
				t.Errorf("%d nodes: seen by all after %v", size, took)
			}
		})
	}
}

func TestPartitionHeals(t *testing.T) {
	seed := rand.Uint64()
	fakenet.Bubble(t, func(t *testing.T) {
		n := newFakeNet(t, seed, 10*time.Millisecond, 0.05)
		var nodes []*Members
		for i := range 5 {
			nodes = append(nodes, open(t, fakeConfig(t, n, i, 1)))
		}
		for _, m := range nodes {
			awaitAlive(t, m, 5)
		}
		n.Move(1, "10.0.0.4")
		n.Move(1, "10.0.0.5")
		for i, m := range nodes {
			awaitAlive(t, m, map[bool]int{true: 3, false: 2}[i < 3])
		}
		n.Move(0, "10.0.0.4")
		n.Move(0, "10.0.0.5")
		for _, m := range nodes {
			awaitAlive(t, m, 5)
			notFatal(t, m)
		}
	})
}

func TestMovedNodeReplacesItselfAcrossAPartition(t *testing.T) {
	seed := rand.Uint64()
	fakenet.Bubble(t, func(t *testing.T) {
		n := newFakeNet(t, seed, 10*time.Millisecond, 0)
		var nodes []*Members
		for i := range 3 {
			nodes = append(nodes, open(t, fakeConfig(t, n, i, 1)))
		}
		for _, m := range nodes {
			awaitAlive(t, m, 3)
		}
		n.Move(1, "10.0.0.3") // c's machine is cut off, and c starts elsewhere
		cfg := fakeConfig(t, n, 2, 2)
		cfg.BindAddr, cfg.Network = "10.0.0.9:7", n.Host("10.0.0.9")
		moved := open(t, cfg)
		for _, m := range nodes[:2] {
			awaitNode(t, m, "c", Alive, 2)
		}
		n.Move(0, "10.0.0.3")
		if err := awaitFatal(t, nodes[2]); err == nil {
			t.Error("the old c goes on")
		}
		notFatal(t, moved)
		for _, m := range append(nodes, moved) {
			awaitNode(t, m, "c", Alive, 2)
		}
	})
}

// c is cut off while b is forgotten, and hears of it later.
func TestForgottenNodeIsForgottenByThoseThatWereCutOff(t *testing.T) {
	seed := rand.Uint64()
	fakenet.Bubble(t, func(t *testing.T) {
		n := newFakeNet(t, seed, 10*time.Millisecond, 0)
		var nodes []*Members
		for i := range 3 {
			nodes = append(nodes, open(t, fakeConfig(t, n, i, 1)))
		}
		for _, m := range nodes {
			awaitAlive(t, m, 3)
		}
		a, b, c := nodes[0], nodes[1], nodes[2]
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		awaitNode(t, a, "b", Failed, 1)
		awaitNode(t, c, "b", Failed, 1)
		n.Move(1, "10.0.0.3")
		awaitAlive(t, a, 1)
		if err := a.Forget("b"); err != nil {
			t.Fatal(err)
		}
		n.Move(0, "10.0.0.3")
		for _, m := range []*Members{a, c} {
			awaitAlive(t, m, 2)
			await(t, m, "b forgotten", func() bool { _, ok := m.Node("b"); return !ok })
		}
	})
}

// The same word may come late to a node that saw another life of the id, or none.
func TestForgottenLivesHideOnlyAbsentNodes(t *testing.T) {
	member := func(name string, status serf.MemberStatus) serf.Member {
		return serf.Member{Name: name, Status: status}
	}
	var f forgotten
	f.add("b#1#1")
	f.add("x#1#1")
	for _, tt := range []struct {
		status serf.MemberStatus
		want   int
	}{
		{serf.StatusAlive, 2}, {serf.StatusFailed, 1}, {serf.StatusLeft, 1}, {serf.StatusAlive, 2},
	} {
		got := f.without([]serf.Member{member("a#1#1", serf.StatusAlive), member("b#1#1", tt.status)})
		if len(got) != tt.want {
			t.Errorf("%v: %v", tt.status, got)
		}
	}
	if len(f.names) != 1 {
		t.Errorf("%v: names of lives that nobody knows are kept", f.names)
	}
}

// c was cut off, and a hears of it again by other means before it looks for failed nodes.
func TestFailedNodeReturnsWhenHeard(t *testing.T) {
	seed := rand.Uint64()
	fakenet.Bubble(t, func(t *testing.T) {
		n := newFakeNet(t, seed, 10*time.Millisecond, 0)
		var nodes []*Members
		for i := range 3 {
			cfg := fakeConfig(t, n, i, 1)
			cfg.Timing.Reconnect, cfg.Timing.PushPullInterval, cfg.Timing.JoinMax = time.Hour, time.Hour, time.Hour
			nodes = append(nodes, open(t, cfg))
		}
		for _, m := range nodes {
			awaitAlive(t, m, 3)
		}
		a := nodes[0]
		n.Move(1, "10.0.0.3")
		awaitNode(t, a, "c", Failed, 1)
		awaitAlive(t, nodes[2], 1)
		n.Move(0, "10.0.0.3")
		// A round of joins that the cut has met may bring c back by itself. That is rare.
		a.NoteAlive("b") // which is no news
		a.NoteAlive("nobody")
		healed := time.Now()
		a.NoteAlive("c")
		for _, m := range nodes {
			awaitAlive(t, m, 3)
		}
		if took := time.Since(healed); took > 5*time.Second {
			t.Errorf("after %v", took)
		}
	})
}
