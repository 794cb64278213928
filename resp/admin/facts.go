package admin

import (
	"cmp"
	"crypto/x509"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// Facts are what a node knows of itself and its cluster. They are asked for at each scrape, from any
// goroutine, and must not block.
type Facts struct {
	// ID, Role, Cluster and Hash are labels of ringside_node_info.
	ID, Role, Cluster, Hash string
	Ready                   func() error
	// Strategy is the label strategy: the strategy in force in the cluster; empty before it is known.
	Strategy func() string
	// Alive counts the nodes of the cluster that are alive, and all that are known.
	Alive func() (alive, all int)
	// Leader reports whether this node leads the cluster, and whether it knows a leader.
	Leader func() (here, known bool)
	// Disk returns the free space and the size of the disk that has the data, in bytes.
	Disk func() (free, total uint64, err error)
	// Certificate is what clients are met with, NodeCertificate what other nodes are shown; nil without TLS. Failures and
	// NodeFailures count the changes of their files that could not be used.
	Certificate, NodeCertificate func() *x509.Certificate
	Failures, NodeFailures       func() int64
}

// ObserveFacts shows the facts of a node.
func (m *Metrics) ObserveFacts(f Facts) error {
	gauge := func(name, help string) *prometheus.Desc { return prometheus.NewDesc("ringside_"+name, help, nil, nil) }
	c := &factsCollector{
		facts: f,
		info: prometheus.NewDesc("ringside_node_info", "Always 1; the labels describe the node.",
			[]string{"strategy"}, prometheus.Labels{"node": f.ID, "role": f.Role, "cluster": f.Cluster, "hash": f.Hash}),
		ready:       gauge("ready", "1 while the node serves all keys that it should serve and accepts writes, else 0."),
		alive:       gauge("nodes_alive", "Nodes of the cluster that this node sees alive, itself included."),
		known:       gauge("nodes_known", "Nodes of the cluster that this node knows, alive or not."),
		leader:      gauge("leader", "1 while this node leads the cluster, else 0."),
		leaderKnown: gauge("leader_known", "1 while this node knows a leader, else 0."),
		free:        gauge("disk_free_bytes", "Free space of the disk that has the data."),
		total:       gauge("disk_total_bytes", "Size of the disk that has the data."),
		expiry:      gauge("tls_certificate_expiry_timestamp_seconds", "Unix time at which the certificate for clients expires."),
		nodeExpiry:  gauge("cluster_tls_certificate_expiry_timestamp_seconds", "Unix time at which the certificate for other nodes expires."),
		failures: prometheus.NewDesc("ringside_tls_reload_failures_total",
			"Changes of the files of certificates that could not be used; the earlier certificates stay.", []string{"for"}, nil),
	}
	if err := m.registry.Register(c); err != nil {
		return fmt.Errorf("register facts: %w", err)
	}
	return nil
}

// factsCollector implements prometheus.Collector.
type factsCollector struct {
	facts                                          Facts
	info, ready, alive, known, leader, leaderKnown *prometheus.Desc
	free, total, expiry, nodeExpiry, failures      *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (c *factsCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.info, c.ready, c.alive, c.known, c.leader, c.leaderKnown, c.free, c.total, c.expiry, c.nodeExpiry, c.failures} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (c *factsCollector) Collect(to chan<- prometheus.Metric) {
	tell := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	tell(c.info, 1, cmp.Or(c.facts.Strategy(), "unknown"))
	tell(c.ready, bit(c.facts.Ready() == nil))
	alive, all := c.facts.Alive()
	tell(c.alive, float64(alive))
	tell(c.known, float64(all))
	here, known := c.facts.Leader()
	tell(c.leader, bit(here))
	tell(c.leaderKnown, bit(known))
	if free, total, err := c.facts.Disk(); err == nil {
		tell(c.free, float64(free))
		tell(c.total, float64(total))
	}
	for _, of := range []struct {
		who      string
		cert     *x509.Certificate
		expiry   *prometheus.Desc
		failures int64
	}{
		{"clients", c.facts.Certificate(), c.expiry, c.facts.Failures()}, {"nodes", c.facts.NodeCertificate(), c.nodeExpiry, c.facts.NodeFailures()},
	} {
		if of.cert != nil {
			tell(of.expiry, float64(of.cert.NotAfter.Unix()))
			to <- prometheus.MustNewConstMetric(c.failures, prometheus.CounterValue, float64(of.failures), of.who)
		}
	}
}

func bit(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
