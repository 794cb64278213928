package admin

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ringside-kv/ringside/internal/durations"
)

// A LatencySource knows how long commands took. resp.Server is one.
type LatencySource interface {
	// EachLatency calls visit for each command that has run. It is called once per
	// scrape, from any goroutine.
	EachLatency(visit func(command string, calls durations.Histogram))
	// EachAnswered calls visit for each command of clients that has been answered, likewise.
	EachAnswered(visit func(command string, calls durations.Histogram))
}

// ObserveLatency shows a source's figures as the histogram
// ringside_command_duration_seconds and ringside_request_duration_seconds, and what fsyncs returns as
// ringside_log_fsync_duration_seconds. Each scrape reads them; they do
// not go through the scope: tally passes each sample of a histogram on by
// itself, which would cost more than the commands.
func (m *Metrics) ObserveLatency(source LatencySource, fsyncs func() durations.Histogram) error {
	c := &latencyCollector{
		source: source,
		desc: prometheus.NewDesc("ringside_command_duration_seconds",
			"How long commands ran, without waiting for durability or the client.", []string{"command"}, nil),
		answeredDesc: prometheus.NewDesc("ringside_request_duration_seconds",
			"How long clients waited: from the arrival of a command at this node until its reply was written, including other nodes, "+
				"the log and backups, but no waiting that the command asked for.", []string{"command"}, nil),
		fsyncs: fsyncs,
		fsyncDesc: prometheus.NewDesc("ringside_log_fsync_duration_seconds",
			"How long fsyncs of the log took.", nil, nil),
	}
	if err := m.registry.Register(c); err != nil {
		return fmt.Errorf("register latency: %w", err)
	}
	return nil
}

// latencyCollector implements prometheus.Collector.
type latencyCollector struct {
	source                        LatencySource
	fsyncs                        func() durations.Histogram
	desc, answeredDesc, fsyncDesc *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (c *latencyCollector) Describe(to chan<- *prometheus.Desc) {
	to <- c.desc
	to <- c.answeredDesc
	to <- c.fsyncDesc
}

// Collect implements prometheus.Collector.
func (c *latencyCollector) Collect(to chan<- prometheus.Metric) {
	pass := func(desc *prometheus.Desc, h durations.Histogram, labels ...string) {
		below := make(map[float64]uint64, len(h.Ends))
		for i, end := range h.Ends {
			below[end] = h.Below[i]
		}
		to <- prometheus.MustNewConstHistogram(desc, h.Count, h.Sum, below, labels...)
	}
	c.source.EachLatency(func(command string, calls durations.Histogram) { pass(c.desc, calls, command) })
	c.source.EachAnswered(func(command string, calls durations.Histogram) { pass(c.answeredDesc, calls, command) })
	pass(c.fsyncDesc, c.fsyncs())
}
