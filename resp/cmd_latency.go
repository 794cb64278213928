package resp

import (
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

// Redis' latency monitor is off here: SLOWLOG, the histograms of commands and the metrics
// tell more. So it has no events.

func cmdLatencyLatest(x *call) { x.Array(0) }

func cmdLatencyHistory(x *call) { x.Array(0) }

func cmdLatencyReset(x *call) { x.Int(0) }

func cmdLatencyGraph(x *call) {
	x.Error("ERR No samples available for event '" + string(command.Shown(x.Args[2], 128)) + "'")
}

func cmdLatencyDoctor(x *call) {
	x.Verbatim("There is no monitor of latency events. SLOWLOG GET lists slow commands, LATENCY HISTOGRAM tells how long commands took, and the metrics over HTTP what the disk and other nodes did meanwhile.\n")
}

// cmdLatencyHistogram tells, of each command that has run, or of those that are named, how
// many calls took no longer than so many microseconds.
func cmdLatencyHistogram(x *call) {
	var cmds []*command.Row
	if len(x.Args) == 2 {
		cmds = x.srv.table.All
	}
	for _, name := range x.Args[2:] {
		if cmd := x.srv.table.Named(name); cmd != nil {
			cmds = append(append(cmds, cmd), cmd.Subs...)
		}
	}
	var body wire.Writer
	body.Proto = x.Proto
	n := 0
	for _, cmd := range cmds {
		if x.srv.stats.histogram(&body, cmd) {
			n++
		}
	}
	x.Map(n)
	x.Buf = append(x.Buf, body.Buf...)
}

// histogram appends that of one command, unless it has not run.
func (s *stats) histogram(r *wire.Writer, cmd *command.Row) bool {
	var bounds, below []int64
	total := int64(0)
	c := &s.commands[cmd.ID]
	for i := range c.latency {
		n := c.latency[i].Load()
		if total += n; n > 0 {
			bounds = append(bounds, max(int64(latencyBound(i)/time.Microsecond), 1))
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

func cmdLatencyHelp(x *command.Call) {
	command.Help(x, "LATENCY",
		"DOCTOR",
		"    Say where latency is to be seen.",
		"GRAPH <event>",
		"    Draw an event of the monitor, which has none.",
		"HISTOGRAM [<command> ...]",
		"    Tell how long commands took.",
		"HISTORY <event>",
		"    List when an event took how long.",
		"LATEST",
		"    List the events.",
		"RESET [<event> ...]",
		"    Forget events.",
	)
}
