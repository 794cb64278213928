package fleet

import (
	"testing"

	"github.com/ringside-kv/ringside/loadtest/report"
)

func TestBalance(t *testing.T) {
	samples := []report.Sample{
		{AtMS: 0, Nodes: []report.NodeSample{{Node: "a", PerSecond: 50}, {Node: "b", PerSecond: 100}, {Node: "gone", PerSecond: 900}}},
		{AtMS: 100, Nodes: []report.NodeSample{{Node: "a", PerSecond: 100}, {Node: "b", PerSecond: 100}}},
		{AtMS: 300, Nodes: []report.NodeSample{
			{Node: "a", Keys: 30, Bytes: 100, PerSecond: 100}, {Node: "b", Keys: 10, Bytes: 100, PerSecond: 125},
		}},
	}
	// Requests: a 5+10+20, b 10+10+25.
	if got, want := *Balance(samples, nil), (report.Balance{Keys: 1.5, Bytes: 1, Requests: 45. / 40}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	got := *Balance(samples, map[string]float64{"a": 3})
	if want := (report.Balance{Keys: 1, Bytes: 2, Requests: 45. / 20}); got != want {
		t.Errorf("weighted: %+v, want %+v", got, want)
	}
	idle := []report.Sample{{Nodes: []report.NodeSample{{Node: "a"}, {Node: "b"}}}}
	if got := *Balance(idle, nil); got != (report.Balance{Keys: 1, Bytes: 1, Requests: 1}) {
		t.Errorf("of nothing: %+v", got)
	}
	if Balance(nil, nil) != nil || Balance([]report.Sample{{}}, nil) != nil {
		t.Error("a balance of nothing")
	}
}
