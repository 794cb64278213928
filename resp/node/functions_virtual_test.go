package node

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/replica/bus"
)

// TestFunctionsReachAllNodes loads libraries through one node and calls them through others at once, with keys
// of all nodes, also on nodes that join, restart or lag behind.
func TestFunctionsReachAllNodes(t *testing.T) {
	randomtest.Draw(t, 3)
	virtually(t, 1, func(t *testing.T, seed uint64) {
		old := bus.Versions{Oldest: 3, Newest: bus.ValuesVersion - 1}
		speaks := map[string]bus.Versions{"c": old}
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) { cfg.env.Versions, cfg.env.OldForms = speaks[cfg.ID], true })
		c.three()
		c.backups(1)
		code := func(name string, version int) string {
			return fmt.Sprintf("#!lua name=%s\nredis.register_function('%s', function(keys) return tostring(redis.call('incrby', keys[1], %d)) end)\n"+
				"redis.register_function{function_name='%s_ro', callback=function() return '%d' end, flags={'no-writes'}}", name, name, version, name, version)
		}
		if _, err := c.do("a", "FUNCTION", "LOAD", code("lib", 1)); err == nil || !strings.Contains(err.Error(), "the build of node c cannot have agreed values: upgrade it first") {
			t.Errorf("with an older node: %v", err)
		}
		c.stop("c")
		delete(speaks, "c")
		c.start("c", "a")
		c.ready("c")
		ids := []string{"a", "b", "c"}
		calls := func(name, want string, through ...string) {
			t.Helper()
			for _, id := range through {
				for _, at := range ids {
					if got, err := c.do(id, "FCALL_RO", name+"_ro", "1", c.ownKey(at)); got != want {
						t.Errorf("%s called through %s at %s: %q, %v, want %q", name, id, at, got, err, want)
					}
				}
			}
		}
		for version := 1; version <= 3; version++ {
			through := ids[version%3]
			c.order(through, "FUNCTION", "LOAD", "REPLACE", code("lib", version))
			calls("lib", fmt.Sprint(version), ids...)
		}
		if _, err := c.do("b", "FUNCTION", "LOAD", strings.Replace(code("lib", 1), "name=lib", "name=other", 1)); err == nil || !strings.Contains(err.Error(), "Function lib already exists") {
			t.Errorf("two libraries with one function: %v", err)
		}
		key := c.ownKey("b")
		for range 3 {
			if _, err := c.do("a", "FCALL", "lib", "1", key); err != nil {
				t.Error(err)
			}
		}
		if got, err := c.do("c", "GET", key); got != "9" {
			t.Errorf("the function has counted %q, %v", got, err)
		}
		// A node that joins, and one that restarts, know them.
		c.start("d", "a")
		c.ready("d")
		c.crash("b")
		c.start("b", "a")
		c.ready("b")
		calls("lib", "3", "a", "b", "c", "d")
		// One that was away while they changed learns that.
		c.stop("c")
		time.Sleep(20 * time.Second) // until gossip has noticed: before, the change is made and its command fails
		c.order("d", "FUNCTION", "DELETE", "lib")
		c.order("d", "FUNCTION", "LOAD", code("next", 4))
		c.start("c", "a")
		c.ready("c")
		calls("next", "4", "a", "b", "c", "d")
		if got, err := c.do("c", "FCALL_RO", "lib_ro", "0"); err == nil || err.Error() != "ERR Function not found" {
			t.Errorf("a deleted function: %q, %v", got, err)
		}
		for _, id := range []string{"a", "b", "c", "d"} {
			c.stop(id)
		}
		for _, id := range []string{"a", "b", "c", "d"} {
			c.start(id, "a", "b")
		}
		for _, id := range []string{"a", "b", "c", "d"} {
			c.ready(id)
		}
		calls("next", "4", "a", "b", "c", "d")
		c.close()
	})
}
