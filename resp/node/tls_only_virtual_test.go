package node

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/certtest"
	"github.com/ringside-kv/ringside/internal/randomtest"
)

// TestClusterOfCertificatesAlone runs a cluster without a cluster key, whose gossip goes through TLS, too: a node is restarted while
// clients of the others go on, one crashes, one is cut off and comes back. A node of another authority does not get in.
func TestClusterOfCertificatesAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("a large run in virtual time")
	}
	randomtest.Draw(t, 3)
	virtually(t, 1, func(t *testing.T, seed uint64) {
		authority, other := certtest.New(t, "cluster"), certtest.New(t, "other")
		files := &nodeCerts{t: t}
		c := newVirtualCluster(t, seed, time.Millisecond, 0.01, func(cfg *Config) { files.configure(cfg) })
		for _, id := range []string{"a", "b", "c"} {
			files.write(id, authority, authority)
		}
		files.write("stranger", other, other, authority)
		c.three()
		if got := c.nodes["a"].secret; got != secretCertificate {
			t.Errorf("the secret is %s", got)
		}
		stop := c.rounds("a", "c")
		c.stop("b")
		c.start("b", "a")
		c.ready("b")
		if _, times := stop(); times < 10 {
			t.Errorf("b restarts: %d rounds", times)
		}
		c.settled()

		c.crash("c")
		client := c.client("a")
		defer client.Close()
		for i := range 100 {
			for began := time.Now(); client.Set(context.Background(), fmt.Sprint(i), i, 0).Err() != nil; time.Sleep(100 * time.Millisecond) {
				if time.Since(began) > 20*time.Second {
					t.Fatal("keys of a crashed node are not served by another")
				}
			}
		}
		c.start("c", "a")
		c.ready("c")
		c.settled()

		c.net.Unplug(c.nodes["b"].ip, true)
		time.Sleep(20 * time.Second)
		c.net.Unplug(c.nodes["b"].ip, false)
		c.ready("b")
		c.settled()

		v, err := c.tryStart("stranger", "a")
		if err == nil {
			time.Sleep(30 * time.Second)
			if v.cluster.entry.entered.Load() {
				t.Error("a node of another authority is in the cluster")
			}
			if log := v.log.String(); !strings.Contains(log, "tls: ") {
				t.Errorf("the log of the stranger does not tell why it is alone:\n%s", log)
			}
			c.stop("stranger")
		}
		delete(c.nodes, "stranger")
		if nodes := c.nodes["a"].cluster.members.Nodes(); len(nodes) != 3 {
			t.Errorf("a sees %v", nodes)
		}
		c.close()
	})
}
