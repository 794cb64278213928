package members

import (
	"maps"
	"slices"
	"time"
)

// failedGrace is how long a node must count as failed before that is logged. The news that a node has ended can come
// before the news that it has left: Serf counts it as failed in between.
const failedGrace = time.Second

// failures are nodes that count as failed, which has not been logged yet, and since when.
type failures map[string]time.Time

// take removes and returns the nodes that have counted as failed for failedGrace.
func (f failures) take(now time.Time) (ids []string) {
	for _, id := range slices.Sorted(maps.Keys(f)) {
		if now.Sub(f[id]) >= failedGrace {
			delete(f, id)
			ids = append(ids, id)
		}
	}
	return ids
}

// logFailures logs the failures that have lasted, and returns after what time to call it again; 0: not before
// the next change.
func (m *Members) logFailures() (again time.Duration) {
	m.viewMu.Lock()
	defer m.viewMu.Unlock()
	for _, id := range m.failures.take(time.Now()) {
		n, ok := m.view.Load().find(id)
		switch {
		case !ok:
		case m.cfg.HasLeft != nil && m.cfg.HasLeft(id):
			m.log.Info("node left", n.attrs()...)
		default:
			m.log.Warn("node seems to have failed", n.attrs()...)
		}
	}
	for _, since := range m.failures {
		left := max(time.Until(since.Add(failedGrace)), time.Millisecond)
		if again == 0 || left < again {
			again = left
		}
	}
	return again
}
