package node_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/resp/node"
)

// openInProcess opens a node that opens no port, in a new directory.
func openInProcess() (n *node.Node, end func()) {
	dir, err := os.MkdirTemp("", "ringside")
	if err != nil {
		log.Fatal(err)
	}
	if n, err = node.Open(node.InProcessConfig(dir)); err != nil {
		log.Fatal(err)
	}
	return n, func() {
		if err := n.Close(); err != nil {
			log.Fatal(err)
		}
		_ = os.RemoveAll(dir)
	}
}

// A store within the program, without a socket.
func ExampleNode_Do() {
	n, end := openInProcess()
	defer end()

	ctx := context.Background()
	if err := n.Do(ctx, "ZADD", "scores", "10", "ann", "7", "bob").Err(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(n.Do(ctx, "ZRANGE", "scores", "0", "-1").Texts())
	fmt.Println(n.Do(ctx, "ZSCORE", "scores", "ann").Float())
	// Output:
	// [bob ann] <nil>
	// 10 <nil>
}

// A client library that reaches the node without a socket, with transactions and subscriptions.
func ExampleNode_Dial() {
	n, end := openInProcess()
	defer end()

	ctx := context.Background()
	rdb := redis.NewClient(&redis.Options{Dialer: n.Dial})
	defer func() { _ = rdb.Close() }()
	sum := rdb.TxPipeline()
	sum.IncrBy(ctx, "visits", 2)
	sum.Expire(ctx, "visits", 3600e9)
	if _, err := sum.Exec(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println(rdb.Get(ctx, "visits").Val())
	// Output: 2
}
