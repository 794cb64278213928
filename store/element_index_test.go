package store

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// The last change of each key is found, of few and of many, and none of before they were
// forgotten.
func TestLastChangeOfAnElementIsFound(t *testing.T) {
	oneGoroutine(t)
	var cs elementChanges
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{fewChanges, 500, fewChanges + 1, 70, 3} {
		last := map[string]int{}
		for i := range n {
			key := fmt.Sprint(rnd.IntN(2 * n))
			last[key] = i
			cs.add(elementChange{key: []byte(key), sub: i})
			for try := range 2 * n {
				key := fmt.Sprint(try)
				want, there := last[key]
				if c := cs.find([]byte(key)); (c != nil) != there || there && c.sub != want {
					t.Fatalf("of %d changes, %s is %+v, want %d, %v", i+1, key, c, want, there)
				}
			}
		}
		cs.forget()
	}
}
