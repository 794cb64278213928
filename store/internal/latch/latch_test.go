package latch

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Few and many numbers come out the same way: each once, from the lowest on.
func TestLatchesAreTakenInOrder(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for n := range 300 {
		nums := []uint16{0, Count - 1}[:min(n, 2)]
		for len(nums) < n {
			nums = append(nums, uint16(rnd.IntN(1<<(1+n%12))))
		}
		want := slices.Clone(nums)
		slices.Sort(want)
		want = slices.Compact(want)
		if got := Sort(nums); !slices.Equal(got, want) {
			t.Fatalf("%v, not %v", got, want)
		}
	}
}
