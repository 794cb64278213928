package node

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestSubexpiryIsSummedOverHandoffsAndFailovers counts the hashes with fields that expire in INFO keyspace of a cluster:
// through each node, while ranges are handed to a new node, after a node is killed and its backups are primaries, after
// it is back, and after it has left.
func TestSubexpiryIsSummedOverHandoffsAndFailovers(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		c.backups(1)
		const hashes = 300
		client := c.client("a")
		for i := range hashes {
			key := fmt.Sprint("hash", i)
			if err := client.HSet(t.Context(), key, "f", "v", "g", "w").Err(); err != nil {
				t.Fatal(err)
			}
			if i%3 > 0 {
				if err := client.HExpire(t.Context(), key, 1000*time.Hour, "f").Err(); err != nil {
					t.Fatal(err)
				}
			}
			if i%3 == 2 {
				if err := client.HPersist(t.Context(), key, "f").Err(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = client.Close()
		timed, database := hashes/3, "db0"
		check := func(when string) {
			t.Helper()
			want := fmt.Sprintf(database+":keys=%d,expires=0,avg_ttl=0,subexpiry=%d", hashes, timed)
			for _, id := range c.running() {
				if got := c.ask(id, "INFO", "keyspace"); !strings.Contains(got, want+"\r\n") {
					t.Errorf("%s, through %s: %q, want %s", when, id, got, want)
				}
			}
		}
		check("before")
		c.start("d", "a")
		c.settled()
		c.copied(1)
		if n := c.nodes["d"].store.Stats().Keys; n < hashes/8 {
			t.Errorf("the new node has got %d keys", n)
		}
		check("after handoffs")
		c.crash("b")
		time.Sleep(20 * time.Second)
		check("after a failover")
		client = c.client("a")
		for i := 0; i < hashes; i += 6 { // half of those that expire
			if err := client.HPersist(t.Context(), fmt.Sprint("hash", i+1), "f").Err(); err != nil {
				t.Fatal(err)
			}
			timed--
		}
		_ = client.Close()
		check("after changes")
		c.start("b", c.running()...)
		c.copied(1)
		check("after a restart")
		c.order("a", "SWAPDB", "0", "3")
		database = "db3"
		check("after a swap")
		c.close()
	})
}
