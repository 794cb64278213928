package pending

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// Of many changes the last of each key is found, in order, whenever it is asked for.
func TestLastChangesAreInOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	var cs Changes
	for range 3 {
		model := map[string]string{}
		for n := range 3000 {
			key, value := fmt.Sprintf("%04d", rnd.IntN(1000)), fmt.Sprint(n)
			cs.Add(Change{Key: []byte(key), Value: []byte(value)})
			model[key] = value
			if rnd.IntN(1+n/400) > 2 {
				continue
			}
			from := rnd.IntN(1000)
			lower, upper := fmt.Sprintf("%04d", from), fmt.Sprintf("%04d", from+rnd.IntN(100))
			var want, got []string
			for _, k := range slices.Sorted(maps.Keys(model)) {
				if k >= lower && k < upper {
					want = append(want, k+model[k])
				}
			}
			for _, c := range cs.Within([]byte(lower), []byte(upper)) {
				got = append(got, string(c.Key)+string(c.Value))
			}
			if !slices.Equal(got, want) {
				t.Fatalf("from %s to %s: %v, want %v", lower, upper, got, want)
			}
		}
		cs.Forget()
	}
}
