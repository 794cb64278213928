package node

import (
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/replica/bus"
)

// TestClusterOfMixedVersionsServesAndIsUpgraded has nodes of three builds, of which one names no
// range of versions and one is newer than this. Then the old one is upgraded. No command of a
// client fails.
func TestClusterOfMixedVersionsServesAndIsUpgraded(t *testing.T) {
	randomtest.Draw(t, 4)
	virtually(t, 1, func(t *testing.T, seed uint64) {
		speaks := map[string]bus.Versions{"a": {Oldest: 3, Newest: 4}, "b": {Oldest: 3, Newest: 3}, "c": {Oldest: 3, Newest: 6}}
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) { cfg.env.Versions, cfg.Databases = speaks[cfg.ID], 1 })
		c.three()
		// version checks which one two nodes use.
		version := func(from, to string, want uint16) {
			t.Helper()
			conn, peer, err := c.nodes[from].cluster.bus.Dial(t.Context(), c.nodes[to].ip+":16379", to, bus.Control)
			if err != nil {
				t.Fatal(err)
			}
			_ = conn.Close()
			if peer.Version != want {
				t.Errorf("%s speaks version %d with %s, want %d", from, peer.Version, to, want)
			}
		}
		version("a", "b", 3)
		version("b", "a", 3)
		version("a", "c", 4)
		version("c", "a", 4)
		version("c", "b", 3)
		stop := c.rounds("a", "b", "c")
		time.Sleep(100 * time.Millisecond)
		stop()
		stop = c.rounds("a")
		c.stop("b")
		speaks["b"] = bus.Versions{Oldest: 4, Newest: 6}
		c.start("b", "a")
		c.ready("b")
		if _, times := stop(); times < 10 {
			t.Errorf("beside the upgrade: %d rounds", times)
		}
		version("b", "a", 4)
		version("b", "c", 6)
		c.close()
	})
}
