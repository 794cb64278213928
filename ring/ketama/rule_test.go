package ketama

import (
	"slices"
	"testing"
)

func TestEqualServersLoseAGroupAtKnownCounts(t *testing.T) {
	for rule, want := range map[Rule][]int{
		Libketama: {61, 122},
		Twemproxy: {25, 47, 50, 55, 61, 71, 94, 100, 107, 109, 110, 115, 122},
	} {
		var lost []int
		for n := 1; n <= 128; n++ {
			switch groups := rule.groups(1, float64(n), DefaultPoints, n); groups {
			case 40:
			case 39:
				lost = append(lost, n)
			default:
				t.Errorf("%s, %d servers: %d groups each", rule, n, groups)
			}
		}
		if !slices.Equal(lost, want) {
			t.Errorf("%s: a group is lost at %v, want %v", rule, lost, want)
		}
	}
}
