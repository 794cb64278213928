package result

import "time"

// counts are what is counted of operations, whatever the piece of time.
type counts struct {
	operations, failed, unknown, redirected, read, written int64
	pause                                                  pause // the longest that ended, or went on
}

func (c *counts) add(op *Op) {
	c.operations++
	c.redirected += op.Redirected
	c.read += op.Read
	c.written += op.Written
	if op.Outcome.Failed() {
		c.failed++
		if op.Outcome == Unknown {
			c.unknown++
		}
	}
}

func (c *counts) merge(o *counts) {
	c.operations += o.operations
	c.failed += o.failed
	c.unknown += o.unknown
	c.redirected += o.redirected
	c.read += o.read
	c.written += o.written
	c.pause.widen(o.pause)
}

func (s *Series) clients(c *counts, latency *hist) Clients {
	r := Clients{
		Operations: c.operations, Failed: c.failed, Unknown: c.unknown, Redirected: c.redirected,
		Read: c.read, Written: c.written, Latency: latency.latency(),
	}
	if c.pause.length() > 0 {
		r.LongestPauseMS = milliseconds(c.pause.length())
		r.LongestPauseOf = s.cfg.Name(c.pause.key)
	}
	return r
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// micros rounds to microseconds.
func micros(d time.Duration) int64 { return int64((d + time.Microsecond/2) / time.Microsecond) }
