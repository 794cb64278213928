package resp

import (
	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/report"
	"github.com/ringside-kv/ringside/resp/status"
	"github.com/ringside-kv/ringside/store"
)

// A sample is what metrics are taken from.
type sample struct {
	srv    *Server
	store  store.Stats
	moves  Moves
	load   status.Load
	memory int64
}

// A reporter passes the server's and the store's figures on. Histograms go another way: EachLatency.
type reporter = report.Reporter[*sample]

// sample takes all figures. It is called once a second, by one goroutine.
func (s *Server) sample(m *reporter) {
	s.stats.Rates()
	x := sample{srv: s, store: s.store.Stats(), moves: s.moves(), load: s.Load()}
	x.memory = admin.MemoryInUse(&x.store)
	s.admin.NoteMemory(x.memory)
	m.Report(&x, s.stats)
	for cause, n := range x.moves.Waiting {
		m.Tagged("handoffs_waiting", "cause", cause, int64(n), true)
	}
	for n := range s.cfg.Databases() {
		m.Database("database_bytes", n, s.store.ActiveBytesOf(s.policies().Data(n)))
	}
}

// serverMetrics are those of connections and commands.
func serverMetrics(m *reporter) {
	m.Gauge("connections", func(x *sample) float64 { return float64(x.srv.count.Load()) })
	m.Gauge("connections_waiting", func(x *sample) float64 { return float64(x.srv.stats.Waiting.Load()) })
	m.Gauge("client_memory_bytes", func(x *sample) float64 { return float64(x.srv.budget.inUse()) })
	m.Gauge("memory_used_bytes", func(x *sample) float64 { return float64(x.memory) })
	m.Count("connections_accepted_total", func(x *sample) int64 { return x.srv.stats.Accepted.Load() })
	m.Count("connections_refused_total", func(x *sample) int64 { return x.srv.stats.Refused.Load() - x.srv.stats.Protected.Load() }, "reason", "max_clients")
	m.Count("connections_refused_total", func(x *sample) int64 { return x.srv.stats.Protected.Load() }, "reason", "protected_mode")
	m.Count("auth_failures_total", func(x *sample) int64 { return x.srv.stats.ErrorCounts()["WRONGPASS"] })
	m.Count("connections_closed_unauthenticated_total", func(x *sample) int64 { return x.srv.stats.Unauthenticated.Load() })
	m.Count("connections_closed_slow_total", func(x *sample) int64 { return x.srv.stats.OutputLimit.Load() })
	m.Count("protocol_errors_total", func(x *sample) int64 { return x.srv.stats.ProtocolErrors.Load() })
	m.Count("network_bytes_total", func(x *sample) int64 { return x.srv.stats.BytesIn.Load() }, "direction", "in")
	m.Count("network_bytes_total", func(x *sample) int64 { return x.srv.stats.BytesOut.Load() }, "direction", "out")
	m.Count("requests_elsewhere_total", func(x *sample) int64 { return x.srv.stats.Forwarded.Load() }, "result", "forwarded")
	m.Count("requests_elsewhere_total", func(x *sample) int64 { return x.srv.stats.Redirected.Load() }, "result", "redirected")
	m.Count("requests_elsewhere_total", func(x *sample) int64 { return x.srv.stats.CrossSlot.Load() }, "result", "cross_slot")
	m.Count("requests_keys_apart_total", func(x *sample) int64 { return x.srv.stats.Apart.Load() })
	m.Count("requests_lease_lost_total", func(x *sample) int64 { return x.srv.stats.LeaseLost.Load() })
	m.Count("requests_not_mine_total", func(x *sample) int64 { return x.srv.stats.NotMine.Load() })
	m.Count("requests_late_total", func(x *sample) int64 { return x.srv.stats.Late.Load() })
	m.Gauge("load_operations_per_second", func(x *sample) float64 { return x.load.Ops })
	m.Gauge("load_bytes_per_second", func(x *sample) float64 { return x.load.Bytes })
	m.Gauge("load_hottest_range_operations_per_second", func(x *sample) float64 { return x.load.HottestRate.Ops })
	m.Gauge("load_hottest_range_bytes_per_second", func(x *sample) float64 { return x.load.HottestRate.Bytes })
	m.Count("key_lookups_total", func(x *sample) int64 { return x.srv.stats.Hits.Load() }, "result", "hit")
	m.Count("key_lookups_total", func(x *sample) int64 { return x.srv.stats.Misses.Load() }, "result", "miss")
	m.Gauge("writes_refused", func(x *sample) float64 { return float64(admin.Bit(x.srv.store.Writable() != nil)) })
	m.Count("evicted_keys_total", func(x *sample) int64 { return x.srv.quota.Evicted() })
	m.Count("backups_changed_total", func(x *sample) int64 { return x.srv.stats.Shrinks.Load() }, "result", "released")
	m.Count("backups_changed_total", func(x *sample) int64 { return x.srv.stats.Growths.Load() }, "result", "admitted")
}
