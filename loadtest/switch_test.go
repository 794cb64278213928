package loadtest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/loadtest/sim"
	"github.com/ringside-kv/ringside/ring"
)

// A simulation predicts the keys that a switch of the strategy moves, and the least, within 2 %; of a strategy
// whose placement depends on the order in which nodes came, if they come in that order there, too. On a
// busy machine a backup may fall behind the clients and be copied once more, which counts as moved:
// then the run is repeated.
func TestSimulationPredictsASwitch(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	for _, tt := range []struct {
		name, from string
		nodes      int // at the start
		joins      string
	}{
		{"without history", "vnode:64", 3, ""},
		{"with history", "buckets", 1, "join; balance; join; balance; "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel() // it waits most of the time
			const change = "strategy ketama points 40"
			cfg := small(t, "load 4000; run 200ms; balance; "+tt.joins+change+"; balance; run 200ms", Contestant{Name: "x", Strategy: tt.from})
			cfg.Fleet.Nodes = tt.nodes
			var keys strings.Builder
			for i := range int64(4000) {
				keys.Write(append(cfg.Workload.AppendKey(nil, i), '\n'))
			}
			s := sim.DefaultConfig()
			s.Strategies, s.Backups, s.NewNode = []string{tt.from}, 1, "n"
			s.Scenario = strings.NewReplacer("join", "add", "balance; ", "").Replace(tt.joins) + change
			s.Members = nil
			for i := range tt.nodes {
				s.Members = append(s.Members, ring.Member{ID: fmt.Sprint("n", i+1), Weight: 1})
			}
			s.KeySource, s.KeyFile = strings.NewReader(keys.String()), "keys of the load"
			predicted, err := sim.Run(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			last := predicted.Steps[len(predicted.Steps)-1]
			want, least := last.Outcomes[0].Moved.Keys, last.LeastOf(0).Keys
			if want < 1000 || least < 1 || least > want {
				t.Fatalf("%d keys are to move, %d at the least", want, least)
			}
			near := func(got, want int64) bool { return math.Abs(float64(got-want)) <= 0.02*float64(want) }
			for try := 1; ; try++ {
				r, err := Run(t.Context(), cfg)
				run := only(t, r, err)
				if run.Failure != "" {
					t.Fatal(run.Failure)
				}
				e := run.Events[len(run.Events)-1]
				if near(e.MovedKeys, want) && near(e.LeastKeys, least) {
					return
				}
				t.Logf("moved %d, predicted %d; least %d, predicted %d", e.MovedKeys, want, e.LeastKeys, least)
				if e.MovedKeys < want || try == 5 {
					t.Fatal("the prediction is wrong")
				}
			}
		})
	}
}
