package node_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/resp/node"
)

// A program that brings its own store: a node on a free port of the loopback
// interface, and a Redis client that uses it.
func Example() {
	dir, err := os.MkdirTemp("", "ringside")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()

	cfg := node.DefaultConfig()
	cfg.Addr = "127.0.0.1:0"
	cfg.Dir = dir
	n, err := node.Open(cfg)
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	client := redis.NewClient(&redis.Options{Addr: n.Addr().String()})
	if err := client.Set(ctx, "greeting", "hello", 0).Err(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(client.Get(ctx, "greeting").Val())

	_ = client.Close()
	if err := n.Close(); err != nil {
		log.Fatal(err)
	}
	// Output: hello
}
