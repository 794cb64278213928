package clustertest_test

import (
	"fmt"
	"testing"

	"github.com/ringside-kv/ringside/resp/node/clustertest"
)

// A test that kills a node.
func ExampleStart() {
	test := func(t testing.TB) {
		c := clustertest.Start(t, clustertest.Config{Nodes: 3})
		rdb := c.Client(0)
		if err := rdb.Set(t.Context(), "greeting", "hello", 0).Err(); err != nil {
			t.Fatal(err)
		}
		c.Kill(2)
		c.Start(2)
		c.AwaitSettled()
		fmt.Println(c.Node(2).Do(t.Context(), "GET", "greeting").Text())
	}
	testing.Benchmark(func(b *testing.B) { // stands for: func TestGreeting(t *testing.T)
		if b.N == 1 {
			test(b)
		}
	})
	// Output: hello <nil>
}
