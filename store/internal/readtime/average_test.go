package readtime

import (
	"testing"
	"time"
)

func TestReadsAreQuickUnlessTheDiskIsSlow(t *testing.T) {
	var a Average
	for _, step := range []struct {
		reads int
		took  time.Duration
		quick bool
	}{
		{0, 0, true}, {100, 20 * time.Microsecond, true},
		{1, time.Second, true}, // the processor was elsewhere
		{20, 5 * time.Millisecond, false},
		{200, 90 * time.Microsecond, true},
		{200, 150 * time.Microsecond, false},
	} {
		for range step.reads {
			a.Note(step.took)
		}
		if a.ReadsAreQuick() != step.quick {
			t.Errorf("after %d reads of %v: quick %v, average %v", step.reads, step.took, !step.quick, a.Of())
		}
	}
}
