package listening

import (
	"slices"
	"testing"
)

func TestSetKeepsEachClientOnce(t *testing.T) {
	var s Set[int]
	for _, c := range []int{3, 1, 3, 2} {
		s.Add(c)
	}
	if !s.Remove(1) || s.Remove(1) || !s.Any() {
		t.Error("a client is removed once")
	}
	var all []int
	s.Each(func(c int) { all = append(all, c) })
	if want := []int{3, 2}; !slices.Equal(all, want) {
		t.Errorf("%v, want %v", all, want)
	}
	s.Remove(3)
	if s.Remove(2); s.Any() {
		t.Error("the set is not empty")
	}
}
