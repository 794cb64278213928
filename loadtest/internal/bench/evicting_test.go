package main

import (
	"slices"
	"testing"
	"time"
)

func TestRatiosAreOfEqualRounds(t *testing.T) {
	took := func(all ...int) (w []waited) {
		for _, n := range all {
			w = append(w, waited{rate: float64(n), p99: time.Duration(n) * time.Millisecond})
		}
		return w
	}
	with, without := took(30, 10, 80), took(10, 20, 40)
	for name, of := range map[string]func(waited) float64{"p99": waited.tail, "rate": waited.throughput} {
		if got := ratiosOf(with, without, of); !slices.Equal(got, []float64{0.5, 2, 3}) {
			t.Errorf("%s: %v", name, got)
		}
	}
}
