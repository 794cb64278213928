package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/replica"
	"github.com/ringside-kv/ringside/replica/bus"
	"github.com/ringside-kv/ringside/resp/status"
	"github.com/ringside-kv/ringside/ring"
)

// Whatever comes on a connection of questions, the node answers what it can, closes
// it, and goes on.
func TestQuestionsThatAreNoneAreAnswered(t *testing.T) {
	t.Cleanup(func() { goneInTheEnd(t) })
	n := openMember(t, "node-a")
	defer n.Close()
	resptest.WaitFor(t, "a cluster of one", func() bool { return n.primaries()["node-a"] == 256 })
	say := func(message []byte, whole bool) nodeStatus {
		here, there := net.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			n.cluster.status.serveStatus(bus.Peer{ID: "node-b"}, there)
		}()
		go func() {
			if whole {
				_ = writeMessage(here, message)
			} else {
				_, _ = here.Write(message)
				_ = here.Close()
			}
		}()
		var a nodeStatus
		text, err := readMessage(here)
		if err == nil {
			err = json.Unmarshal(text, &a)
		}
		if whole && err != nil {
			t.Errorf("%q: %v", message, err)
		}
		_ = here.Close()
		<-done
		return a
	}
	for _, garbage := range []string{"", "{", "[]", `{"loads":7}`, "\x00\xff", strings.Repeat("[", 10000)} {
		if a := say([]byte(garbage), true); a.Fault == "" {
			t.Errorf("%.20q: %+v", garbage, a)
		}
	}
	for _, cut := range []string{"", "\x00", "\x00\x00\x00\x05ab", "\xff\xff\xff\xffabc"} {
		say([]byte(cut), false)
	}
	q, _ := json.Marshal(&statusQuery{Loads: []ring.Range{ring.Whole, {Start: 5, End: 9}, {Start: 9, End: 5}}})
	if a := say(q, true); a.Fault != "" || len(a.Loads) != 3 || a.Machine == nil || a.Machine.Memory <= 0 || a.Machine.DiskFree > a.Machine.DiskTotal {
		t.Errorf("%+v", a)
	}
	if a := say([]byte(`{"history": true}`), true); a.Fault != "" || a.History != nil {
		t.Errorf("a node without HTTP tells a history: %+v", a)
	}
}

// A node that does not answer holds a report up for a while, and no longer.
func TestReportsDoNotWaitForTheSilent(t *testing.T) {
	t.Cleanup(func() { goneInTheEnd(t) })
	n := openMember(t, "node-a")
	defer n.Close()
	resptest.WaitFor(t, "a cluster of one", func() bool { return n.primaries()["node-a"] == 256 })
	outcomes := n.cluster.status.queryAll(t.Context(), map[string]*statusQuery{"node-a": {}, "nobody": {}}, time.Minute)
	if outcomes["node-a"].err != nil || !errors.Is(outcomes["nobody"].err, errUnknownNode) {
		t.Errorf("%+v", outcomes)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := n.cluster.status.queryStatus(over, "nobody", &statusQuery{}); !errors.Is(err, errNoAnswer) {
		t.Errorf("%v", err)
	}
}

func TestRatesAreMeasuredOverAllNodes(t *testing.T) {
	slow := queryResult{nodeStatus: nodeStatus{Moved: status.Moved{Done: 1, Bytes: 100 * mib, Rate: 50 * mib}}}
	fast := queryResult{nodeStatus: nodeStatus{Moved: status.Moved{Done: 2, Bytes: 300 * mib, Rate: 300 * mib}}}
	silent := queryResult{err: errNoAnswer, nodeStatus: fast.nodeStatus}
	if rate, n := rateOf(map[string]queryResult{"a": slow, "b": fast, "c": silent, "d": {}}); n != 3 || int64(rate) != 400*mib/3 {
		t.Errorf("%f of %d", rate, n)
	}
	little := queryResult{nodeStatus: nodeStatus{Moved: status.Moved{Done: 9, Bytes: 1 * mib, Rate: 7}}}
	if rate, n := rateOf(map[string]queryResult{"a": little}); n != 0 || rate != assumedRate {
		t.Errorf("%f of %d", rate, n)
	}
	got := moved(replica.Totals{Done: 2, Bytes: 1000, Copying: 4 * time.Second, Held: 30 * time.Millisecond})
	if got.Rate != 250 || got.Held != 0.03 {
		t.Errorf("%+v", got)
	}
}

// FuzzAccount reads what another node might answer.
func FuzzAccount(f *testing.F) {
	f.Add([]byte(`{"version":"v1","loads":[{"Keys":1}],"progress":[{"Handoff":3,"Rate":1e308}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var framed bytes.Buffer
		_ = writeMessage(&framed, data)
		text, err := readMessage(&framed)
		if err != nil || !bytes.Equal(text, data) {
			t.Fatal(err)
		}
		var a nodeStatus
		if json.Unmarshal(text, &a) == nil {
			rateOf(map[string]queryResult{"a": {nodeStatus: a}})
		}
	})
}
