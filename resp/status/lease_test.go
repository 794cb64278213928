package status

import (
	"slices"
	"testing"
)

func TestNotesOfALease(t *testing.T) {
	for _, c := range []struct {
		lease Lease
		notes []string
	}{
		{Lease{Valid: true, ClockOf: "a", ClockOffset: 0.3}, nil},
		{Lease{Fault: "no leader"}, []string{"b answers nothing: it has no lease: no leader"}},
		{Lease{Valid: true, ClockOf: "a", ClockOffset: 1.234, ClockSkewed: true}, []string{"the clock of b is 1.23s behind that of a: keys expire by it"}},
		{Lease{Valid: true, ClockOf: "a", ClockOffset: -2, ClockSkewed: true}, []string{"the clock of b is 2s ahead of that of a: keys expire by it"}},
	} {
		if got := c.lease.notes("b"); !slices.Equal(got, c.notes) {
			t.Errorf("%q, want %q", got, c.notes)
		}
	}
}
