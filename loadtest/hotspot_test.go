package loadtest

import (
	"testing"

	"github.com/ringside-kv/ringside/loadtest/workload"
)

// Rates follow from requests at random, so the bounds here are wider than what longer runs reach: 1.2.
func TestScriptEvensLoadOfHotspot(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	t.Parallel() // it waits most of the time
	cfg := small(t, "load 800; run 200ms; hotspot 10% 100%; run 2500ms; balance load; balance; run 100ms", Contestant{Name: "buckets", Strategy: "buckets"})
	cfg.Fleet.Backups = 0 // else backups are promoted and nothing is copied
	var err error
	if cfg.Workload.Rate, err = workload.ParseRate("800"); err != nil {
		t.Fatal(err)
	}
	cfg.Think = 0
	r, err := Run(t.Context(), cfg)
	run := only(t, r, err)
	if run.Failure != "" {
		t.Fatal(run.Failure)
	}
	hot, evened := run.Events[0], run.Events[1]
	if hot.Name != "hotspot" || hot.Node != "n1" || hot.MovedKeys != 0 || evened.Name != "balance load" {
		t.Errorf("%+v\n%+v", hot, evened)
	}
	if evened.LeastBytes == 0 || float64(evened.MovedBytes) > 1.4*float64(evened.LeastBytes) || evened.BalancedMS == nil {
		t.Errorf("%d bytes moved, %d at least: %+v", evened.MovedBytes, evened.LeastBytes, evened)
	}
	if len(run.Loads) != 3 {
		t.Fatalf("%d loads", len(run.Loads))
	}
	if b := evened.BalanceBefore; b == nil || b.HottestRange == 0 {
		t.Errorf("before: %+v", b)
	}
	if of := run.Loads[1].Nodes; len(of) != 3 || of[0].PerSecond <= max(of[1].PerSecond, of[2].PerSecond) { // n1 is hot
		t.Errorf("%+v", of)
	}
	total, busy := 0.0, 0
	for _, x := range run.Loads[1].PerSecond {
		total += x
	}
	for _, x := range run.Loads[1].PerSecond {
		if x > total/200 { // evenly loaded cells have a fifth of that, those of hot buckets twice as much
			busy++
		}
	}
	if busy < 10 || busy > 150 {
		t.Errorf("%d of 1,024 cells are hot, want those of some 26 of 256 buckets", busy)
	}
	if k := run.Checked; k.Lost+k.Stale+k.Corrupt+k.FinalUnread > 0 {
		t.Errorf("checked: %+v", k)
	}
}
