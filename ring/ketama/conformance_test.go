package ketama

import (
	"testing"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/ringtest"
)

func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	for _, cfg := range []Config{
		{},
		{Rule: Twemproxy, Slots: true, Points: 40},
	} {
		name := "libketama"
		if cfg.Rule != "" {
			name = string(cfg.Rule)
		}
		if cfg.Slots {
			name += " slots"
		}
		t.Run(name, func(t *testing.T) {
			s := mustNew(t, cfg)
			ringtest.Suite{
				Strategy: s,
				Slots:    cfg.Slots,
				// Exactly when a server that stays has another number of points than before.
				Reshuffles: func(before, after []ring.Member) bool {
					had, has := groupsOf(t, s, before), groupsOf(t, s, after)
					for id, n := range has {
						if was, stays := had[id]; stays && was != n {
							return true
						}
					}
					return false
				},
				Pointless: func(members []ring.Member) map[string]bool {
					none := map[string]bool{}
					for id, n := range groupsOf(t, s, members) {
						if n == 0 {
							none[id] = true
						}
					}
					return none
				},
				// Six standard deviations for a weight that is the least of all, with what
				// slots and rounding add.
				MaxToMean: func(int) float64 { return map[bool]float64{false: 2, true: 3.5}[cfg.Points != 0] },
			}.Run(t)
		})
	}
}

// groupsOf counts by the rule alone.
func groupsOf(t *testing.T, s *Strategy, members []ring.Member) map[string]int {
	sorted, err := ring.SortedMembers(members)
	if err != nil {
		t.Fatal(err)
	}
	total := 0.0
	for _, m := range sorted {
		total += m.Weight
	}
	groups := map[string]int{}
	for _, m := range sorted {
		groups[m.ID] = s.rule.groups(m.Weight, total, s.points, len(sorted))
	}
	return groups
}
