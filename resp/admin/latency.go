package admin

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// A LatencySource knows how long commands took. resp.Server is one.
type LatencySource interface {
	// EachLatency calls visit for each command that has run: the upper ends of
	// its duration buckets in seconds, how many calls stayed below each, how many
	// calls there were and their seconds together. The slices are valid during
	// the call. It is called once per scrape, from any goroutine.
	EachLatency(visit func(command string, bounds []float64, below []uint64, count uint64, sum float64))
}

// ObserveLatency shows a source's figures as the histogram
// ringside_command_duration_seconds. They are read when somebody asks for them, and
// not reported through the scope: tally passes each sample of a histogram on by
// itself, which would cost more than the commands.
func (m *Metrics) ObserveLatency(source LatencySource) error {
	c := &latencyCollector{
		source: source,
		desc: prometheus.NewDesc("ringside_command_duration_seconds",
			"How long commands ran, without waiting for durability or the client.", []string{"command"}, nil),
	}
	if err := m.registry.Register(c); err != nil {
		return fmt.Errorf("register latency: %w", err)
	}
	return nil
}

// latencyCollector implements prometheus.Collector.
type latencyCollector struct {
	source LatencySource
	desc   *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (c *latencyCollector) Describe(to chan<- *prometheus.Desc) { to <- c.desc }

// Collect implements prometheus.Collector.
func (c *latencyCollector) Collect(to chan<- prometheus.Metric) {
	c.source.EachLatency(func(command string, bounds []float64, below []uint64, count uint64, sum float64) {
		buckets := make(map[float64]uint64, len(bounds))
		for i, bound := range bounds {
			buckets[bound] = below[i]
		}
		to <- prometheus.MustNewConstHistogram(c.desc, count, sum, buckets, command)
	})
}
