package stats

import (
	"time"

	"github.com/ringside-kv/ringside/internal/durations"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

// EachLatency calls visit for each command that has run, with how long its calls took.
//
// This is how histograms leave the server. The way through its tally.Scope would
// cost a call for every sample, and tally's Prometheus reporter one more for every
// sample in a bucket; here a command costs one atomic addition, and the rest is
// work for whoever asks.
func (s *Stats) EachLatency(visit func(command string, calls durations.Histogram)) {
	for _, cmd := range s.Table.All {
		c := &s.Commands[cmd.ID]
		if h := c.latency.Histogram(time.Duration(c.Nanos.Load())); h.Count > 0 {
			visit(cmd.Full, h)
		}
	}
}

// Percentile returns the duration that p per cent of the calls stayed below: the
// upper end of a bucket, so that it may be up to twice too large.
func (c *Command) Percentile(p float64) time.Duration {
	var counts [durations.Buckets]int64
	var total int64
	for i := range counts {
		counts[i] = c.latency[i].Load()
		total += counts[i]
	}
	want := float64(total) * p / 100
	var below int64
	for i, n := range counts {
		below += n
		if float64(below) >= want {
			return durations.End(i)
		}
	}
	return durations.End(durations.Buckets - 1)
}

// Histogram appends that of one command, unless it has not run.
func (s *Stats) Histogram(r *wire.Writer, cmd *command.Row) bool {
	var bounds, below []int64
	total := int64(0)
	c := &s.Commands[cmd.ID]
	for i := range c.latency {
		n := c.latency[i].Load()
		if total += n; n > 0 {
			bounds = append(bounds, max(int64(durations.End(i)/time.Microsecond), 1))
			below = append(below, total)
		}
	}
	if total == 0 {
		return false
	}
	r.BulkString(cmd.Full)
	r.Map(2)
	r.BulkString("calls")
	r.Int(total)
	r.BulkString("histogram_usec")
	bounds, below = merged(bounds, below)
	r.Map(len(bounds))
	for i, bound := range bounds {
		r.Int(bound)
		r.Int(below[i])
	}
	return true
}

// merged keeps the last of several counts below the same bound: the shortest buckets are
// parts of a microsecond.
func merged(bounds, below []int64) (_, _ []int64) {
	n := 0
	for i := range bounds {
		if n > 0 && bounds[n-1] == bounds[i] {
			n--
		}
		bounds[n], below[n] = bounds[i], below[i]
		n++
	}
	return bounds[:n], below[:n]
}
