package pending

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// The last change of each key is found, of few and of many, and none of before they were
// forgotten.
func TestLastChangeOfAnElementIsFound(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	var cs Changes
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{fewChanges, 500, fewChanges + 1, 70, 3} {
		last := map[string]int{}
		for i := range n {
			key := fmt.Sprint(rnd.IntN(2 * n))
			last[key] = i
			cs.Add(Change{Key: []byte(key), Sub: i})
			for try := range 2 * n {
				key := fmt.Sprint(try)
				want, there := last[key]
				if c := cs.Find([]byte(key)); (c != nil) != there || there && c.Sub != want {
					t.Fatalf("of %d changes, %s is %+v, want %d, %v", i+1, key, c, want, there)
				}
			}
		}
		cs.Forget()
	}
}
