package durations

import (
	"testing"
	"time"
)

func TestBucketHoldsDuration(t *testing.T) {
	for d, want := range map[time.Duration]int{
		-1: 0, 0: 0, 255: 0, 256: 1, 511: 1, 512: 2, time.Microsecond: 2, 1024: 3,
		time.Minute: Buckets - 1, 100 * time.Hour: Buckets - 1,
	} {
		got := Bucket(d)
		if got != want {
			t.Errorf("%v: bucket %d, want %d", d, got, want)
		}
		if got < Buckets-1 && d >= End(got) || got > 0 && d < End(got-1) {
			t.Errorf("%v is not within bucket %d", d, got)
		}
	}
}

func TestHistogramCountsAllBelowEachEnd(t *testing.T) {
	var c Counts
	all := []time.Duration{0, 3 * time.Microsecond, 3 * time.Microsecond, time.Millisecond, time.Hour}
	for _, d := range all {
		c.Add(d)
	}
	h := c.Histogram(time.Second)
	if h.Count != uint64(len(all)) || h.Sum != 1 || len(h.Ends) != len(h.Below) {
		t.Fatalf("%+v", h)
	}
	for i, end := range h.Ends {
		want := uint64(0)
		for _, d := range all {
			if d.Seconds() < end {
				want++
			}
		}
		if h.Below[i] != want {
			t.Errorf("%d below %v s, want %d", h.Below[i], end, want)
		}
	}
	if c.Reset(); c.Histogram(0).Count != 0 {
		t.Error("it was not reset")
	}
}
