package resp

import (
	"github.com/ringside-kv/ringside/resp/internal/admin"
	"github.com/ringside-kv/ringside/resp/internal/psync"
	"github.com/ringside-kv/ringside/resp/internal/replicaof"
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

	replicas psync.Overview
	followed replicaof.Status
}

// A reporter passes the server's and the store's figures on. Histograms go another way: EachLatency.
type reporter = report.Reporter[*sample]

// sample takes all figures. It is called once a second, by one goroutine.
func (s *Server) sample(m *reporter) {
	s.stats.Rates()
	x := sample{srv: s, store: s.store.Stats(), moves: s.moves(), load: s.Load(), replicas: s.replicas.Overview(), followed: s.follower.Status()}
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
	m.Gauge("client_memory_bytes", func(x *sample) float64 { return float64(x.srv.budget.InUse()) })
	m.Gauge("memory_used_bytes", func(x *sample) float64 { return float64(x.memory) })
	m.Gauge("writes_refused", func(x *sample) float64 { return float64(admin.Bit(x.srv.store.Writable() != nil)) })
	m.Gauge("replicas", func(x *sample) float64 { return float64(len(x.replicas.Replicas)) })
	m.Gauge("replica_pending_keys", func(x *sample) float64 { return float64(x.replicas.Pending) })
	m.Gauge("replica_behind_bytes", func(x *sample) float64 { return float64(x.replicas.Behind()) })
	m.Gauge("primary_link_down", func(x *sample) float64 { return float64(admin.Bit(x.followed.Here && !x.followed.Following)) })
	m.Gauge("primary_behind_seconds", func(x *sample) float64 { return x.followed.Behind.Seconds() })
	m.Gauge("primary_keys_not_copied", func(x *sample) float64 { return float64(x.followed.Lost) })
	m.Count("evicted_keys_total", func(x *sample) int64 { return x.srv.quota.Evicted() })
}
