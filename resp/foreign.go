package resp

import (
	"net"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/resp/wire"
)

// foreignEvery is how often connections of other protocols are logged.
const foreignEvery = time.Minute

// foreignLog limits what is logged of other protocols: clients choose how often they
// connect.
type foreignLog struct {
	last  atomic.Int64 // on the server's clock; 0: none yet
	since atomic.Int64 // connections that were not logged
}

func (s *Server) reportForeign(from net.Addr, err wire.ForeignError) {
	now := int64(s.clock()) + 1
	last := s.foreign.last.Load()
	if last != 0 && now-last < int64(foreignEvery) || !s.foreign.last.CompareAndSwap(last, now) {
		s.foreign.since.Add(1)
		return
	}
	s.log.Warn("connection ended: the client speaks another protocol at the port for Redis clients, perhaps because a web page or another server was made to send it commands",
		"protocol", string(err), "client", from.String(), "unlogged_before", s.foreign.since.Swap(0))
}
