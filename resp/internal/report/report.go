package report

import (
	"strconv"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/stats"
	"github.com/uber-go/tally/v4"
)

// A Reporter passes on figures that are read from samples of type S. The hot path only ever touches the atomics
// behind them. One goroutine uses it.
type Reporter[S any] struct {
	scope    tally.Scope
	table    *command.Table
	totals   []sampledTotal[S]
	gauges   []sampledGauge[S]
	commands [][resultCount]*total // by command id; made when there is something to tell
	errors   map[string]*total
	named    map[[2]string]tally.Gauge // by name and tag; made when there is something to tell
}

// What has become of a command.
const (
	resultOK = iota
	resultError
	resultRejected
	resultCount
)

var resultNames = [resultCount]string{"ok", "error", "rejected"}

// A total makes a tally counter, which wants differences, follow a figure that
// grows. CONFIG RESETSTAT may have set it back; then it counts from there.
type total struct {
	counter tally.Counter
	last    int64
}

func (t *total) set(n int64) {
	if n < t.last {
		t.last = 0
	}
	t.counter.Inc(n - t.last)
	t.last = n
}

type sampledTotal[S any] struct {
	total
	read func(S) int64
}

type sampledGauge[S any] struct {
	gauge tally.Gauge
	read  func(S) float64
}

// New returns a reporter for the commands of a table.
func New[S any](table *command.Table, scope tally.Scope) *Reporter[S] {
	return &Reporter[S]{
		scope: scope, table: table, commands: make([][resultCount]*total, len(table.All)),
		errors: make(map[string]*total), named: make(map[[2]string]tally.Gauge),
	}
}

// Count adds a counter; tags are names and values.
func (m *Reporter[S]) Count(name string, read func(S) int64, tags ...string) {
	m.totals = append(m.totals, sampledTotal[S]{total{counter: m.tagged(tags).Counter(name)}, read})
}

// Gauge adds a gauge.
func (m *Reporter[S]) Gauge(name string, read func(S) float64) {
	m.gauges = append(m.gauges, sampledGauge[S]{m.scope.Gauge(name), read})
}

func (m *Reporter[S]) tagged(tags []string) tally.Scope {
	if len(tags) == 0 {
		return m.scope
	}
	of := make(map[string]string, len(tags)/2)
	for i := 0; i < len(tags); i += 2 {
		of[tags[i]] = tags[i+1]
	}
	return m.scope.Tagged(of)
}

// Report passes on the figures of a sample.
func (m *Reporter[S]) Report(x S, s *stats.Stats) {
	for i := range m.totals {
		t := &m.totals[i]
		t.set(t.read(x))
	}
	for i := range m.gauges {
		g := &m.gauges[i]
		g.gauge.Update(g.read(x))
	}
	m.reportCommands(s)
	m.reportErrors(s)
}

// Database passes on a figure of a numbered database, once it has not been 0.
func (m *Reporter[S]) Database(name string, number int, value int64) {
	m.Tagged(name, "database", strconv.Itoa(number), value, value > 0)
}

// Tagged passes on a figure with a tag. One that is not there yet is made only if it is wanted.
func (m *Reporter[S]) Tagged(name, tag, of string, value int64, wanted bool) {
	key := [2]string{name, of}
	if m.named[key] == nil && wanted {
		m.named[key] = m.tagged([]string{tag, of}).Gauge(name)
	}
	if g := m.named[key]; g != nil {
		g.Update(float64(value))
	}
}

func (m *Reporter[S]) reportCommands(s *stats.Stats) {
	for id := range s.Commands {
		c := &s.Commands[id]
		failed := c.Failed.Load()
		m.reportResult(id, resultOK, max(c.Calls.Load()-failed, 0))
		m.reportResult(id, resultError, failed)
		m.reportResult(id, resultRejected, c.Rejected.Load())
	}
}

// reportResult makes a counter when it is first needed: few servers see all commands
// fail in all ways.
func (m *Reporter[S]) reportResult(id, result int, n int64) {
	t := &m.commands[id][result]
	if *t == nil {
		if n == 0 {
			return
		}
		*t = &total{counter: m.tagged([]string{
			"command", m.table.All[id].Full, "result", resultNames[result],
		}).Counter("commands_total")}
	}
	(*t).set(n)
}

func (m *Reporter[S]) reportErrors(s *stats.Stats) {
	for code, n := range s.ErrorCounts() {
		t := m.errors[code]
		if t == nil {
			t = &total{counter: m.tagged([]string{"code", code}).Counter("errors_total")}
			m.errors[code] = t
		}
		t.set(n)
	}
}
