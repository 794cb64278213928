package cluster

import (
	"github.com/ringside-kv/ringside/loadtest/result"
)

// balance is how even keys and bytes lay over the nodes at the last of some samples, and the
// requests of all of them over those nodes; nil without any sample, or node.
func balance(samples []result.Sample) *result.Balance {
	if len(samples) == 0 {
		return nil
	}
	nodes := samples[len(samples)-1].Nodes
	if len(nodes) == 0 {
		return nil
	}
	requests := make(map[string]float64)
	for i, s := range samples {
		length := 1.0 // of the first, nothing is known: it counts as long as the next
		if i > 0 {
			length = s.AtMS - samples[i-1].AtMS
		} else if len(samples) > 1 {
			length = samples[1].AtMS - s.AtMS
		}
		for _, n := range s.Nodes {
			requests[n.Node] += n.PerSecond * length
		}
	}
	return &result.Balance{
		Keys:     mostByMean(nodes, func(n *result.NodeSample) float64 { return float64(n.Keys) }),
		Bytes:    mostByMean(nodes, func(n *result.NodeSample) float64 { return float64(n.Bytes) }),
		Requests: mostByMean(nodes, func(n *result.NodeSample) float64 { return requests[n.Node] }),
	}
}

// mostByMean is the largest value of a node as a multiple of the mean; 1 if all are 0.
func mostByMean(nodes []result.NodeSample, value func(*result.NodeSample) float64) float64 {
	sum, most := 0.0, 0.0
	for i := range nodes {
		sum += value(&nodes[i])
		most = max(most, value(&nodes[i]))
	}
	if sum == 0 {
		return 1
	}
	return most / (sum / float64(len(nodes)))
}
