package cluster

import (
	"math/rand/v2"
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

// draw shuffles members by the seed and the number of the event, the first node last if it is
// to be spared.
func (f *Cluster) draw(members []*member) []*member {
	f.drawn++
	rnd := rand.New(rand.NewPCG(f.cfg.Seed, f.drawn))
	drawn := slices.Clone(members)
	rnd.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	if f.cfg.SpareFirst {
		slices.SortStableFunc(drawn, func(a, b *member) int { return first(a) - first(b) })
	}
	return drawn
}

func first(m *member) int {
	if m.id == "n1" {
		return 1
	}
	return 0
}

// victims picks n candidates, one after the other: whoever takes the least ranges with it of
// which no copy is left, and of those the first.
func victims(candidates []*member, n int, p *ring.Placement) []*member {
	left := slices.Clone(candidates)
	var picked []*member
	var gone []string
	for range n {
		best, least := 0, -1
		for i, m := range left {
			if lost := lost(p, append(gone, m.id)); least < 0 || lost < least {
				best, least = i, lost
			}
		}
		picked, gone = append(picked, left[best]), append(gone, left[best].id)
		left = slices.Delete(left, best, best+1)
	}
	return picked
}

// lost counts the ranges of which no copy is left without some nodes.
func lost(p *ring.Placement, gone []string) (n int) {
	for row := range p.Rows() {
		some := !slices.Contains(gone, row.Primary)
		for _, id := range row.Backups {
			some = some || !slices.Contains(gone, id)
		}
		if !some {
			n++
		}
	}
	return n
}
