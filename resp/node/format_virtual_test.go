package node

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/replica/bus"
)

// TestListsGetChunksOnceAllNodesKnowThem has a node of an earlier build refuse the latest forms of data until it is
// upgraded. Lists written before and after are the same at the primary and at the backup that follows it, and an
// earlier build stays out from then on.
func TestListsGetChunksOnceAllNodesKnowThem(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		old := bus.Versions{Oldest: 3, Newest: bus.ChunksVersion - 1}
		speaks := map[string]bus.Versions{"b": old}
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) { cfg.env.Versions, cfg.env.OldForms = speaks[cfg.ID], true })
		c.three()
		c.backups(1)
		const lists = 20
		var want []string
		push := func(from, to int) {
			client := c.client("a")
			defer client.Close()
			for n := range lists {
				for i := from; i < to; i++ {
					if err := client.RPush(t.Context(), fmt.Sprint("list", n), fmt.Sprint("element", i)).Err(); err != nil {
						t.Fatal(err)
					}
				}
			}
			for i := from; i < to; i++ {
				want = append(want, fmt.Sprint("element", i))
			}
		}
		check := func(via string) {
			t.Helper()
			client := c.client(via)
			defer client.Close()
			for n := range lists {
				if got, err := client.LRange(t.Context(), fmt.Sprint("list", n), 0, -1).Result(); err != nil || !slices.Equal(got, want) {
					t.Fatalf("list%d is %v, %v, want %v", n, got, err, want)
				}
			}
		}
		push(0, 200)
		if got := c.ask("a", "RING", "FORMAT"); got != "lists:elements\r\n" {
			t.Errorf("%q", got)
		}
		if _, err := c.do("a", "RING", "FORMAT", "LATEST"); err == nil || !strings.Contains(err.Error(), "the build of node b cannot keep elements of lists in chunks: upgrade it first") {
			t.Errorf("beside an earlier build: %v", err)
		}
		if _, err := c.do("a", "RING", "FORMAT", "NEWEST"); err == nil || !strings.Contains(err.Error(), "syntax") {
			t.Errorf("another word: %v", err)
		}
		c.stop("b")
		delete(speaks, "b")
		c.start("b", "a")
		c.ready("b")
		for _, id := range []string{"c", "a"} { // again changes nothing
			if got := c.ask(id, "RING", "FORMAT", "LATEST"); got != "OK" {
				t.Errorf("%q", got)
			}
		}
		push(200, 300)
		check("b")
		for _, id := range []string{"a", "b", "c"} {
			if got := c.ask(id, "RING", "FORMAT"); got != "lists:chunks\r\n" {
				t.Errorf("%s: %q", id, got)
			}
		}
		chunks := 0
		for _, id := range []string{"a", "b", "c"} {
			chunks += c.nodes[id].store.Identity().Format
		}
		if chunks != 3*7 {
			t.Errorf("the directories have versions of the sum %d: backups hold chunks, too", chunks)
		}
		c.stop("c")
		c.ready("a")
		check("a")
		push(300, 340)
		check("b")
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

// TestFoundedClustersUseTheLatestForms founds one for nodes of this build, and one that nodes of earlier builds may join.
func TestFoundedClustersUseTheLatestForms(t *testing.T) {
	for databases, want := range map[int]string{16: "lists:chunks\r\n", 1: "lists:elements\r\n"} {
		t.Run(fmt.Sprint(databases), func(t *testing.T) {
			virtually(t, 1, func(t *testing.T, seed uint64) {
				c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) { cfg.Databases = databases })
				c.start("a")
				c.ready("a")
				time.Sleep(time.Second)
				c.stop("a")
				c.start("a")
				c.ready("a")
				if got := c.ask("a", "RING", "FORMAT"); got != want {
					t.Errorf("%q, want %q", got, want)
				}
				c.close()
			})
		})
	}
}
