package replica

import (
	"sync/atomic"
	"time"
)

// Totals count what this node has handed over, as the source, since it started.
type Totals struct {
	// Done are handoffs after whose end the receiver had all; Failed are tries that
	// were given up, after which a handoff may well be tried again.
	Done, Failed int64
	// Ranges changed hands, with so many keys and bytes.
	Ranges, Keys, Bytes int64
	// Traffic is how many bytes went over the network for all that, both ways, digests
	// included, and for tries that were given up: less than Bytes where the receiver had
	// much already.
	Traffic int64
	// Promoted are ranges that have got another primary without moving.
	Promoted int64
	// Copying is how long that was copied for: Bytes by Copying is the rate to expect.
	// Held is how long ranges were held at cutovers, whether these came about or not.
	Copying, Held time.Duration
}

// totals are the counters behind [Totals].
type totals struct {
	done, failed, ranges, keys, bytes, traffic, promoted, copying, held atomic.Int64
}

// Totals tells what has been handed over. It takes next to no time.
func (e *Engine) Totals() Totals {
	t := &e.totals
	return Totals{
		Done: t.done.Load(), Failed: t.failed.Load(),
		Ranges: t.ranges.Load(), Keys: t.keys.Load(), Bytes: t.bytes.Load(),
		Traffic: t.traffic.Load(), Promoted: t.promoted.Load(),
		Copying: time.Duration(t.copying.Load()), Held: time.Duration(t.held.Load()),
	}
}
