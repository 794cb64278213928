package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/replica/table"
)

// damageTable cuts the log of a stopped node's table off behind its roots.
func (c *virtualCluster) damageTable(id string) {
	c.t.Helper()
	path := filepath.Join(c.nodes[id].dir, raftName, "raft.db")
	if err := os.Truncate(path, int64(2*os.Getpagesize())+100); err != nil {
		c.t.Fatal(err)
	}
}

// refused starts a node with a damaged table, which must say so.
func (c *virtualCluster) refused(id string, join ...string) {
	c.t.Helper()
	c.damageTable(id)
	_, err := c.tryStart(id, join...)
	if !errors.Is(err, table.ErrDamaged) || !strings.Contains(err.Error(), "raft.db") || !strings.Contains(err.Error(), "delete its directory raft") {
		c.t.Fatalf("%s starts: %v", id, err)
	}
	if err := os.RemoveAll(filepath.Join(c.nodes[id].dir, raftName)); err != nil {
		c.t.Fatal(err)
	}
}

// What the refusal of a damaged table tells an operator to do works.
func TestNodeWithDamagedTableContinuesAfterRepair(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		c := newVirtualCluster(t, 1, time.Millisecond, 0, func(*Config) {})
		c.start("a")
		c.start("b", "a")
		c.start("c", "a")
		c.settled()
		client := c.client("a")
		for i := range 20 {
			if err := client.Set(t.Context(), fmt.Sprint("key", i), i, 0).Err(); err != nil {
				t.Fatal(err)
			}
		}
		c.stop("c")
		c.refused("c", "a")
		c.start("c", "a")
		c.settled()
		c.stop("b") // the vote and the copies of c count again
		_ = client.Close()
		client = c.client("c")
		for i := range 20 {
			if got, err := client.Get(t.Context(), fmt.Sprint("key", i)).Int(); err != nil || got != i {
				t.Errorf("key%d: %d, %v", i, got, err)
			}
		}
		_ = client.Close()
		c.close()
	})
}

func TestLoneNodeWithDamagedTableContinuesAfterRepair(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		c := newVirtualCluster(t, 1, time.Millisecond, 0, func(*Config) {})
		c.start("a")
		c.settled()
		client := c.client("a")
		if err := client.Set(t.Context(), "key", "value", 0).Err(); err != nil {
			t.Fatal(err)
		}
		_ = client.Close()
		c.stop("a")
		c.refused("a")
		if err := os.Remove(filepath.Join(c.nodes["a"].dir, membershipFile)); err != nil {
			t.Fatal(err)
		}
		c.start("a")
		c.settled()
		client = c.client("a")
		if got, err := client.Get(t.Context(), "key").Result(); err != nil || got != "value" {
			t.Errorf("%q, %v", got, err)
		}
		_ = client.Close()
		c.close()
	})
}
