package store

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// Of many changes the last of each key is found, in order, whenever it is asked for.
func TestLastChangesAreInOrder(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	var cs elementChanges
	for range 3 {
		model := map[string]string{}
		for n := range 3000 {
			key, value := fmt.Sprintf("%04d", rnd.IntN(1000)), fmt.Sprint(n)
			cs.add(elementChange{key: []byte(key), value: []byte(value)})
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
			for _, c := range cs.within([]byte(lower), []byte(upper)) {
				got = append(got, string(c.key)+string(c.value))
			}
			if !slices.Equal(got, want) {
				t.Fatalf("from %s to %s: %v, want %v", lower, upper, got, want)
			}
		}
		cs.forget()
	}
}
