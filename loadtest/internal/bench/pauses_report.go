package main

import (
	"fmt"
	"slices"
	"time"
)

// A summary is the least, the median, the 99th percentile and the most of some times.
type summary []time.Duration

func (s summary) String() string {
	if len(s) == 0 {
		return "nothing"
	}
	sorted := slices.Sorted(slices.Values(s))
	at := func(share float64) string {
		return fmt.Sprintf("%.1f", sorted[int(share*float64(len(sorted)-1))].Seconds()*1000)
	}
	return fmt.Sprintf("%9s %9s %9s %9s", at(0), at(0.5), at(0.99), at(1))
}

func (w *pauseWatch) report() {
	fmt.Printf("pauses of keys, in ms\n%-22s %6s %9s %9s %9s %9s\n", "", "number", "least", "median", "p99", "most")
	for _, name := range w.order {
		f := w.found[name]
		fmt.Printf("%-22s %6d %s\n", name, len(f.pauses), summary(f.pauses))
		fmt.Printf("%-22s %6s %s\n", "  when nothing happens", "", summary(f.before))
		if f.lapses > 0 {
			fmt.Printf("  leases of nodes to which nothing happened ended %d times\n", f.lapses)
		}
		if f.failed > 0 {
			fmt.Printf("  clients were told of errors in %d rounds, as of %v\n", f.failed, f.last)
		}
	}
}
