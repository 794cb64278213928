package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// setter takes SETs and counts them by key, until it has had enough of them.
func setter(t *testing.T, enough int) (addr string, keys func() map[string]int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	seen := map[string]int{}
	serve := func(conn net.Conn) {
		c := resptest.NewRequests(conn)
		for {
			args, err := c.Next()
			if err != nil {
				return
			}
			mu.Lock()
			seen[args[1]]++
			over := enough > 0 && len(seen) > enough
			mu.Unlock()
			if over {
				return
			}
			if _, err := fmt.Fprint(conn, "+OK\r\n"); err != nil {
				return
			}
		}
	}
	resptest.Serve(t, l, serve)
	return l.Addr().String(), func() map[string]int {
		mu.Lock()
		defer mu.Unlock()
		return seen
	}
}

func TestFillWritesEachKeyOnce(t *testing.T) {
	for _, conns := range []int{1, 3, 7} {
		addr, keys := setter(t, 0)
		if err := FillKeys(context.Background(), []string{addr}, 1000, 10, conns); err != nil {
			t.Fatal(err)
		}
		for i := range 1000 {
			if n := keys()[string(FillKey(i))]; n != 1 {
				t.Fatalf("over %d connections, key %d was written %d times", conns, i, n)
			}
		}
	}
}

func TestFillTellsOfAConnectionThatEnds(t *testing.T) {
	addr, _ := setter(t, 500)
	if err := FillKeys(context.Background(), []string{addr}, 100_000, 10, 3); err == nil {
		t.Error("all is well")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := FillKeys(ctx, []string{addr}, 10, 10, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("it was cancelled: %v", err)
	}
}
