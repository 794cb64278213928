package strategy_test

import (
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// A client of go-redis without a sidecar sends each key to the node that has it.
// The names in Addrs are the nodes' ids, and members and settings are those of the
// servers. A shard that does not answer counts as failed: its keys are looked for at
// their first backup.
//
// A placement of ketama or vnode follows from the members alone. That of buckets also
// follows from their history, so that it is read from a server.
func Example_goRedisRing() {
	placing, err := strategy.Config{Name: strategy.Ketama, Hash: strategy.Native}.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	placement, err := placing.Desired(ring.Input{
		Members: []ring.Member{{ID: "a", Weight: 1}, {ID: "b", Weight: 2}, {ID: "c", Weight: 1}},
		Backups: 1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	client := redis.NewRing(&redis.RingOptions{
		Addrs: map[string]string{"a": "10.0.1.1:6379", "b": "10.0.1.2:6379", "c": "10.0.1.3:6379"},
		NewConsistentHash: func(shards []string) redis.ConsistentHash {
			return ring.NewLocator(placing.Token, placement, shards)
		},
	})
	defer client.Close()

	for _, key := range []string{"user:1", "user:2", "{user:2}:cart"} {
		shard, err := client.GetShardClientForKey(key)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(key, shard.Options().Addr)
	}
	// Output:
	// user:1 10.0.1.2:6379
	// user:2 10.0.1.3:6379
	// {user:2}:cart 10.0.1.3:6379
}
