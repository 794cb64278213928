package cluster

import (
	"cmp"
	"math"
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

// A Holding is keys, and bytes of keys and values.
type Holding struct{ Keys, Bytes int64 }

// Holdings are what nodes have, primaries and backups together, by id; Total is what there is
// of primaries, each key once.
type Holdings struct {
	Nodes map[string]Holding
	Total Holding
}

// Least is what has to move at the least, until each of the members that are there after an
// event has its share: what it has not had before. The shares follow from the weights, as
// [ring.Quotas] has it, with so many backups as there can be. members must be valid.
//
// A strategy that cuts no range to the key may come out a little below, and one that leaves
// shares uneven, as a ring with few points does, far below: it has spared itself the evening
// out. So [Watch.Balance] belongs beside the factor.
func Least(before Holdings, members []ring.Member, backups int) Holding {
	members = slices.Clone(members)
	slices.SortFunc(members, func(a, b ring.Member) int { return cmp.Compare(a.ID, b.ID) })
	copies := min(1+backups, len(members))
	var keys, bytes float64
	for i, quota := range ring.Quotas(members, copies) {
		had := before.Nodes[members[i].ID]
		keys += max(0, quota*float64(before.Total.Keys)-float64(had.Keys))
		bytes += max(0, quota*float64(before.Total.Bytes)-float64(had.Bytes))
	}
	return Holding{Keys: int64(math.Round(keys)), Bytes: int64(math.Round(bytes))}
}

// LeastTo is what has to move at the least until each node holds the share that it holds after:
// that of an event that changes no members, such as a switch of the strategy.
func LeastTo(before, after Holdings) Holding {
	var keys, bytes float64
	for id, has := range after.Nodes {
		had := before.Nodes[id]
		keys += max(0, share(has.Keys, after.Total.Keys)*float64(before.Total.Keys)-float64(had.Keys))
		bytes += max(0, share(has.Bytes, after.Total.Bytes)*float64(before.Total.Bytes)-float64(had.Bytes))
	}
	return Holding{Keys: int64(math.Round(keys)), Bytes: int64(math.Round(bytes))}
}

func share(part, whole int64) float64 { return float64(part) / float64(max(1, whole)) }

// Least is what an event has to move that leads from some holdings to the nodes that are up
// and stay.
func (f *Cluster) Least(before Holdings) Holding {
	return Least(before, f.staying(), f.cfg.Backups)
}

// staying are the nodes that are up and do not leave.
func (f *Cluster) staying() []ring.Member {
	var members []ring.Member
	for _, m := range f.those(up) {
		members = append(members, ring.Member{ID: m.id, Weight: 1})
	}
	return members
}
