package members

import "github.com/uber-go/tally/v4"

// metrics are counts of nodes by status, and of strangers that were refused.
type metrics struct {
	alive, failed, left tally.Gauge
	refused             tally.Counter
}

func newMetrics(scope tally.Scope) metrics {
	nodes := func(s Status) tally.Gauge {
		return scope.Tagged(map[string]string{"status": s.String()}).Gauge("members_nodes")
	}
	return metrics{nodes(Alive), nodes(Failed), nodes(Left), scope.Counter("members_refused")}
}

func (m metrics) show(v *view) {
	m.alive.Update(float64(v.count(Alive)))
	m.failed.Update(float64(v.count(Failed)))
	m.left.Update(float64(v.count(Left)))
}
