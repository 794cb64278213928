package status

import (
	"math"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/ring/load"
)

// loaded is a report of three nodes, the first of which has twice the weight.
func loaded(ops ...float64) *Report {
	r := &Report{Asked: "a", Leader: "a"}
	for i, n := range ops {
		node := Node{ID: string(rune('a' + i)), Role: "store", State: Member, Health: Alive, Weight: 1, Answered: true}
		if i == 0 {
			node.Weight = 2
		}
		node.Load = &Load{Rate: load.Rate{Ops: n}, Hottest: "00000000-10000000", HottestRate: load.Rate{Ops: n / 4}}
		r.Nodes = append(r.Nodes, node)
	}
	return r
}

func TestLoadImbalanceFollowsWeights(t *testing.T) {
	for _, tt := range []struct {
		ops     []float64
		ratio   float64
		busiest string
	}{
		{[]float64{200, 100, 100}, 1, "a"},
		{[]float64{200, 300, 100}, 2, "b"},
		{[]float64{600, 0, 0}, 2, "a"},
		{[]float64{0, 0, 0}, 0, ""},
	} {
		if ratio, busiest := loaded(tt.ops...).LoadImbalance(); math.Abs(ratio-tt.ratio) > 1e-9 || busiest != tt.busiest {
			t.Errorf("%v: %v, %q", tt.ops, ratio, busiest)
		}
	}
	silent := loaded(200, 300, 100)
	silent.Nodes[2].Answered = false
	old := loaded(200, 300, 100)
	old.Nodes[1].Load = nil
	for _, r := range []*Report{silent, old} {
		if ratio, busiest := r.LoadImbalance(); ratio != 0 || busiest != "" {
			t.Errorf("the balance is known without one node's load: %v, %q", ratio, busiest)
		}
	}
	proxy := loaded(200, 100, 100)
	proxy.Nodes = append(proxy.Nodes, Node{ID: "p", Role: "proxy", State: Member, Weight: 1})
	if ratio, _ := proxy.LoadImbalance(); math.Abs(ratio-1) > 1e-9 {
		t.Errorf("a proxy has a part in the balance: %v", ratio)
	}
}

func TestDrawingShowsLoad(t *testing.T) {
	var text strings.Builder
	if err := Draw(&text, loaded(200, 300, 100), 120); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ops/s", "bytes/s", "load: the busiest node, b, has 2.00 × the mean; 25.0 % of its load are on range 00000000-10000000"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}
