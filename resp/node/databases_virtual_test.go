package node

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/replica/bus"
)

// TestNumberOfDatabasesIsRaised raises it while a node does not know databases, then without that node. All
// nodes know the new number, also after a restart; an older node does not enter any more.
func TestNumberOfDatabasesIsRaised(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		old := bus.Versions{Oldest: 3, Newest: bus.DatabasesVersion - 1}
		speaks := map[string]bus.Versions{"c": old}
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) { cfg.env.Versions, cfg.Databases = speaks[cfg.ID], 1 })
		c.three()
		fails := func(id, want string, args ...any) {
			t.Helper()
			client := c.client(id)
			defer client.Close()
			if err := client.Do(t.Context(), args...).Err(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v: %v, want %q", args, err, want)
			}
		}
		fails("a", "DB index is out of range", "SELECT", "1")
		fails("a", "the build of node c cannot have databases: upgrade it first", "RING", "DATABASES", "8")
		fails("a", "is not a number of databases from 1 to 1024", "RING", "DATABASES", "0")
		c.stop("c")
		delete(speaks, "c")
		c.start("c", "a")
		c.ready("c")
		c.order("a", "RING", "DATABASES", "8")
		c.selects("a", 7) // at once
		fails("b", "their number can only be raised", "RING", "DATABASES", "7")
		for _, id := range []string{"a", "b", "c"} {
			c.selects(id, 7)
			fails(id, "DB index is out of range", "SELECT", "8")
		}
		c.stop("b")
		c.start("b", "a")
		c.ready("b")
		c.selects("b", 7)
		speaks["d"] = old
		c.start("d", "a")
		time.Sleep(10 * time.Second)
		if c.nodes["d"].cluster.entry.entered.Load() || !strings.Contains(c.nodes["d"].log.String(), "of the bus protocol, the peer") {
			t.Errorf("the older node: %s", &c.nodes["d"].log)
		}
		c.stop("d")
		c.close()
	})
}

// selects writes to a database through a node and finds in it what the other nodes have written.
func (c *virtualCluster) selects(id string, n int) {
	c.t.Helper()
	client := c.client(id)
	defer client.Close()
	conn := client.Conn()
	defer conn.Close()
	if err := conn.Select(c.t.Context(), n).Err(); err != nil {
		c.t.Fatalf("SELECT %d through %s: %v", n, id, err)
	}
	was, err := conn.DBSize(c.t.Context()).Result()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := conn.Set(c.t.Context(), "key"+strconv.Itoa(int(was)), id, 0).Err(); err != nil {
		c.t.Fatal(err)
	}
	if now, err := conn.DBSize(c.t.Context()).Result(); err != nil || now != was+1 {
		c.t.Errorf("%d keys, then %d, %v", was, now, err)
	}
}
