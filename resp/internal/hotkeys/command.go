package hotkeys

import (
	"fmt"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
)

// options are those of HOTKEYS START.
type options struct {
	cpu, net bool
	count    int
	duration time.Duration // 0: until it is stopped
	sample   int
	slots    map[uint16]bool // nil: all
}

const (
	defaultCount = 10
	mostCount    = 64
	mostDuration = 1_000_000 // seconds
)

// A Cluster is what HOTKEYS needs to know of the server.
type Cluster struct {
	// Ask has the other nodes run the same command, and returns the replies of those that did, in RESP2. It
	// returns nothing for a command of another node.
	Ask func() [][]byte
	// Slots reports whether the node is one of a Redis Cluster.
	Slots bool
	// CPU returns the processor time of the process.
	CPU func() (system, user time.Duration)
}

// Start is HOTKEYS START METRICS count [CPU] [NET] [COUNT k] [DURATION seconds] [SAMPLE ratio] [SLOTS count slot ...].
func (t *Tracker) Start(x *command.Call, c Cluster) {
	o, msg := parse(x.Args[2:], c.Slots)
	if t.running.Load() != nil || msg == "" && !t.start(o, c.CPU) { // this comes before what is wrong with the options
		msg = "hotkey tracking session already in progress"
	}
	if msg != "" {
		x.Error("ERR " + msg)
		return
	}
	c.Ask()
	x.OK()
}

// Stop is HOTKEYS STOP.
func (t *Tracker) Stop(x *command.Call, c Cluster) {
	found := t.stop()
	for _, reply := range c.Ask() {
		found = found || reply[0] == '+'
	}
	if found {
		x.OK()
	} else {
		x.Null()
	}
}

// Reset is HOTKEYS RESET.
func (t *Tracker) Reset(x *command.Call, c Cluster) {
	if !t.reset() {
		x.Error("ERR hotkey tracking session in progress, stop tracking first")
		return
	}
	c.Ask()
	x.OK()
}

// parse reads the options of START.
func parse(args [][]byte, hasSlots bool) (o options, msg string) {
	o = options{count: defaultCount, sample: 1}
	if len(args) < 2 || !wire.EqualFold(args[0], "metrics") {
		return o, "METRICS parameter is required"
	}
	metrics, ok := wire.ParseInt(args[1])
	if !ok || metrics < 1 || metrics > 2 {
		return o, "METRICS count must be > 0 and <= 2"
	}
	args = args[2:]
	for ; metrics > 0 && len(args) > 0; metrics, args = metrics-1, args[1:] {
		switch {
		case wire.EqualFold(args[0], "cpu") && o.cpu:
			return o, "METRICS CPU defined more than once!"
		case wire.EqualFold(args[0], "net") && o.net:
			return o, "METRICS NET defined more than once!"
		case wire.EqualFold(args[0], "cpu"):
			o.cpu = true
		case wire.EqualFold(args[0], "net"):
			o.net = true
		}
	}
	switch {
	case metrics > 0:
		return o, "METRICS count does not match number of metric types provided"
	case !o.cpu && !o.net: // beside a known one, others are passed over
		return o, "METRICS no valid metrics passed. Supported: CPU|NET"
	}
	for len(args) > 0 {
		if len(args) < 2 {
			return o, "syntax error"
		}
		n, ok := wire.ParseInt(args[1])
		switch {
		case wire.EqualFold(args[0], "count"):
			if !ok || n < 1 || n > mostCount {
				return o, "COUNT must be between 1 and 64"
			}
			o.count = int(n)
		case wire.EqualFold(args[0], "duration"):
			if !ok || n < 1 || n > mostDuration {
				return o, "DURATION must be between 1 and 1000000"
			}
			o.duration = time.Duration(n) * time.Second
		case wire.EqualFold(args[0], "sample"):
			if !ok || n < 1 || n > 1<<31-1 {
				return o, "SAMPLE ratio must be positive"
			}
			o.sample = int(n)
		case wire.EqualFold(args[0], "slots"):
			if !hasSlots {
				return o, "SLOTS parameter cannot be used in non-cluster mode"
			}
			switch {
			case o.slots != nil:
				return o, "SLOTS parameter already specified"
			case !ok || n < 1 || n > ring.Slots:
				return o, fmt.Sprintf("SLOTS count must be between 1 and %d", ring.Slots)
			case n > int64(len(args)-2):
				return o, "not enough slot numbers provided"
			}
			if msg = o.addSlots(args[2 : 2+n]); msg != "" {
				return o, msg
			}
			args = args[n:]
		default:
			return o, "syntax error"
		}
		args = args[2:]
	}
	return o, ""
}

func (o *options) addSlots(args [][]byte) (msg string) {
	o.slots = make(map[uint16]bool, len(args))
	for _, arg := range args {
		slot, ok := wire.ParseInt(arg)
		switch {
		case !ok || slot < 0 || slot >= ring.Slots:
			return "Invalid or out of range slot"
		case o.slots[uint16(slot)]:
			return "duplicate slot number"
		}
		o.slots[uint16(slot)] = true
	}
	return ""
}

// Help is HOTKEYS HELP.
func Help(x *command.Call) {
	command.Help(x, "HOTKEYS",
		"GET",
		"    Return what the running or the last session has found, in the whole cluster.",
		"RESET",
		"    Forget the last session.",
		"START METRICS <count> [CPU] [NET] [COUNT <k>] [DURATION <seconds>]",
		"    [SAMPLE <ratio>] [SLOTS <count> <slot> [<slot> ...]]",
		"    Track the keys that cost the most processor time or network bytes.",
		"STOP",
		"    End the session. GET still returns what it has found.",
	)
}
