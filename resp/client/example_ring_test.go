package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/ringside-kv/ringside/resp/client"
	"github.com/ringside-kv/ringside/resp/node"
)

// openNode starts a node on a free port, and returns its address.
func openNode() (addr string, end func()) {
	dir, err := os.MkdirTemp("", "ringside")
	if err != nil {
		log.Fatal(err)
	}
	cfg := node.DefaultConfig()
	cfg.Addr, cfg.Dir, cfg.HTTPAddr = "127.0.0.1:0", dir, node.HTTPOff
	n, err := node.Open(cfg)
	if err != nil {
		log.Fatal(err)
	}
	return n.Addr().String(), func() {
		_ = n.Close()
		_ = os.RemoveAll(dir)
	}
}

func ExampleOpen() {
	addr, end := openNode()
	defer end()

	ctx := context.Background()
	ring, err := client.Open(ctx, client.Config{Addrs: []string{addr}})
	if err != nil {
		log.Fatal(err)
	}
	defer ring.Close()

	if err := ring.Do(ctx, "SET", "greeting", "hello").Err(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(ring.Do(ctx, "GET", "greeting").Text())
	// Output: hello <nil>
}

// Keys of any nodes: the command is split, and the reply is as from one.
func ExampleRing_Do() {
	addr, end := openNode()
	defer end()

	ctx := context.Background()
	ring, err := client.Open(ctx, client.Config{Addrs: []string{addr}})
	if err != nil {
		log.Fatal(err)
	}
	defer ring.Close()

	fmt.Println(ring.Do(ctx, "MSET", "a", "1", "b", "2").Bool())
	fmt.Println(ring.Do(ctx, "MGET", "a", "none", "b").Texts())
	fmt.Println(ring.Do(ctx, "DEL", "a", "b", "none").Int())
	// Output:
	// true <nil>
	// [1  2] <nil>
	// 2 <nil>
}

// What an error tells.
func ExampleReply_Err() {
	addr, end := openNode()
	defer end()

	ctx := context.Background()
	ring, err := client.Open(ctx, client.Config{Addrs: []string{addr}})
	if err != nil {
		log.Fatal(err)
	}
	defer ring.Close()

	_, err = ring.Do(ctx, "GET", "nothing").Text()
	fmt.Println(errors.Is(err, client.ErrNull))

	err = ring.Do(ctx, "INCRBY", "n", "many").Err()
	var refusal *client.ServerError
	fmt.Println(errors.As(err, &refusal), refusal.Code, "-", err)

	over, cancel := context.WithCancel(ctx)
	cancel()
	err = ring.Do(over, "INCR", "n").Err()
	fmt.Println(errors.Is(err, context.Canceled), errors.Is(err, client.ErrNotSent), errors.Is(err, client.ErrUnknownOutcome))
	// Output:
	// true
	// true ERR - ERR value is not an integer or out of range
	// true true false
}

// Many commands at once.
func ExamplePipeline() {
	addr, end := openNode()
	defer end()

	ctx := context.Background()
	ring, err := client.Open(ctx, client.Config{Addrs: []string{addr}})
	if err != nil {
		log.Fatal(err)
	}
	defer ring.Close()

	p := ring.Pipeline()
	for i := range 3 {
		p.Do("SET", fmt.Sprint("key:", i), fmt.Sprint(i*i))
	}
	p.Do("GET", "key:2")
	replies, err := p.Exec(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(replies[3].Int())
	// Output: 4 <nil>
}
