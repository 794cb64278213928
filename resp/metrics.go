package resp

import "github.com/uber-go/tally/v4"

// statsMetrics are the handles of the server's metrics, made once.
type statsMetrics struct{}

func newStatsMetrics(*commandTable, tally.Scope) *statsMetrics { return &statsMetrics{} }

// sample is called once a second.
func (s *stats) sample() {
	total := s.total()
	s.perSecond.Store(max(total-s.lastTotal, 0))
	s.lastTotal = total
}
