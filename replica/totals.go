package replica

import (
	"sync/atomic"
	"time"
)

// Totals count what this node has handed over as the source since its start.
type Totals struct {
	// Done are completed handoffs; Failed are failed tries, after which a handoff may be tried
	// again.
	Done, Failed int64
	// Ranges, with their keys and bytes, have changed hands.
	Ranges, Keys, Bytes int64
	// Traffic is the bytes sent and received for that, digests and failed tries included. It is
	// less than Bytes where the receiver had much already.
	Traffic int64
	// Promoted are ranges that got another primary without moving.
	Promoted int64
	// Copying is the time of the copies: Bytes / Copying is the rate to expect. Held is the time
	// for which ranges were held at cutovers, completed or not.
	Copying, Held time.Duration
}

// totals are the counters behind [Totals].
type totals struct {
	done, failed, ranges, keys, bytes, traffic, promoted, copying, held atomic.Int64
}

// Totals returns the counters. It is cheap.
func (e *Engine) Totals() Totals {
	t := &e.totals
	return Totals{
		Done: t.done.Load(), Failed: t.failed.Load(),
		Ranges: t.ranges.Load(), Keys: t.keys.Load(), Bytes: t.bytes.Load(),
		Traffic: t.traffic.Load(), Promoted: t.promoted.Load(),
		Copying: time.Duration(t.copying.Load()), Held: time.Duration(t.held.Load()),
	}
}
