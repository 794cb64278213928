package buckets

import (
	"fmt"
	"testing"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/ringtest"
)

func TestConformance(t *testing.T) {
	for _, slots := range []bool{false, true} {
		t.Run(fmt.Sprintf("slots=%v", slots), func(t *testing.T) {
			s, err := New(Config{Slots: slots})
			if err != nil {
				t.Fatal(err)
			}
			ringtest.Suite{
				Strategy: s,
				Slots:    slots,
				Promotes: true,
				// With unequal weights a quota may only be reached by way of another
				// survivor: see DESIGN.md. How many copies that moves is tested exactly in
				// TestMovesAreTheFewestAndPrimariesTheNearest.
				Reshuffles: func(before, after []ring.Member) bool {
					return unequal(before) || unequal(after)
				},
				// The ceiling of a share instead of the share itself.
				MaxToMean: func(n int) float64 { return 1 + 2*float64(n)/256 },
			}.Run(t)
		})
	}
}

func unequal(members []ring.Member) bool {
	for _, m := range members {
		if m.Weight != members[0].Weight {
			return true
		}
	}
	return false
}
