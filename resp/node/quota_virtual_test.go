package node

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/store"
)

// quotaCluster is three nodes, each with a limit and a policy.
func quotaCluster(t *testing.T, seed uint64, limit int64, policy string) *virtualCluster {
	c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) {
		fewerRanges(cfg)
		cfg.MaxData, cfg.MaxDataPolicy = limit, policy
	})
	c.three()
	return c
}

// copiesAgree waits until each backup has as many keys and bytes as its primary, in all ranges.
func (c *virtualCluster) copiesAgree() {
	c.t.Helper()
	differs := func() string {
		st := c.nodes[c.running()[0]].cluster.table.State()
		for row := range st.Rows() {
			var want store.Load
			for i, id := range append([]string{row.Primary}, row.Backups...) {
				load, err := c.nodes[id].store.RangeLoad(row.Range)
				if err != nil {
					return err.Error()
				}
				if i == 0 {
					want = load
				} else if load != want {
					return fmt.Sprintf("%v: %+v at %s, %+v at its backup %s", row.Range, want, row.Primary, load, id)
				}
			}
		}
		return ""
	}
	why := ""
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if why = differs(); why == "" {
			return
		}
	}
	c.t.Error(why)
}

// TestClusterKeepsItsQuotaByEviction writes many times what the nodes may hold, kills a node, and goes on.
// Primaries stay within their limits, and backups have what primaries have.
func TestClusterKeepsItsQuotaByEviction(t *testing.T) {
	randomtest.Draw(t, 3)
	virtually(t, 1, func(t *testing.T, seed uint64) {
		const limit, size = 100 << 10, 1000
		c := quotaCluster(t, seed, limit, "allkeys-lru")
		write := func(via string, from, to int) {
			t.Helper()
			client := c.client(via)
			defer client.Close()
			for i := from; i < to; i++ {
				if err := client.Set(t.Context(), fmt.Sprint("key:", i), strings.Repeat("v", size), 0).Err(); err != nil {
					t.Fatalf("key %d: %v", i, err)
				}
				for _, id := range c.running() {
					if used := c.nodes[id].store.ActiveBytes(); used > limit+limit/5 {
						t.Fatalf("%s: %d bytes after %d keys", id, used, i)
					}
				}
			}
		}
		write("a", 0, 800)
		write("b", 800, 1000)
		c.copiesAgree()
		for _, id := range c.running() {
			if used := c.nodes[id].store.ActiveBytes(); used < limit/2 {
				t.Errorf("%s: only %d bytes", id, used)
			}
		}
		c.crash("c")
		client := c.client("a")
		for end := time.Now().Add(time.Minute); ; time.Sleep(time.Second) {
			if err := client.Set(t.Context(), "key:0", "v", 0).Err(); err == nil {
				if _, err = client.Get(t.Context(), "{key:1}").Result(); err == nil || err.Error() == "redis: nil" {
					break
				}
			}
			if time.Now().After(end) {
				t.Fatal("writes do not go on")
			}
		}
		time.Sleep(10 * time.Second)
		_ = client.Close()
		write("a", 1000, 1800)
		for _, id := range c.running() {
			// The last write may exceed the limit for a moment: the next eviction makes room again.
			c.within(10*time.Second, id+" holds what the quota allows after the failover", func() bool {
				used := c.nodes[id].store.ActiveBytes()
				return used >= limit/2 && used <= limit
			})
		}
		c.close()
	})
}

// TestClusterRefusesWritesOverItsQuota fills nodes that do not evict: no key that was acknowledged is lost.
func TestClusterRefusesWritesOverItsQuota(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		const limit, size = 60 << 10, 1000
		c := quotaCluster(t, seed, limit, "noeviction")
		client := c.client("a")
		defer client.Close()
		var written []string
		refused := 0
		for i := range 300 {
			key := fmt.Sprint("key:", i)
			switch err := client.Set(t.Context(), key, strings.Repeat("v", size), 0).Err(); {
			case err == nil:
				written = append(written, key)
			case strings.HasPrefix(err.Error(), "OOM command not allowed"):
				refused++
			default:
				t.Fatal(err)
			}
		}
		if most := 3 * (limit/size + 1); len(written) > most || refused < 300-most {
			t.Errorf("%d writes were taken, %d refused", len(written), refused)
		}
		other := c.client("b")
		defer other.Close()
		for _, key := range written {
			if v, err := other.Get(t.Context(), key).Result(); err != nil || len(v) != size {
				t.Errorf("%s: %d bytes, %v", key, len(v), err)
			}
		}
		c.copiesAgree()
		// What is deleted makes room.
		if n, err := other.Del(t.Context(), written[0]).Result(); n != 1 || err != nil {
			t.Error(n, err)
		}
		if err := client.Set(t.Context(), written[0], strings.Repeat("w", size), 0).Err(); err != nil {
			t.Error(err)
		}
		c.close()
	})
}

// TestDatabaseKeepsItsQuota gives one database a quota and a policy and leaves another one alone: a cache beside data
// that must stay. Then the cache evicts nothing and refuses writes, until its quota is lifted.
func TestDatabaseKeepsItsQuota(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		const quota, size = 120 << 10, 1000
		c := quotaCluster(t, seed, 0, "noeviction")
		in := func(id string, database int) *redis.Client {
			client := c.client(id)
			options := *client.Options()
			_ = client.Close()
			options.DB = database
			return redis.NewClient(&options)
		}
		data, cache := in("a", 0), in("b", 1)
		defer data.Close()
		defer cache.Close()
		used := func(database int) (sum int64) {
			for _, id := range c.running() {
				sum += c.nodes[id].store.ActiveBytesOf(database)
			}
			return sum
		}
		value := strings.Repeat("v", size)
		for i := range 60 {
			if err := data.Set(t.Context(), fmt.Sprint("key:", i), value, 0).Err(); err != nil {
				t.Fatal(err)
			}
		}
		c.order("c", "RING", "DATABASE", "1", "QUOTA", quota, "POLICY", "allkeys-lru")
		if text := c.ask("a", "RING", "DATABASE", "1"); !strings.Contains(text, fmt.Sprintf("quota:%d\r\nquota_policy:allkeys-lru\r\n", quota)) {
			t.Errorf("%s", text)
		}
		for i := range 500 {
			if err := cache.Set(t.Context(), fmt.Sprint("key:", i), value, 0).Err(); err != nil {
				t.Fatalf("key %d: %v", i, err)
			}
			if sum := used(1); sum > quota+quota/5 {
				t.Fatalf("%d bytes after %d keys", sum, i)
			}
		}
		c.within(10*time.Second, "the cache is as large as its quota", func() bool { sum := used(1); return sum <= quota && sum > quota/2 })
		if n, err := data.DBSize(t.Context()).Result(); n != 60 || err != nil {
			t.Errorf("%d of 60 keys of data are left, %v", n, err)
		}
		c.copiesAgree()

		c.order("a", "RING", "DATABASE", "1", "POLICY", "noeviction")
		var before int64
		refused := 0
		c.within(time.Minute, "no node evicts", func() bool { now := used(1); same := now == before; before = now; return same })
		for i := range 200 {
			err := cache.Set(t.Context(), fmt.Sprint("more:", i), value, 0).Err()
			if err != nil && !strings.HasPrefix(err.Error(), "OOM command not allowed") {
				t.Fatal(err)
			}
			if err != nil {
				refused++
			}
		}
		if now := used(1); refused < 100 || now < before || now > quota+3*size {
			t.Errorf("%d of 200 writes were refused; %d bytes, %d before", refused, now, before)
		}
		full := false
		for i := range 60 {
			err := data.Do(t.Context(), "COPY", fmt.Sprint("key:", i), fmt.Sprint("key:", i), "DB", 1, "REPLACE").Err()
			full = full || err != nil && strings.HasPrefix(err.Error(), "OOM command not allowed")
		}
		if !full {
			t.Error("copies into the full database are not refused")
		}
		if err := data.Set(t.Context(), "key:more", value, 0).Err(); err != nil {
			t.Errorf("a write to the other database: %v", err)
		}
		// A node that starts knows the quota.
		c.stop("c")
		c.start("c", "a")
		c.ready("c")
		if text := c.ask("c", "RING", "DATABASE", "1"); !strings.Contains(text, fmt.Sprintf("quota:%d\r\nquota_policy:noeviction\r\n", quota)) {
			t.Errorf("%s", text)
		}
		c.order("b", "RING", "DATABASE", "1", "QUOTA", "NONE", "POLICY", "NONE")
		for i := range 200 {
			if err := cache.Set(t.Context(), fmt.Sprint("more:", i), value, 0).Err(); err != nil {
				t.Fatal(err)
			}
		}
		if text := c.ask("a", "RING", "DATABASE", "1"); !strings.Contains(text, "quota:0\r\nquota_policy:none\r\n") {
			t.Errorf("%s", text)
		}
		c.close()
	})
}
