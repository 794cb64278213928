package status

import (
	"fmt"

	"github.com/ringside-kv/ringside/ring/load"
)

// Load is what the ranges of a node have to do, by decaying rates.
type Load struct {
	load.Rate
	// Hottest is the range with the most load; empty if the node serves none.
	Hottest     string    `json:"hottest_range,omitempty"`
	HottestRate load.Rate `json:"hottest"`
}

// LoadImbalance returns the load of the busiest node by its weight, as a multiple of the mean, and the name of
// that node. It is 0 while nothing is to do, or if a node does not answer.
func (r *Report) LoadImbalance() (maxToMean float64, busiest string) {
	sum, weights, most := 0.0, 0.0, 0.0
	for i := range r.Nodes {
		n := &r.Nodes[i]
		if n.Role != "store" || n.State != Member && n.State != Leaving {
			continue
		}
		if n.Load == nil || !n.Answered {
			return 0, ""
		}
		if n.State == Member {
			weights += n.Weight
		}
		cost := n.Load.Cost()
		sum += cost
		if of := cost / n.Weight; of > most {
			most, busiest = of, n.ID
		}
	}
	if sum < leastLoad || !(weights > 0) {
		return 0, ""
	}
	return most / (sum / weights), busiest
}

// leastLoad is the load of a cluster, in operations a second, below which its balance says nothing.
const leastLoad = 1

// loads says how even the load is.
func (d *drawing) loads() {
	ratio, busiest := d.r.LoadImbalance()
	if busiest == "" {
		return
	}
	text := fmt.Sprintf("load: the busiest node, %s, has %.2f × the mean", busiest, ratio)
	for i := range d.r.Nodes {
		n := &d.r.Nodes[i]
		if n.ID == busiest && n.Load.Hottest != "" {
			text += fmt.Sprintf("; %s %% of its load are on range %s", percent(n.Load.HottestRate.Cost()/n.Load.Cost()), n.Load.Hottest)
		}
	}
	d.line("%s", text)
}
