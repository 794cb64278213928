package cluster

import (
	"testing"

	"github.com/ringside-kv/ringside/loadtest/result"
)

func TestBalance(t *testing.T) {
	samples := []result.Sample{
		{AtMS: 0, Nodes: []result.NodeSample{{Node: "a", PerSecond: 50}, {Node: "b", PerSecond: 100}, {Node: "gone", PerSecond: 900}}},
		{AtMS: 100, Nodes: []result.NodeSample{{Node: "a", PerSecond: 100}, {Node: "b", PerSecond: 100}}},
		{AtMS: 300, Nodes: []result.NodeSample{
			{Node: "a", Keys: 30, Bytes: 100, PerSecond: 100}, {Node: "b", Keys: 10, Bytes: 100, PerSecond: 125},
		}},
	}
	// Requests: a 5+10+20, b 10+10+25.
	if got, want := *balance(samples), (result.Balance{Keys: 1.5, Bytes: 1, Requests: 45. / 40}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	idle := []result.Sample{{Nodes: []result.NodeSample{{Node: "a"}, {Node: "b"}}}}
	if got := *balance(idle); got != (result.Balance{Keys: 1, Bytes: 1, Requests: 1}) {
		t.Errorf("of nothing: %+v", got)
	}
	if balance(nil) != nil || balance([]result.Sample{{}}) != nil {
		t.Error("a balance of nothing")
	}
}
