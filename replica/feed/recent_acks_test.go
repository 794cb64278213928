package feed

import (
	"testing"
	"time"
)

func TestRecentAcksKnowWhenAChangeWasAcknowledged(t *testing.T) {
	var r recentAcks
	at := func(n uint64) time.Time { return time.Unix(int64(n), 0) }
	if _, known := r.of(1); known {
		t.Error("an acknowledgement although there was none")
	}
	for n := uint64(10); n <= 300; n += 10 { // each has ten changes
		r.add(n, at(n))
	}
	for n, want := range map[uint64]uint64{1: 10, 10: 10, 11: 20, 291: 300, 300: 300} {
		if got, known := r.of(n); !known || got != at(want) {
			t.Errorf("change %d: %v, %v, want %v", n, got, known, at(want))
		}
	}
	if _, known := r.of(301); known {
		t.Error("change 301 is acknowledged")
	}
	for n := uint64(310); n <= 3000; n += 10 {
		r.add(n, at(n))
	}
	if _, known := r.of(100); known {
		t.Error("change 100 is remembered")
	}
	if got, known := r.of(2995); !known || got != at(3000) {
		t.Errorf("change 2995: %v, %v", got, known)
	}
}
