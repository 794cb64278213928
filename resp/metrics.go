package resp

import (
	"strconv"

	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/stats"
	"github.com/ringside-kv/ringside/resp/status"
	"github.com/ringside-kv/ringside/store"
	"github.com/uber-go/tally/v4"
)

// A reporter passes the server's and the store's figures on, once a second. The hot path
// only ever touches the atomics behind them. Histograms go another way: EachLatency.
type reporter struct {
	scope    tally.Scope
	table    *command.Table
	totals   []sampledTotal
	gauges   []sampledGauge
	commands [][resultCount]*total // by command id; made when there is something to tell
	errors   map[string]*total
	waiting  map[string]tally.Gauge // handoffs, by cause
	// databases are the bytes of each database that has had keys, by number.
	databases map[int]tally.Gauge
}

// What has become of a command.
const (
	resultOK = iota
	resultError
	resultRejected
	resultCount
)

var resultNames = [resultCount]string{"ok", "error", "rejected"}

// A sample is what metrics are taken from.
type sample struct {
	srv    *Server
	store  store.Stats
	moves  Moves
	load   status.Load
	memory int64
}

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

type sampledTotal struct {
	total
	read func(*sample) int64
}

type sampledGauge struct {
	gauge tally.Gauge
	read  func(*sample) float64
}

func newReporter(table *command.Table, scope tally.Scope) *reporter {
	m := &reporter{
		scope:    scope,
		table:    table,
		commands: make([][resultCount]*total, len(table.All)),
		errors:   make(map[string]*total),
		waiting:  make(map[string]tally.Gauge),

		databases: make(map[int]tally.Gauge),
	}
	m.serverMetrics()
	m.moveMetrics()
	m.storeMetrics()
	return m
}

func (m *reporter) count(name string, read func(*sample) int64, tags ...string) {
	m.totals = append(m.totals, sampledTotal{total{counter: m.tagged(tags).Counter(name)}, read})
}

func (m *reporter) gauge(name string, read func(*sample) float64) {
	m.gauges = append(m.gauges, sampledGauge{m.scope.Gauge(name), read})
}

func (m *reporter) tagged(tags []string) tally.Scope {
	if len(tags) == 0 {
		return m.scope
	}
	of := make(map[string]string, len(tags)/2)
	for i := 0; i < len(tags); i += 2 {
		of[tags[i]] = tags[i+1]
	}
	return m.scope.Tagged(of)
}

// sample takes all figures. It is called once a second, by one goroutine.
func (s *Server) sample(m *reporter) {
	s.stats.Rates()
	x := sample{srv: s, store: s.store.Stats(), moves: s.moves(), load: s.Load()}
	x.memory = admin.MemoryInUse(&x.store)
	s.admin.NoteMemory(x.memory)
	for i := range m.totals {
		t := &m.totals[i]
		t.set(t.read(&x))
	}
	for i := range m.gauges {
		g := &m.gauges[i]
		g.gauge.Update(g.read(&x))
	}
	m.reportCommands(s.stats)
	m.reportErrors(s.stats)
	m.reportWaiting(x.moves.Waiting)
	m.reportDatabases(&x)
}

func (m *reporter) reportDatabases(x *sample) {
	for n := range x.srv.cfg.Databases() {
		size := x.srv.store.ActiveBytesOf(n)
		if m.databases[n] == nil && size > 0 {
			m.databases[n] = m.tagged([]string{"database", strconv.Itoa(n)}).Gauge("database_bytes")
		}
		if g := m.databases[n]; g != nil {
			g.Update(float64(size))
		}
	}
}

func (m *reporter) reportCommands(s *stats.Stats) {
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
func (m *reporter) reportResult(id, result int, n int64) {
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

func (m *reporter) reportErrors(s *stats.Stats) {
	for code, n := range s.ErrorCounts() {
		t := m.errors[code]
		if t == nil {
			t = &total{counter: m.tagged([]string{"code", code}).Counter("errors_total")}
			m.errors[code] = t
		}
		t.set(n)
	}
}

func (m *reporter) reportWaiting(waiting map[string]int) {
	for cause, n := range waiting {
		g := m.waiting[cause]
		if g == nil {
			g = m.tagged([]string{"cause", cause}).Gauge("handoffs_waiting")
			m.waiting[cause] = g
		}
		g.Update(float64(n))
	}
}
