package resp

import "time"

// watchConnections closes idle connections, and clients that keep others from memory, and
// passes statistics on.
func (s *Server) watchConnections(m *reporter) {
	defer s.done.Done()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
		}
		s.closeIdle()
		s.unauthenticated.expire(s)
		s.budget.relieve()
		s.store.FailUnacked(s.forwardTimeout())
		s.scripts.look(s.clock(), time.Duration(s.settings.busyAfter.Load()))
		s.keyEvents.look()
		s.sample(m)
	}
}

func (s *Server) closeIdle() {
	idle := time.Duration(s.settings.idleTimeout.Load())
	if idle == 0 {
		return
	}
	now := s.clock()
	for _, c := range s.snapshot() {
		if !c.subs.any() && c.session.idle(now) > idle {
			c.close()
		}
	}
}
