package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

// A simFake is what a made-up report is made of.
type simFake struct {
	nodes, steps, keys int
	contenders         []string
	name               func(i int) string
	seed               uint64
}

var usualSim = []string{"buckets", "ketama", "vnode", "(mod)", "(rendezvous)"}

// report makes a report whose figures have the right form and the wrong values.
func (f simFake) report() *sim.Report {
	r := rand.New(rand.NewPCG(f.seed, 1))
	if f.name == nil {
		f.name = func(i int) string { return fmt.Sprintf("node-%d", i+1) }
	}
	if f.contenders == nil {
		f.contenders = usualSim
	}
	if f.keys == 0 {
		f.keys = 1_000_000
	}
	out := &sim.Report{Version: sim.ReportVersion, Took: 1234 * time.Millisecond, Settings: sim.Settings{
		Scenario: "add; remove", Order: "random", Seed: f.seed, Nodes: f.nodes, Backups: 1, Keys: f.keys,
		Bytes: int64(f.keys) * 116, Hash: "native", ZipfTheta: 0.99, HotKeys: 0.01, HotShare: 0.9, Machine: "Some Processor, 2 cores", Go: "go1.26",
	}}
	for _, name := range f.contenders {
		c := sim.Contender{Name: name, Title: "the " + name}
		if name[0] == '(' {
			c.Name, c.Yardstick = name[1:len(name)-1], true
		}
		out.Contenders = append(out.Contenders, c)
	}
	var nodes []sim.Node
	for i := range f.nodes {
		nodes = append(nodes, sim.Node{ID: f.name(i), Weight: 1})
	}
	for i := range f.steps + 1 {
		step := sim.Step{Event: "start"}
		switch {
		case i == 0:
		case i%3 == 2 && len(nodes) > 1:
			step.Event = "remove " + nodes[0].ID
			nodes = nodes[1:]
		default:
			id := f.name(f.nodes + i)
			step.Event = "add " + id
			nodes = append(slices.Clone(nodes), sim.Node{ID: id, Weight: 1})
		}
		step.Nodes = slices.Clone(nodes)
		if i > 0 {
			step.Least = f.amount(2 / float64(len(nodes)+1))
		}
		for j, c := range out.Contenders {
			step.Outcomes = append(step.Outcomes, f.outcome(r, i, j, c, step))
		}
		out.Steps = append(out.Steps, step)
	}
	return out
}

func (f simFake) amount(share float64) sim.Amount {
	keys := int64(share * float64(f.keys))
	return sim.Amount{Keys: keys, Bytes: keys * 116}
}

func (f simFake) outcome(r *rand.Rand, i, j int, c sim.Contender, step sim.Step) sim.Outcome {
	spread := func(cv float64) sim.Spread {
		return sim.Spread{Min: max(0, 1-2*cv), Max: 1 + cv*(1.5+r.Float64()), CV: cv}
	}
	cv := []float64{0.01, 0.09, 0.45, 0.004, 0.005}[j%5] * (0.8 + 0.4*r.Float64())
	keys := spread(cv)
	o := sim.Outcome{
		Balance: sim.Balance{Keys: keys, Bytes: keys, Copies: spread(cv / 2), Uniform: keys, Zipf: spread(cv + 0.2), Hotspot: spread(cv + 0.05)},
		Compute: time.Duration(r.IntN(1e6)), LookupNanos: 10 + 40*r.Float64(), LocateNanos: 30 + 40*r.Float64(),
	}
	if !c.Yardstick {
		o.Ranges, o.EncodedBytes, o.MemoryBytes = 256<<j, 1000<<j, 30000<<j
	}
	if i > 0 {
		moved := float64(step.Least.Keys) / float64(f.keys) * (1 + 0.1*r.Float64())
		if c.Name == "mod" {
			moved = 1.8
		}
		o.Moved, o.Backups = f.amount(moved), f.amount(moved/2)
		o.Ratio = float64(o.Moved.Keys) / float64(max(1, step.Least.Keys))
		if j%2 == 1 {
			o.Survivors = f.amount(moved / 100)
		}
		o.Promoted = f.amount(0.01).Keys
	}
	total := 0.0
	loads := make([]float64, len(step.Nodes))
	for k := range loads {
		loads[k] = math.Max(0, 1+cv*r.NormFloat64())
		total += loads[k]
	}
	for _, l := range loads {
		a := f.amount(l / total)
		o.Nodes = append(o.Nodes, sim.NodeLoad{Primary: a, Copies: sim.Amount{Keys: 2 * a.Keys, Bytes: 2 * a.Bytes}, Zipf: l / total, Hotspot: l / total})
	}
	if c.Name == "buckets" && len(step.Nodes) <= 64 {
		g := &sim.Grid{}
		for b := range 256 {
			g.Buckets = append(g.Buckets, fmt.Sprintf("%02x/ff", b))
			p := (b + b/7*i) % len(step.Nodes)
			owners := []int{p}
			if len(step.Nodes) > 1 {
				owners = append(owners, (p+1+b%(len(step.Nodes)-1))%len(step.Nodes))
			}
			g.Owners = append(g.Owners, owners)
		}
		o.Grid = g
	}
	return o
}
