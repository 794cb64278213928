package report

import (
	"fmt"
	"testing"
)

func TestContestantsLookDifferent(t *testing.T) {
	var names []string
	for i := range 32 {
		names = append(names, fmt.Sprintf("vnode:%d", i+1))
	}
	seen := map[string]int{}
	for i, l := range Looks(names) {
		key := fmt.Sprint(l.Color, l.dashes)
		if before, ok := seen[key]; ok {
			t.Errorf("contestants %d and %d look alike", before, i)
		}
		seen[key] = i
	}
	usual := []string{"rendezvous", "vnode:16", "buckets"}
	for i, want := range []any{sky, green, blue} {
		if got := Looks(usual)[i].Color; got != want {
			t.Errorf("%s is %v", usual[i], got)
		}
	}
}
