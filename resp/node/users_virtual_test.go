package node

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/replica/bus"
	"github.com/ringside-kv/ringside/replica/table"
)

// as returns a connection of a user to a node.
func (c *virtualCluster) as(id, user string) (do func(args ...any) (any, error), end func()) {
	c.t.Helper()
	client := c.client(id)
	conn := client.Conn()
	do = func(args ...any) (any, error) { return conn.Do(context.Background(), args...).Result() }
	if _, err := do("AUTH", user, "pw"); err != nil {
		c.t.Errorf("AUTH of %s at %s: %v", user, id, err)
	}
	return do, func() { _ = conn.Close(); _ = client.Close() }
}

// Users that are changed through one node are so on all of them once that is answered. They are there after
// restarts, and on nodes that join. A script is checked for its user where it runs.
func TestUsersAreThoseOfTheCluster(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) { cfg.ClusterKey = testKey })
		c.three()
		c.backups(1)
		wants := func(at string, do func(args ...any) (any, error), prefix string, args ...any) {
			t.Helper()
			got, err := do(args...)
			text, _ := got.(string)
			if err != nil {
				text = err.Error()
			}
			if err == redis.Nil || !strings.HasPrefix(text, prefix) {
				t.Errorf("%v through %s: %v, %v, want %s", args, at, got, err, prefix)
			}
		}
		c.order("a", "ACL", "SETUSER", "u", "on", ">pw", "~u:*", "&u:*", "+@all", "-flushall")
		ends := map[string]func(){}
		dos := map[string]func(args ...any) (any, error){}
		for _, id := range []string{"a", "b", "c"} {
			do, end := c.as(id, "u")
			dos[id], ends[id] = do, end
			for _, key := range []string{"u:1", "u:2", "u:3", "u:4", "u:5", "u:6"} {
				wants(id, do, "OK", "SET", key, "x")
				wants(id, do, "x", "EVAL", "return redis.call('GET', KEYS[1])", 1, key)
				wants(id, do, "ERR ACL failure in script: No permissions to access a key", "EVAL", "return redis.call('GET', ARGV[1])", 1, key, "other{"+key+"}")
				wants(id, do, "ERR ACL failure in script: User", "EVAL", "redis.call('SET', KEYS[1], 'x') return redis.call('FLUSHALL')", 1, key)
				wants(id, do, "OK", "MULTI")
				wants(id, do, "QUEUED", "EVAL", "return redis.pcall('GET', 'other')", 1, key)
				wants(id, do, "QUEUED", "GET", key)
				got, err := do("EXEC")
				if elems, _ := got.([]any); err != nil || len(elems) != 2 || elems[1] != "x" || !strings.HasPrefix(elems[0].(error).Error(), "ERR ACL failure in script") {
					t.Errorf("EXEC through %s: %v, %v", id, got, err)
				}
			}
			wants(id, do, "NOPERM", "GET", "other")
			wants(id, do, "NOPERM", "FLUSHALL")
		}
		for round, id := range []string{"a", "b", "c"} {
			rule, want := "-get", "NOPERM"
			if round%2 == 1 {
				rule, want = "+get", "x"
			}
			c.order(id, "ACL", "SETUSER", "u", rule)
			for at, do := range dos {
				wants(at, do, want, "GET", "u:1")
			}
		}
		c.order("b", "ACL", "SETUSER", "u", "+get")
		c.crash("b")
		c.start("b", "a")
		c.start("d", "a")
		c.ready("b")
		c.ready("d")
		for _, id := range []string{"b", "d"} {
			do, end := c.as(id, "u")
			wants(id, do, "x", "GET", "u:1")
			wants(id, do, "NOPERM", "GET", "other")
			end()
		}
		c.order("d", "ACL", "SETUSER", "default", "-@all", "+ping", "+acl", "+auth")
		for _, id := range c.running() {
			client := c.client(id)
			if err := client.Get(context.Background(), "u:1").Err(); err == nil || !strings.HasPrefix(err.Error(), "NOPERM") {
				t.Errorf("the default user of %s reads: %v", id, err)
			}
			_ = client.Close()
		}
		c.order("c", "ACL", "DELUSER", "u")
		for _, at := range []string{"a", "c"} {
			if got, err := dos[at]("PING"); err == nil {
				t.Errorf("a removed user is answered %v by %s", got, at)
			}
		}
		for _, end := range ends {
			end()
		}
		c.order("a", "ACL", "SETUSER", "default", "+@all")
		c.close()
	})
}

// A node of an earlier build keeps users from being agreed on, and stays out once they are.
func TestOlderNodesStayOutOfClustersWithUsers(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		old := bus.Versions{Oldest: 3, Newest: bus.ValuesVersion - 1}
		speaks := map[string]bus.Versions{"c": old}
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) { cfg.env.Versions, cfg.env.OldForms = speaks[cfg.ID], true })
		c.three()
		values := func(st *table.State) any { return st.Values() }
		c.refusedUnchanged("a", "the build of node c cannot have agreed values: upgrade it first", values, "ACL", "SETUSER", "u", "on")
		c.stop("c")
		delete(speaks, "c")
		c.start("c", "a")
		c.ready("c")
		c.order("a", "ACL", "SETUSER", "u", "on")
		c.close()
	})
}

// A new cluster has the users of the ACL file of its first node; a file that differs changes nothing.
func TestNewClusterHasTheUsersOfTheFile(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		dir := t.TempDir()
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) {
			cfg.ACLFile = filepath.Join(dir, cfg.ID)
			text := "user u on >pw ~* +@all\nuser " + cfg.ID + " on nopass ~* +@all\n"
			if err := os.WriteFile(cfg.ACLFile, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		})
		c.start("a")
		c.ready("a")
		c.start("b", "a")
		c.ready("b")
		for _, id := range []string{"a", "b"} {
			do, end := c.as(id, "u")
			if got, err := do("ACL", "USERS"); err != nil || fmt.Sprint(got) != "[a default u]" {
				t.Errorf("the users of %s are %v, %v", id, got, err)
			}
			end()
		}
		c.order("b", "ACL", "LOAD")
		do, end := c.as("a", "u")
		if got, err := do("ACL", "USERS"); err != nil || fmt.Sprint(got) != "[b default u]" {
			t.Errorf("the users are %v, %v after ACL LOAD at b", got, err)
		}
		end()
		c.close()
	})
}
