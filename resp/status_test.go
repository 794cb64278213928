package resp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/wire"
)

// A reply's bytes decide nothing between nodes, whatever a script makes of them.
func TestScriptReplyIsNotTakenForTheNodesWord(t *testing.T) {
	r, keys := halves(t)
	o := resptest.Dial(t, r.addrs[0], 2)
	for i, text := range []string{"NOTMINE", "TRYAGAIN x", "CLUSTERDOWN x", "MOVED 1 127.0.0.1:1", "UNKNOWN x", "ERR ranges have changed hands"} {
		for j, key := range keys {
			name := fmt.Sprintf("{%s}%d", key, i)
			o.Want("-"+text, "EVAL", "redis.call('incr',KEYS[1]) return {err=ARGV[1]}", "1", name, text)
			o.Want("$1", "GET", name)
			// Within a transaction, and a pipeline whose replies leave together.
			o.Want("+OK", "MULTI")
			o.Want("+QUEUED", "EVAL", "redis.call('incr',KEYS[1]) return {err=ARGV[1]}", "1", name, text)
			if got := o.Do("EXEC").String(); !strings.Contains(got, text) {
				t.Errorf("EXEC on node %d: %s", j, got)
			}
			o.Want("$2", "GET", name)
		}
	}
	for i, word := range []string{"WAITS 1 0 x", "WAITS", "LEFT", "GONE x"} {
		for _, key := range keys {
			name := fmt.Sprintf("{%s}ok%d", key, i)
			o.Want("+"+word, "EVAL", "redis.call('incr',KEYS[1]) return {ok=ARGV[1]}", "1", name, word)
			o.Want("$1", "GET", name)
		}
	}
}

// The status of each reply leaves with it, also where batches share a group.
func TestStatusesBelongToTheirReplies(t *testing.T) {
	r, keys := halves(t)
	var got [][]Status
	batch := func(words ...[]string) Forwarded {
		var b []byte
		for _, w := range words {
			b = wire.AppendRequest(b, w...)
		}
		at := len(got)
		got = append(got, nil)
		return Forwarded{Batch: b, Requests: len(words), Answer: func(r Replies, err error) {
			if err != nil {
				t.Error(err)
			}
			for i := range r.Ends {
				got[at] = append(got[at], r.Status(i))
			}
		}}
	}
	batches := []Forwarded{
		batch([]string{"SET", keys[0], "a"}),
		batch([]string{"SET", keys[0], "b"}, []string{"SET", keys[1], "b"}, []string{"SET", keys[0], "c"}),
		batch([]string{"SET", keys[0], "d"}),
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.servers[0].RunForwarded(batches, nil)
	}()
	<-done
	resptest.WaitFor(t, "all are answered", func() bool { return len(r.servers[0].forwards.running()) == 0 })
	if want := "[[0] [0 1 1] [0]]"; fmt.Sprint(got) != want {
		t.Errorf("statuses %v, want %s", got, want)
	}
}
