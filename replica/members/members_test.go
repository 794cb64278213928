package members

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must come; no test passes by it.
const patience = 2 * time.Minute

// testConfig is a node of the cluster "test" on a free port.
func testConfig(t testing.TB, id string, incarnation uint64, join ...string) Config {
	return Config{
		ID: id, Incarnation: incarnation,
		Cluster: "test", Strategy: "buckets", Hash: "native", Key: []byte("secret"),
		Weight: 1, Version: "v0",
		BusAddr: "127.0.0.1:1", ClientAddr: "127.0.0.1:2", BindAddr: "127.0.0.1:0",
		Join: join, Timing: Fast(), Logger: testLogger(),
	}
}

func open(t testing.TB, cfg Config) *Members {
	t.Helper()
	m, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func start(t testing.TB, id string, incarnation uint64, join ...string) *Members {
	t.Helper()
	return open(t, testConfig(t, id, incarnation, join...))
}

// addr is where a node gossips.
func addr(m *Members) string {
	n, _ := m.Node(m.self.id)
	return n.GossipAddr
}

// await waits until a node sees what it should.
func await(t testing.TB, m *Members, what string, ok func() bool) {
	t.Helper()
	events, cancel := m.Watch()
	defer cancel()
	deadline := time.After(patience)
	for {
		select {
		case _, open := <-events:
			if ok() {
				return
			}
			if !open {
				t.Fatalf("%s: closed before %s: %v", m.self.id, what, m.Nodes())
			}
		case <-deadline:
			t.Fatalf("%s does not see %s: %v", m.self.id, what, m.Nodes())
		}
	}
}

func awaitNode(t testing.TB, m *Members, id string, status Status, incarnation uint64) {
	t.Helper()
	await(t, m, id+" "+status.String(), func() bool {
		n, ok := m.Node(id)
		return ok && n.Status == status && n.Incarnation == incarnation
	})
}

func TestThreeNodesFindEachOtherThroughOneAddress(t *testing.T) {
	a := start(t, "a", 1)
	b := start(t, "b", 1, addr(a))
	c := start(t, "c", 1, addr(a))
	for _, m := range []*Members{a, b, c} {
		await(t, m, "all three", func() bool { return len(m.Nodes()) == 3 && m.view.Load().count(Alive) == 3 })
	}
	for i, want := range []string{"a", "b", "c"} {
		n := c.Nodes()[i]
		if n.ID != want || n.Role != RoleStore || n.Weight != 1 || n.Version != "v0" ||
			n.BusAddr != "127.0.0.1:1" || n.ClientAddr != "127.0.0.1:2" {
			t.Errorf("node %d is %+v", i, n)
		}
	}
}
