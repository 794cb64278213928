package cluster

import (
	"github.com/ringside-kv/ringside/loadtest/result"
)

// Balance is how even keys and bytes lay over the nodes at the last of some samples, and the
// requests of all of them over those nodes; nil without any sample, or node. A node that
// weights do not name has weight 1.
func Balance(samples []result.Sample, weights map[string]float64) *result.Balance {
	if len(samples) == 0 {
		return nil
	}
	nodes := samples[len(samples)-1].Nodes
	if len(nodes) == 0 {
		return nil
	}
	requests := make(map[string]float64)
	before := samples[0].AtMS // of whose time nothing is known: it counts as if all took the same
	for i, s := range samples {
		length := s.AtMS - before
		if i == 0 {
			length = 1
			if len(samples) > 1 {
				length = samples[1].AtMS - s.AtMS
			}
		}
		before = s.AtMS
		for _, n := range s.Nodes {
			requests[n.Node] += n.PerSecond * length
		}
	}
	var keys, bytes, asked evenness
	for _, n := range nodes {
		weight, ok := weights[n.Node]
		if !ok {
			weight = 1
		}
		keys.add(float64(n.Keys), weight)
		bytes.add(float64(n.Bytes), weight)
		asked.add(requests[n.Node], weight)
	}
	return &result.Balance{Keys: keys.is(), Bytes: bytes.is(), Requests: asked.is()}
}

// evenness is the most by the mean, of what has a weight.
type evenness struct{ sum, weights, most float64 }

func (e *evenness) add(x, weight float64) {
	e.sum += x
	e.weights += weight
	e.most = max(e.most, x/weight)
}

// is is 1 of what is even, or nothing at all.
func (e *evenness) is() float64 {
	if e.sum == 0 {
		return 1
	}
	return e.most / (e.sum / e.weights)
}
