package resp

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// countedScripts are commands whose counts in INFO commandstats are those of Redis. K is a key.
var countedScripts = []string{
	"SET K 1|GET K|GET",
	"MULTI|SET K 1|GET K|EXEC",
	"MULTI|PING|EXEC",
	"MULTI|DBSIZE|EXEC",
	"MULTI|EXEC",
	"MULTI|SET K 1|PING|EXEC",
	"MULTI|SET K 1|CLIENT ID|EXEC",
	"MULTI|SELECT 0|SET K 1|EXEC",
	"MULTI|SET K 1|DBSIZE|GET K|TIME|EXEC",
	"MULTI|SET K 1|SCRIPT FLUSH|SET K 2|DBSIZE|SET K 3|EXEC",
	"MULTI|SET K x|PUBLISH c m|INCR K|EXEC",
	"MULTI|PUBLISH c m|SET K 1|PUBSUB CHANNELS|EXEC",
	"SET K x|MULTI|LPUSH K 1|PING|DBSIZE|INCR K|EXEC",
	"WATCH K|MULTI|SET K 2|EXEC",
	"WATCH K|MULTI|SET K 2|PING|EXEC",
	"WATCH K|SET K 1|MULTI|GET K|PUBLISH c m|DBSIZE|EXEC",
	"WATCH K|MULTI|EXEC",
	"MULTI|NOSUCH|SET K 1|EXEC",
	"EXEC|DISCARD|MULTI|MULTI|DISCARD",
	"PUBLISH c m",
	"SPUBLISH c m",
	"SUBSCRIBE c|UNSUBSCRIBE c",
	"PUBSUB NUMSUB c|PUBSUB CHANNELS|PUBSUB NUMPAT",
	"SET K 1|SCAN 0 COUNT 1000",
	"SET K 1|DBSIZE|KEYS *|RANDOMKEY",
}

var countsOf = regexp.MustCompile(`cmdstat_(\S+?):calls=(\d+),.*rejected_calls=(\d+),failed_calls=(\d+)`)

// countsAfter runs a script, and returns the counts of its commands at all of the servers together. What nodes ask each other
// by commands of RING is not counted.
func countsAfter(client *resptest.Conn, servers []*resptest.Conn, script, key string) string {
	client.Do("FLUSHALL")
	for _, o := range servers {
		o.Do("CONFIG", "RESETSTAT")
	}
	for line := range strings.SplitSeq(script, "|") {
		words := strings.Fields(line)
		for i, word := range words {
			if word == "K" {
				words[i] = key
			}
		}
		client.Do(words...)
	}
	sums := make(map[string][3]int)
	for _, o := range servers {
		for _, m := range countsOf.FindAllStringSubmatch(o.Do("INFO", "commandstats").Text, -1) {
			if m[1] == "info" || m[1] == "config|resetstat" || strings.HasPrefix(m[1], "ring|") {
				continue
			}
			sum := sums[m[1]]
			for i := range sum {
				n, _ := strconv.Atoi(m[2+i])
				sum[i] += n
			}
			sums[m[1]] = sum
		}
	}
	return fmt.Sprint(sums)
}

func TestCommandsAreCountedAsByRedis(t *testing.T) {
	real := resptest.Dial(t, redistest.Start7(t), 2)
	_, addr := serveTest(t, nil)
	lone := resptest.Dial(t, addr, 2)
	r, keys := halvesOf(t, routedApart(t, 3))
	var nodes []*resptest.Conn
	for _, addr := range r.addrs {
		nodes = append(nodes, resptest.Dial(t, addr, 2))
	}
	for _, script := range countedScripts {
		want := countsAfter(real, []*resptest.Conn{real}, script, keys[0])
		if got := countsAfter(lone, []*resptest.Conn{lone}, script, keys[0]); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", script, got, want)
		}
		for i, o := range nodes {
			if got := countsAfter(o, nodes, script, keys[0]); got != want {
				t.Errorf("through node %d: %s\ngot  %s\nwant %s", i, script, got, want)
			}
		}
	}
}
