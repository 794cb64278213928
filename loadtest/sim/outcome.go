package sim

import (
	"math"

	"github.com/ringside-kv/ringside/ring"
)

// shares are what the members of a scene ought to have by their weights, in the order
// of the scene: of the primaries all together 1, of the copies of each key their number.
type shares struct {
	primary, copies []float64
}

func fairShares(members []ring.Member, backups int) shares {
	order := orderByID(members) // as ring.Quotas wants them
	sorted := make([]ring.Member, len(members))
	weights := 0.0
	for i, at := range order {
		sorted[i] = members[at]
		weights += members[at].Weight
	}
	s := shares{make([]float64, len(members)), make([]float64, len(members))}
	quotas := ring.Quotas(sorted, min(backups, len(members)-1)+1)
	for i, at := range order {
		s.primary[at] = members[at].Weight / weights
		s.copies[at] = quotas[i]
	}
	return s
}

// least is what the fair shares of nodes grow by from the scene before.
func (r *run) least(scene int) Amount {
	if scene == 0 {
		return Amount{}
	}
	scenes := r.script.scenes
	had := make([]float64, len(r.script.nodes))
	for i, place := range scenes[scene-1].places {
		had[place] = r.fair[scene-1].copies[i]
	}
	grown := 0.0
	for i, place := range scenes[scene].places {
		grown += max(0, r.fair[scene].copies[i]-had[place])
	}
	return Amount{
		Keys:  int64(math.Round(grown * float64(r.keys.count))),
		Bytes: int64(math.Round(grown * float64(r.keys.bytes))),
	}
}

// gained is what the copies of nodes grow by: the least that leads to the loads after a step.
func gained(before, after []nodeTally) (all Amount) {
	for i := range after {
		all.Keys += max(0, after[i].copies.Keys-before[i].copies.Keys)
		all.Bytes += max(0, after[i].copies.Bytes-before[i].copies.Bytes)
	}
	return all
}

// outcome is what a step comes to for one contender.
func outcome(t *tally, scene *scene, fair shares, least Amount, keys *keyspace) Outcome {
	o := t.Outcome
	o.Nodes = make([]NodeLoad, len(scene.places))
	if least.Keys > 0 {
		o.Ratio = float64(o.Moved.Keys) / float64(least.Keys)
	}
	for i, place := range scene.places {
		n := &t.nodes[place]
		o.Nodes[i] = NodeLoad{
			Primary: n.primary.Amount,
			Copies:  n.copies,
			Zipf:    float64(n.primary.zipf) / float64(keys.zipfTotal),
			Hotspot: keys.hotspot(n.primary.Keys, n.primary.hot),
		}
	}
	spread := func(fair []float64, all float64, of func(*NodeLoad) float64) Spread {
		return spreadOf(o.Nodes, fair, all, of)
	}
	all, bytes := float64(keys.count), float64(keys.bytes)
	o.Balance = Balance{
		Keys:    spread(fair.primary, all, func(n *NodeLoad) float64 { return float64(n.Primary.Keys) }),
		Bytes:   spread(fair.primary, bytes, func(n *NodeLoad) float64 { return float64(n.Primary.Bytes) }),
		Copies:  spread(fair.copies, all, func(n *NodeLoad) float64 { return float64(n.Copies.Keys) }),
		Zipf:    spread(fair.primary, 1, func(n *NodeLoad) float64 { return n.Zipf }),
		Hotspot: spread(fair.primary, 1, func(n *NodeLoad) float64 { return n.Hotspot }),
	}
	o.Balance.Uniform = o.Balance.Keys
	return o
}

// spreadOf describes loads that are all together, when each node is due a part of it.
// The mean is 1 by what it means, whatever the weights; with one weight for all it is
// the mean of the multiples too.
func spreadOf(nodes []NodeLoad, fair []float64, all float64, of func(*NodeLoad) float64) Spread {
	if all == 0 {
		return Spread{}
	}
	s := Spread{Min: math.Inf(1)}
	squares := 0.0
	for i := range nodes {
		x := of(&nodes[i]) / (all * fair[i])
		s.Min, s.Max = min(s.Min, x), max(s.Max, x)
		squares += (x - 1) * (x - 1)
	}
	s.CV = math.Sqrt(squares / float64(len(nodes)))
	return s
}
