package node

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringside-kv/ringside/store"
)

// Both copies of a key are on nodes that crash at once, and come back. The disk of one is put back
// to a snapshot that was taken while the same start ran, so that its directory has all that proves
// an intact one. What was acknowledged since is not lost, whether the node was the primary or the
// backup.
func TestNodePutBackToSnapshotOfItsDiskLosesNothing(t *testing.T) {
	for name, put := range map[string]string{"the primary": "b", "the backup": "c"} {
		t.Run(name, func(t *testing.T) {
			virtually(t, 1, func(t *testing.T, seed uint64) {
				c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) { cfg.Fsync = string(store.FsyncAlways) })
				c.backed()
				key := c.keyAt("b", "c")
				if _, err := c.do("a", "SET", key, "old"); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				synctest.Wait()
				was := c.snapshot(put)
				if _, err := c.do("a", "SET", key, "new"); err != nil {
					t.Fatal(err)
				}
				time.Sleep(2 * time.Second) // it has said how far it has come
				other := map[string]string{"b": "c", "c": "b"}[put]
				c.crashAll(put, other)
				c.nodes[put].dir, c.nodes[put].fs = was.dir, was.fs
				c.start(put, "a")
				c.start(other, "a")
				c.within(time.Minute, "the key is served", func() bool {
					got, err := c.do("a", "GET", key)
					if err == nil && got != "new" {
						t.Fatalf("the key is %q", got)
					}
					return err == nil
				})
				c.inSync(1)
				c.alike()
				c.crash(other)
				c.within(time.Minute, "the key is served", func() bool {
					got, err := c.do("a", "GET", key)
					if err == nil && got != "new" {
						t.Fatalf("without %s the key is %q", other, got)
					}
					return err == nil
				})
				c.close()
			})
		})
	}
}
