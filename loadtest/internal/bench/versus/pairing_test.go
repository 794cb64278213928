package main

import (
	"regexp"
	"testing"
)

func TestTargets(t *testing.T) {
	type target struct{ ratio, p99 float64 }
	want := map[string]target{
		"SET 64B P1 everysec":   {0.75, 0},
		"SET 64B P16 everysec":  {1.1, 3},
		"GET 64B P1 everysec":   {0.9, 0},
		"GET 64B P16 everysec":  {1.1, 3},
		"INCR 64B P1 everysec":  {},
		"INCR 64B P16 everysec": {0.7, 3},
		"ZADD 3B P16 everysec":  {0.7, 4},
		"EVAL 3B P16 everysec":  {0.5, 4},
		"GET 64B P16 cache=0":   {0.4, 0},
		"SET 64B P16 always":    {0.75, 0},
		// A million values of 1 KiB do not fit the cache.
		"GET 1KiB P1 everysec":  {},
		"GET 1KiB P16 everysec": {0, 3},
	}
	for _, p := range allPairings(options{requests: 1_000_000, clients: 50, keys: 1_000_000}) {
		for _, w := range p.workloads {
			if wanted, ok := want[w.name]; ok {
				delete(want, w.name)
				if got := (target{w.minRatio, w.maxP99}); got != wanted {
					t.Errorf("%s: %v, want %v", w.name, got, wanted)
				}
			}
		}
	}
	for name := range want {
		t.Errorf("no workload %s", name)
	}
}

func TestOnlyChoosesWorkloads(t *testing.T) {
	pairs, err := selectPairings(options{requests: 100, clients: 5, keys: 10, only: regexp.MustCompile(`^GET .*P16`)})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range pairs {
		for _, w := range p.workloads {
			names = append(names, w.name)
		}
	}
	if len(pairs) != 3 || len(names) != 3 {
		t.Errorf("%d pairings with %q", len(pairs), names)
	}
}
