package main

import (
	"slices"
	"testing"
)

func TestCoreCountsAreDoubledUpToAll(t *testing.T) {
	for all, want := range map[int][]string{
		1: {"1 core"},
		2: {"1 core", "2 cores"},
		6: {"1 core", "2 cores", "4 cores", "6 cores"},
	} {
		var names []string
		for _, c := range new(bout).coreCounts(all) {
			names = append(names, c.name)
		}
		if !slices.Equal(names, want) {
			t.Errorf("%d cores: %q, want %q", all, names, want)
		}
	}
}

// Ratios of --cores are over one core's.
func TestRatiosOfCores(t *testing.T) {
	at := func(ops float64) []sample { return []sample{{figures: figures{OpsPerSec: ops}}} }
	r := newResult(workload{}, []sideResult{{Name: asOneCore, Samples: at(100)}, {Name: "2 cores", Samples: at(150)}})
	if got := r.sides(); got[0].Ratio != nil || got[1].Ratio == nil || got[1].Ratio.Median != 1.5 {
		t.Errorf("%+v", got)
	}
}
