package node

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/resp/status"
)

// dialNode is a client of one node that tries nothing twice.
func dialNode(t *testing.T, n *Node) *redis.Client {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: n.Addr().String(), MaxRetries: -1, Protocol: 2})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// ring runs RING with arguments and returns the text of the reply or the error.
func ringText(client *redis.Client, args ...string) (string, error) {
	words := []any{"RING"}
	for _, arg := range args {
		words = append(words, arg)
	}
	v, err := client.Do(context.Background(), words...).Result()
	return fmt.Sprint(v), err
}

func reportOf(t *testing.T, client *redis.Client) *status.Report {
	t.Helper()
	text, err := ringText(client, "STATUS", "JSON")
	if err != nil {
		t.Fatal(err)
	}
	r := new(status.Report)
	if err := json.Unmarshal([]byte(text), r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSmoke(t *testing.T) {
	defer goneInTheEnd(t)
	a := openMember(t, "a")
	defer a.Close()
	b := openMember(t, "b", a.gossipAddr())
	defer b.Close()
	c := openMember(t, "c", a.gossipAddr())
	defer c.Close()
	waitFor(t, "shares", func() bool {
		for _, n := range []*Node{a, b, c} {
			p := n.primaries()
			if p["a"] > 86 || p["b"] > 86 || p["c"] > 86 {
				return false
			}
		}
		return true
	})
	client := dialNode(t, b)
	for i := range 3000 {
		if err := client.Set(context.Background(), fmt.Sprint("key:", i), strings.Repeat("x", 100), 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	text, err := ringText(client, "STATUS")
	t.Log(err, "\n"+text)
	text, err = ringText(client, "PLAN", "JOIN", "d:2", "LEAVE", "a")
	t.Log(err, "\n"+text)
	text, err = ringText(client, "INFO")
	t.Log(err, "\n"+text)
	t.Logf("%+v", reportOf(t, client).Nodes)
}
