// Package goredis has go-redis' Ring client follow the live placement of a cluster, under every strategy.
//
//	rdb, err := goredis.Open(ctx, client.Config{Addrs: []string{"node1:6379"}}, nil)
//	err = rdb.Set(ctx, "key", "value", 0).Err()
//
// A [Ring] is a *redis.Ring whose shards are the nodes of the cluster: each command goes straight to the node that serves
// its first key, also after keys have moved, nodes have come or gone, or the strategy was switched. go-redis' cluster client
// can do so as well, but only with --hash slot. A command that comes too late, or has keys of several nodes, is forwarded
// by the node that gets it, so no command fails for want of the newest placement. That holds for nodes with --route redirect
// too, unless the user has no right to RING ROUTE: then such commands get MOVED or CROSSSLOT there.
//
// Read ring.go first. What follows the placement is a [client.Ring].
package goredis
