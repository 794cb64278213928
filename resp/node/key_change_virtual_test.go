package node

import (
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
)

// TestClusterKeyIsChangedNodeByNode changes the cluster key by three rounds of restarts, while clients of the other
// nodes go on: no command fails.
func TestClusterKeyIsChangedNodeByNode(t *testing.T) {
	if testing.Short() {
		t.Skip("a large run in virtual time")
	}
	randomtest.Draw(t, 3)
	virtually(t, 1, func(t *testing.T, seed uint64) {
		const earlier, later = "the earlier key of 16 bytes", "the later key of 16 bytes"
		key, accept := earlier, ""
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) { cfg.ClusterKey, cfg.ClusterKeyAccept = key, accept })
		c.three()
		ids := c.running()
		for _, step := range []struct{ key, accept string }{{earlier, later}, {later, earlier}, {later, ""}} {
			key, accept = step.key, step.accept
			for i, id := range ids {
				others := []string{ids[(i+1)%3], ids[(i+2)%3]}
				c.settled()
				stop := c.rounds(others...)
				c.stop(id)
				c.start(id, others[0])
				c.ready(id)
				if _, times := stop(); times < 10 {
					t.Errorf("%s restarts: %d rounds", id, times)
				}
			}
		}
		c.settled()
		c.close()
	})
}
