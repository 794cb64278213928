package node

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/store"
)

// TestFailoverGoesOnWhileUnitBuildsLongValue: a unit that has written part of a long value,
// and does not end, does not keep its node from letting go of a dead backup, nor others from
// taking over.
func TestFailoverGoesOnWhileUnitBuildsLongValue(t *testing.T) {
	long := bytes.Repeat([]byte("x"), 3<<20)
	for name, build := range map[string]func(u *store.Unit, key []byte) error{
		"string": func(u *store.Unit, key []byte) error {
			v, err := u.Get(key)
			if err != nil {
				return err
			}
			return u.PutString(key, v, long, 0, false)
		},
		"collection": func(u *store.Unit, key []byte) error {
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
	} {
		t.Run(name, func(t *testing.T) {
			virtually(t, 1, func(t *testing.T, seed uint64) {
				c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
				c.backed()
				s := c.nodes["a"].store
				key := []byte(c.keyAt("a", "c"))
				u := s.NewUnit()
				u.Begin(time.Now().UnixMilli(), []store.Place{u.Place(key)})
				if err := build(u, key); err != nil {
					t.Fatal(err)
				}
				c.crash("c")
				client := c.client("b")
				defer client.Close()
				c.within(15*time.Second, "all other keys are served", func() bool {
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
				})
				var done store.Signal
				if wait, err := u.Commit(&done); err != nil || wait && done.Wait() != nil {
					t.Error(err)
				}
				if n, err := client.Exists(context.Background(), string(key)).Result(); n != 1 || err != nil {
					t.Error(n, err)
				}
				c.copied(1)
				c.alike()
				c.close()
			})
		})
	}
}
