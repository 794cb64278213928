package foreign

import (
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/resp/wire"
)

// every is how often connections of other protocols are logged.
const every = time.Minute

// A Log limits what is logged of other protocols: clients choose how often they connect. Any goroutine may use
// it.
type Log struct {
	last  atomic.Int64 // on the server's clock; 0: none yet
	since atomic.Int64 // connections that were not logged
}

// Report logs a connection that was ended at a time on the server's clock.
func (l *Log) Report(at time.Duration, to *slog.Logger, from net.Addr, err wire.ForeignError) {
	now, last := int64(at)+1, l.last.Load()
	if last != 0 && now-last < int64(every) || !l.last.CompareAndSwap(last, now) {
		l.since.Add(1)
		return
	}
	to.Warn("connection ended: the client speaks another protocol at the port for Redis clients, perhaps because a web page or another server was made to send it commands",
		"protocol", string(err), "client", from.String(), "unlogged_before", l.since.Swap(0))
}
