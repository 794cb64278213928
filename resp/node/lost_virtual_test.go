package node

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/replica/lease"
	"github.com/ringside-kv/ringside/replica/step"
	"github.com/ringside-kv/ringside/store/memdisk"
)

// renewed starts a node that has crashed with a new directory under its old name.
func (c *virtualCluster) renewed(id string, join ...string) {
	v := c.nodes[id]
	v.dir, v.fs = c.t.TempDir(), memdisk.New()
	c.start(id, join...)
}

// wantDown asks every node that runs for a key and wants CLUSTERDOWN within seconds.
func (c *virtualCluster) wantDown(key string) {
	c.t.Helper()
	for _, id := range c.running() {
		client := c.client(id)
		for _, do := range []func() error{
			func() error { return client.Get(c.t.Context(), key).Err() },
			func() error { return client.Set(c.t.Context(), key, "v", 0).Err() },
			func() error { return client.Exists(c.t.Context(), key).Err() },
		} {
			began := time.Now()
			err := do()
			if took := time.Since(began); err == nil || !strings.HasPrefix(err.Error(), "CLUSTERDOWN") || took > 12*time.Second {
				c.t.Errorf("at %s after %v: %v", id, took, err)
			}
		}
		_ = client.Close()
	}
}

// within awaits a condition in virtual time.
func (c *virtualCluster) within(d time.Duration, what string, done func() bool) {
	c.t.Helper()
	for end := time.Now().Add(d); !done(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			c.t.Fatalf("%s: not within %v", what, d)
		}
	}
}

// A range whose only copy is away is refused, never empty; it is back with its node. If
// that comes with a new directory, it is lost, and refused until it is made anew.
func TestLostRangeIsNeverEmpty(t *testing.T) {
	randomtest.Draw(t, 3)
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, 5*time.Millisecond, 0, func(cfg *Config) { cfg.Backups = 0 })
		c.three()
		leader := c.leader()
		victim, other := "", ""
		for _, id := range c.running() {
			if id != leader {
				victim, other = id, victim
			}
		}
		key, client := c.ownKey(victim), c.client(leader)
		if err := client.Set(t.Context(), key, "v", 0).Err(); err != nil {
			t.Fatal(err)
		}
		c.crash(victim)
		time.Sleep(20 * time.Second)
		c.wantDown(key)
		c.start(victim, leader)
		c.within(time.Minute, "the range is back", func() bool { return client.Get(t.Context(), key).Val() == "v" })
		c.crash(victim)
		time.Sleep(20 * time.Second)
		c.renewed(victim, leader)
		c.within(time.Minute, "it is in the cluster", func() bool { return c.nodes[victim].cluster.entry.entered.Load() })
		time.Sleep(40 * time.Second)
		c.wantDown(key)
		c.crash(victim) // another start changes nothing
		c.start(victim, leader)
		c.within(time.Minute, "it is in the cluster again", func() bool { return c.nodes[victim].cluster.entry.entered.Load() })
		c.wantDown(key)
		lost := 0
		st := c.nodes[leader].cluster.table.State()
		for row := range st.Rows() {
			if st.Lost(row) {
				lost++
			}
		}
		if lost == 0 {
			t.Error("nothing is lost by the table")
		}
		if err := client.Do(t.Context(), "RING", "RECREATE", "ALL").Err(); err != nil {
			t.Fatal(err)
		}
		if err := client.Do(t.Context(), "RING", "RECREATE", "ALL").Err(); err == nil || !strings.Contains(err.Error(), "no range is known to have lost") {
			t.Errorf("again: %v", err)
		}
		for _, id := range []string{leader, other, victim} {
			cl := c.client(id)
			c.within(time.Minute, fmt.Sprint("it is there, and empty, at ", id), func() bool {
				n, err := cl.Exists(t.Context(), key).Result()
				return n == 0 && err == nil
			})
			_ = cl.Close()
		}
		_ = client.Close()
		c.close()
	})
}

// The node that had the ranges comes back while they are created again: it gets no lease before the
// outcome is known, so it answers with nothing that it had.
func TestRecreateKeepsLeasesFromNodesThatHadTheRanges(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		held, decide := make(chan struct{}), make(chan struct{})
		c := newVirtualCluster(t, seed, 5*time.Millisecond, 0, func(cfg *Config) {
			cfg.Backups = 0
			steps := cfg.env.Steps
			cfg.env.Steps = func(s step.Step) {
				if s == step.RecreationHeld {
					close(held)
					<-decide
				}
				steps(s)
			}
		})
		c.three()
		leader := c.leader()
		victim := c.other(leader)
		through := c.other(leader, victim) // asks the leader
		key, client := c.ownKey(victim), c.client(victim)
		defer func() { _ = client.Close() }()
		if err := client.Set(t.Context(), key, "old", 0).Err(); err != nil {
			t.Fatal(err)
		}
		c.net.Move(1, c.nodes[victim].ip)
		created := make(chan error, 1)
		go func() {
			for end := time.Now().Add(time.Minute); ; time.Sleep(time.Second) {
				if _, err := c.do(through, "RING", "RECREATE", "ALL"); err == nil || time.Now().After(end) {
					created <- err
					return
				}
			}
		}()
		<-held
		c.net.Move(0, c.nodes[victim].ip)
		c.within(time.Minute, "the node has asked for leases again", func() bool {
			return strings.Contains(c.nodes[victim].cluster.engine.LeaseStats().Fault, lease.ErrReplaced.Error())
		})
		for range 30 {
			if c.nodes[victim].cluster.engine.LeaseStats().Valid {
				t.Fatal("the node has a lease")
			}
			time.Sleep(100 * time.Millisecond)
		}
		close(decide)
		if err := <-created; err != nil {
			t.Fatal(err)
		}
		c.within(time.Minute, "the key is there, and empty", func() bool { return client.Get(t.Context(), key).Err() == redis.Nil })
		c.close()
	})
}

// With --recreate-after nobody has to be asked.
func TestRecreateAfterIsForCaches(t *testing.T) {
	randomtest.Draw(t, 3)
	if testing.Short() {
		t.Skip("a large run in virtual time")
	}
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, 5*time.Millisecond, 0, func(cfg *Config) { cfg.Backups, cfg.RecreateAfter = 0, 20*time.Second })
		c.three()
		leader := c.leader()
		victim := "a"
		if leader == "a" {
			victim = "b"
		}
		key, client := c.ownKey(victim), c.client(leader)
		var others []string // which nobody writes again
		mine := c.nodes[victim].cluster
		for i := 0; len(others) < 20; i++ {
			other := fmt.Sprint("other", i)
			if row, ok := mine.table.State().Row(mine.strategy.Token([]byte(other))); ok && row.Primary == victim {
				others = append(others, other)
			}
		}
		if err := client.Set(t.Context(), key, "v", 0).Err(); err != nil {
			t.Fatal(err)
		}
		for i, other := range others {
			if err := client.Set(t.Context(), other, other, time.Duration(i%2)*time.Hour).Err(); err != nil {
				t.Fatal(err)
			}
		}
		c.crash(victim)
		time.Sleep(5 * time.Second)
		if err := client.Get(t.Context(), key).Err(); err == nil || !strings.HasPrefix(err.Error(), "CLUSTERDOWN") {
			t.Error(err)
		}
		c.within(time.Minute, "it is made anew", func() bool { return client.Set(t.Context(), key, "new", 0).Err() == nil })
		// The old copy counts no more.
		c.start(victim, leader)
		time.Sleep(2 * time.Minute)
		if got, err := client.Get(t.Context(), key).Result(); got != "new" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		// It is not lost in silence either: what was put aside comes back where nothing
		// newer is. A range that was handed over just before the crash was never lost.
		lost := 0
		for _, other := range others {
			if client.Get(t.Context(), other).Err() == redis.Nil {
				lost++
			}
		}
		if lost == 0 {
			t.Error("nothing was lost")
		}
		files, _ := filepath.Glob(filepath.Join(c.nodes[victim].dir, asideDir, "*.resp"))
		back, busy := 0, 0
		for _, file := range files {
			for _, reply := range c.pipe(leader, file) {
				switch {
				case reply == "+OK":
					back++
				case strings.HasPrefix(reply, "-BUSYKEY"):
					busy++
				default:
					t.Errorf("%s: %s", file, reply)
				}
			}
		}
		if back != lost || busy < 1 {
			t.Errorf("%d came back of %d, %d were not in the place of newer ones", back, lost, busy)
		}
		for i, other := range append(others, key) {
			want := other
			if other == key {
				want = "new"
			}
			if got, err := client.Get(t.Context(), other).Result(); got != want || err != nil {
				t.Errorf("%s is %q, %v", other, got, err)
			}
			if left := client.TTL(t.Context(), other).Val(); i < len(others) && (i%2 == 1) != (left > 50*time.Minute) {
				t.Errorf("%s expires in %v", other, left)
			}
		}
		_ = client.Close()
		c.close()
	})
}

// pipe sends the commands of a file to a node, as redis-cli --pipe does, and returns the
// replies but the one to SELECT at the beginning.
func (c *virtualCluster) pipe(id, file string) (replies []string) {
	c.t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		c.t.Fatal(err)
	}
	conn, err := c.net.Host("10.0.1.1").Dial(c.t.Context(), c.nodes[id].ip+":6379")
	if err != nil {
		c.t.Fatal(err)
	}
	defer conn.Close()
	const end = "*2\r\n$4\r\nECHO\r\n$3\r\nend\r\n"
	if _, err := conn.Write(append(text, end...)); err != nil {
		c.t.Fatal(err)
	}
	lines := bufio.NewScanner(conn)
	for lines.Scan() && lines.Text() != "$3" {
		replies = append(replies, lines.Text())
	}
	if bytes.HasPrefix(text, []byte("*2\r\n$6\r\nSELECT\r\n")) && len(replies) > 0 && replies[0] == "+OK" {
		replies = replies[1:]
	}
	return replies
}
