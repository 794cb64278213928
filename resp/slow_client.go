package resp

import (
	"time"

	"github.com/ringside-kv/ringside/resp/internal/budget"
)

const (
	// slowConsumer is how long a client may leave a reply unread while others
	// wait for memory,
	slowConsumer = time.Second
	// stalledSender in which time it must send another keepInput bytes of a large
	// request.
	stalledSender = 5 * time.Second
)

// startBudget sets up the memory for requests and replies.
func startBudget(s *Server) {
	s.budget.Limit = &s.settings.ClientMemory
	s.budget.Slow = func(yield func(*budget.Account, func(int64)) bool) { slowClients(s, yield) }
	s.budget.Free, s.budget.Few = keepInput+keepReply, keepInput
	s.budget.Init()
}

// slowClients yields the connections whose clients keep the server waiting, see [budget.Budget].
func slowClients(s *Server, yield func(*budget.Account, func(held int64)) bool) {
	now := s.clock()
	for _, c := range s.snapshot() {
		if !c.slow(now) || c.Closed.Load() || c.session.noEvict.Load() {
			continue
		}
		if !yield(&c.Account, func(held int64) {
			s.log.Warn("closing a slow client: memory for requests and replies is used up",
				"client", c.session.id, "addr", c.net.RemoteAddr(), "bytes", held)
			s.stats.Evict(c.blockedAt.Load() == 0)
			c.close()
		}) {
			return
		}
	}
}

// slow reports whether the client has kept a write, or the rest of a large request or
// transaction, waiting for too long.
func (c *conn) slow(now time.Duration) bool {
	blocked, stalled := time.Duration(c.blockedAt.Load()), time.Duration(c.stalledAt.Load())
	queued := time.Duration(c.multi.since.Load())
	return blocked > 0 && now-blocked >= slowConsumer || stalled > 0 && now-stalled >= stalledSender ||
		queued > 0 && now-queued >= stalledSender
}
