package node

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/store"
)

// longUnits write part of a long value, at a key of their unit.
var longUnits = map[string]func(u *store.Unit, key, long []byte) error{
	"string": func(u *store.Unit, key, long []byte) error {
		v, err := u.Get(key)
		if err != nil {
			return err
		}
		return u.PutString(key, v, long, 0, false)
	},
	"collection": func(u *store.Unit, key, long []byte) error {
		v, err := u.Get(key)
		if err != nil {
			return err
		}
		return u.Construct(key, &v, store.Hash, nil, func(set func(sub, value []byte) error) (count, size int64, err error) {
			for i := range byte(64) {
				if err := set([]byte{store.FieldKind, i}, long[:1<<15]); err != nil {
					return 0, 0, err
				}
			}
			return 64, 64 << 15, nil
		})
	},
}

// A longCase is what changes in a cluster of three with one backup while a unit at a goes on.
type longCase struct {
	strategy string // empty: the default
	begin    func(c *virtualCluster)
	copies   int // beside the primary, at the end
}

var longCases = map[string]longCase{
	"failover": {
		begin:  func(c *virtualCluster) { c.crash("c") },
		copies: 1,
	},
	"new backups": {
		begin: func(c *virtualCluster) {
			if _, err := c.nodes[c.leader()].cluster.table.Apply(c.t.Context(), &table.SetBackups{Backups: 2}); err != nil {
				c.t.Fatal(err)
			}
		},
		copies: 2,
	},
	"handoffs": {
		begin:  func(c *virtualCluster) { c.start("d", "a") },
		copies: 1,
	},
	// A node that joins this ring cuts ranges.
	"cuts and handoffs": {
		strategy: StrategyVnode,
		begin:    func(c *virtualCluster) { c.start("d", "a") },
		copies:   1,
	},
}

// A unit that has written part of a long value, and does not end, does not keep a dead backup
// in its sets, nor others from taking over. Cuts, copies and handoffs wait for it, and while they do all other
// keys are served.
func TestControlGoesOnWhileUnitBuildsLongValue(t *testing.T) {
	long := bytes.Repeat([]byte("x"), 3<<20)
	for event, test := range longCases {
		for name, build := range longUnits {
			if isBrief() && event != "failover" && name != "string" {
				continue
			}
			t.Run(event+", "+name, func(t *testing.T) {
				virtually(t, 1, func(t *testing.T, seed uint64) {
					c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) {
						cfg.Strategy = cmp.Or(test.strategy, cfg.Strategy)
					})
					c.backed()
					key := []byte(c.keyAt("a", "c"))
					u := c.nodes["a"].store.NewUnit()
					u.Begin(time.Now().UnixMilli(), []store.Place{u.Place(key)})
					if err := build(u, key, long); err != nil {
						t.Fatal(err)
					}
					test.begin(c)
					client := c.client("b")
					defer client.Close()
					served := func() bool {
						for i := range 200 {
							other := fmt.Sprint("key", i)
							if store.SameLatch(u.Place(key), u.Place([]byte(other))) {
								continue
							}
							ctx, cancel := context.WithTimeout(context.Background(), time.Second)
							err := client.Set(ctx, other, "v", 0).Err()
							cancel()
							if err != nil {
								return false
							}
						}
						return true
					}
					c.within(15*time.Second, "all other keys are served", served)
					time.Sleep(10 * time.Second) // by now copies have come to the key
					c.within(time.Second, "all other keys are served", served)
					var done store.Signal
					if wait, err := u.Commit(&done); err != nil || wait && done.Wait() != nil {
						t.Error(err)
					}
					if n, err := client.Exists(context.Background(), string(key)).Result(); n != 1 || err != nil {
						t.Error(n, err)
					}
					c.copied(test.copies)
					c.alike()
					c.close()
				})
			})
		}
	}
}
