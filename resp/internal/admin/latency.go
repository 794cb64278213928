package admin

import (
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
		cmds = x.srv.Table.All
	}
	for _, name := range x.Args[2:] {
		if cmd := x.srv.Table.Named(name); cmd != nil {
			cmds = append(append(cmds, cmd), cmd.Subs...)
		}
	}
	var body wire.Writer
	body.Proto = x.Proto
	n := 0
	for _, cmd := range cmds {
		if x.srv.Stats.Histogram(&body, cmd) {
			n++
		}
	}
	x.Map(n)
	x.Buf = append(x.Buf, body.Buf...)
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
