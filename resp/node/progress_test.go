package node

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/replica"
)

// ringInfo is a number of RING INFO.
func ringInfo(client *redis.Client, name string) int64 {
	for line := range strings.Lines(ringText(client, "INFO")) {
		if text, ok := strings.CutPrefix(line, name+":"); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
			return n
		}
	}
	return -1
}

// How far a handoff is can be seen through any node while it goes on, is paused, and is
// over.
func TestProgressIsSeenThroughEveryNode(t *testing.T) {
	randomtest.Draw(t, 3)
	t.Cleanup(func() { goneInTheEnd(t) })
	a := openMember(t, "node-a")
	defer a.Close()
	resptest.WaitFor(t, "a cluster of one", func() bool { return a.primaries()["node-a"] == 256 })
	client := dialNode(t, a)
	value := strings.Repeat("0123456789abcdef", 256)
	pipe := client.Pipeline()
	for i := range 4000 {
		pipe.Set(t.Context(), fmt.Sprint("key:", i), value, 0)
	}
	if _, err := pipe.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Some 8 MB will move: at this pace it takes longer than anyone waits here.
	wantRing(t, client, "OK", "THROTTLE", "20kb")
	b := openMember(t, "node-b", a.gossipAddr())
	defer b.Close()
	p := openProxy(t, t.TempDir(), "proxy-p", a.gossipAddr())
	defer p.Close()
	for _, other := range []*redis.Client{dialNode(t, b), dialNode(t, p), client} {
		resptest.WaitFor(t, "progress", func() bool {
			text := ringText(other, "STATUS")
			if strings.HasPrefix(text, "-") {
				return false
			}
			r := reportOf(t, other)
			if len(r.Handoffs) != 1 {
				return false
			}
			h := r.Handoffs[0]
			return h.From == "node-a" && h.To == "node-b" && h.Reported && h.Ranges == 128 && h.BytesTotal > 1<<20 && h.KeysTotal > 1000 &&
				h.BytesDone < h.BytesTotal && h.Started != nil && h.Phase == "copying" && strings.Contains(text, "node-a → node-b")
		})
	}
	if n := ringInfo(client, "pending_keys"); n <= 0 || ringInfo(client, "handoffs_running") != 1 {
		t.Errorf("%d keys are pending", n)
	}
	levels := client.Do(t.Context(), "LOADLEVELS").Val().([]any)
	if levels[6] != "pending_keys" || levels[7].(int64) <= 0 || levels[9].(int64) <= 0 {
		t.Errorf("%v", levels)
	}
	wantRing(t, dialNode(t, b), "OK", "PAUSE")
	resptest.WaitFor(t, "the pause is seen", func() bool {
		r := reportOf(t, client)
		return r.Paused && len(r.Handoffs) == 1 && strings.Contains(r.Handoffs[0].Waits, "paused")
	})
	if waiting := (overview{a}).Moves().Waiting; waiting["paused"] != 1 || waiting["turn"] != 0 || len(waiting) != len(replica.Causes()) {
		t.Errorf("waiting are %v", waiting)
	}
	wantRing(t, client, "OK", "THROTTLE", "0")
	wantRing(t, client, "OK", "RESUME")
	there, text := dialNode(t, b), ""
	defer func() {
		if t.Failed() {
			t.Logf("the last report:\n%s", text)
		}
	}()
	resptest.WaitFor(t, "the end", func() bool {
		text = ringText(there, "STATUS")
		r := reportOf(t, there)
		return len(r.Handoffs) == 0 && r.Nodes[1].Primaries == 128 && r.Nodes[0].Moved.Done > 0
	})
	for name, least := range map[string]int64{
		"handoffs_done": 1, "moved_ranges": 128, "moved_keys": 1500, "moved_bytes": 1500 * 4096, "moved_bytes_per_second": 1, "held_milliseconds": 0,
	} {
		if n := ringInfo(client, name); n < least {
			t.Errorf("%s is %d", name, n)
		}
	}
	if n := ringInfo(client, "pending_keys"); n != 0 {
		t.Errorf("%d keys are pending", n)
	}
}
