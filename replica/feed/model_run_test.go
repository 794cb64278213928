package feed

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

func modelRun(seed uint64, out leftOut, steps int) *world {
	rnd := rand.New(rand.NewPCG(seed, 17))
	w := newWorld(rnd, out, 3, 1+int(seed%2))
	w.swarm(rnd)
	for w.steps < steps && w.wrong == "" {
		w.step()
	}
	return w
}

// Whatever happens, no rule left out: nothing is lost, nothing is stale.
func TestModelHolds(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	runs, first := 12, rand.Uint64()
	if os.Getenv("RINGSIDE_LONG") != "" {
		runs = 12_000
	}
	if text := os.Getenv("RINGSIDE_TEST_SEED"); text != "" {
		first, _ = strconv.ParseUint(text, 10, 64)
		runs = 1
	}
	if text := os.Getenv("RINGSIDE_MODEL_RUNS"); text != "" {
		runs, _ = strconv.Atoi(text)
	}
	answered := 0
	counts := map[string]int{}
	for i := range runs {
		seed := first + uint64(i)
		w := modelRun(seed, leftOut{}, 3000)
		for _, p := range w.past {
			answered += len(p.shown)
		}
		for what, n := range w.count {
			counts[what] += n
		}
		if w.wrong != "" {
			w.traced()
			t.Fatalf("seed %d, step %d: %s\n%s", seed, w.steps, w.wrong, w.last(150))
		}
	}
	t.Logf("%d runs, %d writes answered, %v", runs, answered, counts)
}

// traced writes all that has happened to the file that RINGSIDE_MODEL_TRACE names.
func (w *world) traced() {
	if name := os.Getenv("RINGSIDE_MODEL_TRACE"); name != "" {
		_ = os.WriteFile(name, []byte(w.last(len(w.trace))), 0o644)
	}
}
