package main

import "testing"

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		want   float64
	}{
		{nil, 0},
		{[]float64{7}, 7},
		{[]float64{9, 1, 5}, 5},
		{[]float64{4, 1, 3, 100}, 3.5},
	} {
		if got := median(tt.values); got != tt.want {
			t.Errorf("median(%v) = %v, want %v", tt.values, got, tt.want)
		}
	}
	values := []float64{3, 1, 2}
	if median(values); values[0] != 3 {
		t.Errorf("the values are %v", values)
	}
}

// The ratio is taken within a round: both rounds are equal here, though the
// machine was twice as fast in the second.
func TestSummarizeComparesWithinRounds(t *testing.T) {
	at := func(ops, p99 float64) sample { return sample{figures: figures{OpsPerSec: ops, P99: p99}} }
	r := newResult(workload{}, []sideResult{
		{Name: asRingside, Samples: []sample{at(50, 4), at(100, 6)}},
		{Name: asRedis, Samples: []sample{at(100, 1), at(200, 4)}},
	})
	if *r.Ratio != (spread{0.5, 0.5, 0.5}) || r.P99 != 2 {
		t.Errorf("ratio %+v, p99 %v", *r.Ratio, r.P99)
	}
}

func TestSummaryKnowsCPUOnlyIfEveryRoundDoes(t *testing.T) {
	one, three := 1.0, 3.0
	if got := summary([]sample{{CPU: &one}, {CPU: &three}}); got.CPU == nil || *got.CPU != 2 {
		t.Errorf("CPU %v", got.CPU)
	}
	if got := summary([]sample{{CPU: &one}, {}}); got.CPU != nil {
		t.Errorf("CPU %v", *got.CPU)
	}
}
