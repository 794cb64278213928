package resp

import "time"

// Redis' latency monitor is off here: SLOWLOG, the histograms of commands and the metrics
// tell more. So it has no events.

func cmdLatencyLatest(x *call) { x.array(0) }

func cmdLatencyHistory(x *call) { x.array(0) }

func cmdLatencyReset(x *call) { x.integer(0) }

func cmdLatencyGraph(x *call) {
	x.err("ERR No samples available for event '" + string(shown(x.args[2], 128)) + "'")
}

func cmdLatencyDoctor(x *call) {
	x.verbatim("There is no monitor of latency events. SLOWLOG GET lists slow commands, LATENCY HISTOGRAM tells how long commands took, and the metrics over HTTP what the disk and other nodes did meanwhile.\n")
}

// cmdLatencyHistogram tells, of each command that has run, or of those that are named, how
// many calls took no longer than so many microseconds.
func cmdLatencyHistogram(x *call) {
	var cmds []*command
	if len(x.args) == 2 {
		cmds = x.srv.table.all
	}
	for _, name := range x.args[2:] {
		if cmd := x.srv.table.named(name); cmd != nil {
			cmds = append(append(cmds, cmd), cmd.subs...)
		}
	}
	var body reply
	body.proto = x.proto
	n := 0
	for _, cmd := range cmds {
		if x.srv.stats.histogram(&body, cmd) {
			n++
		}
	}
	x.dict(n)
	x.buf = append(x.buf, body.buf...)
}

// histogram appends that of one command, unless it has not run.
func (s *stats) histogram(r *reply, cmd *command) bool {
	var bounds, below []int64
	total := int64(0)
	c := &s.commands[cmd.id]
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
	r.bulkString(cmd.full)
	r.dict(2)
	r.bulkString("calls")
	r.integer(total)
	r.bulkString("histogram_usec")
	bounds, below = merged(bounds, below)
	r.dict(len(bounds))
	for i, bound := range bounds {
		r.integer(bound)
		r.integer(below[i])
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

func cmdLatencyHelp(x *Call) {
	help(x, "LATENCY",
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
