package main

import (
	"regexp"
	"slices"
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
	pairs, err := selectPairings(options{requests: 1_000_000, clients: 50, keys: 1_000_000})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pairs {
		for _, w := range p.Workloads {
			if wanted, ok := want[w.name]; ok {
				delete(want, w.name)
				if got := (target{w.MinRatio, w.MaxP99}); got != wanted {
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
		for _, w := range p.Workloads {
			names = append(names, w.name)
		}
	}
	if len(pairs) != 3 || len(names) != 3 {
		t.Errorf("%d pairings with %q", len(pairs), names)
	}
}

func TestWorkloadsAreComplete(t *testing.T) {
	names := map[string]bool{}
	pairs, err := selectPairings(options{requests: 100, clients: 5, keys: 10})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pairs {
		for _, w := range p.Workloads {
			if names[w.name] || w.Share <= 0 || w.do == nil || w.requests < 5 || w.requests%w.Pipeline != 0 {
				t.Errorf("%+v", w)
			}
			names[w.name] = true
			if args := expand(w.do.Request, valueMark, "xyz"); slices.Contains(args, valueMark) || len(args) != len(w.do.Request) {
				t.Errorf("%s: %q", w.name, args)
			}
		}
	}
}
