package resp

import (
	"time"

	"github.com/ringside-kv/ringside/internal/durations"
)

// watchConnections closes idle connections, and clients that keep others from memory, and
// passes statistics on.
func (s *Server) watchConnections(m *reporter) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	measured := s.clock()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
		}
		s.closeIdle()
		s.unauthenticated.expire(s)
		s.budget.Relieve()
		s.store.FailUnacked(s.forwardTimeout())
		s.scripts.Look(s.clock(), time.Duration(s.settings.BusyAfter.Load()))
		s.keyEvents.Look()
		now := s.clock()
		s.meter.Tick((now - measured).Seconds())
		measured = now
		s.sample(m)
	}
}

func (s *Server) closeIdle() {
	idle := time.Duration(s.settings.IdleTimeout.Load())
	if idle == 0 {
		return
	}
	now := s.clock()
	for _, c := range s.snapshot() {
		if !c.subs.Any() && c.session.idle(now) > idle {
			c.close()
		}
	}
}

// Rate is how many commands the server ran in the last second.
func (s *Server) Rate() int64 { return s.stats.PerSecond.Load() }

// EachLatency calls visit for each command that has run, with how long its calls took.
func (s *Server) EachLatency(visit func(command string, calls durations.Histogram)) {
	s.stats.EachLatency(visit)
}

// EachAnswered calls visit for each command of clients, with how long they waited for replies.
func (s *Server) EachAnswered(visit func(command string, calls durations.Histogram)) {
	s.stats.EachAnswered(visit)
}
