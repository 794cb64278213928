package loadtest

import (
	"math"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/loadtest/sim"
	"github.com/ringside-kv/ringside/ring"
)

// A simulation predicts the keys that a switch of the strategy moves, and the least, within 2 %. On a
// busy machine a backup may fall behind the clients and be copied once more, which counts as moved:
// then the run is repeated.
func TestSimulationPredictsASwitch(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	t.Parallel() // it waits most of the time
	cfg := small(t, "load 4000; run 200ms; balance; strategy ketama points 40; balance; run 200ms", Contestant{Name: "vnode", Strategy: "vnode:64"})
	var keys strings.Builder
	for i := range int64(4000) {
		keys.Write(append(cfg.Workload.AppendKey(nil, i), '\n'))
	}
	s := sim.DefaultConfig()
	s.Strategies, s.Scenario, s.Backups = []string{"vnode:64"}, "strategy ketama points 40", 1
	s.Members = []ring.Member{{ID: "n1", Weight: 1}, {ID: "n2", Weight: 1}, {ID: "n3", Weight: 1}}
	s.KeySource, s.KeyFile = strings.NewReader(keys.String()), "keys of the load"
	predicted, err := sim.Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	want, least := predicted.Steps[1].Outcomes[0].Moved.Keys, predicted.Steps[1].LeastOf(0).Keys
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
		e := run.Events[0]
		if near(e.MovedKeys, want) && near(e.LeastKeys, least) {
			return
		}
		t.Logf("moved %d, predicted %d; least %d, predicted %d", e.MovedKeys, want, e.LeastKeys, least)
		if e.MovedKeys < want || try == 5 {
			t.Fatal("the prediction is wrong")
		}
	}
}
