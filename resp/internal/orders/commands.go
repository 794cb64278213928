package orders

import (
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/settings"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/vnode"
)

// Commands are the subcommands of RING by which the cluster as a whole is asked and changed.
var Commands = []*command.Row{
	command.RingQuery("decisions", -2, on(cmdDecisions)),
	command.RingOrder("plan", -3, on(cmdPlan)),
	command.RingOrder("balance", -3, on(cmdBalance)),
	command.RingOrder("strategy", -2, on(cmdStrategy)),
	command.RingOrder("leave", 2, on(cmdLeave)),
	command.RingOrder("forget", 3, on(cmdForget)),
	command.RingOrder("pause", 2, on(cmdPause)),
	command.RingOrder("resume", 2, on(cmdResume)),
	command.RingOrder("throttle", 3, on(cmdThrottle)),
	command.RingOrder("backups", 3, on(cmdBackups)),
	command.RingOrder("recreate", -3, on(cmdRecreate)),
	command.RingOrder("pin", 3, on(cmdPin)),
}

// A Host runs the commands of this package: the server's [command.Host] has to be one.
type Host interface {
	// WithOperator runs what asks the cluster, or changes it, and notes who gave the order if it is one. It has replied
	// with the error if it returns false.
	WithOperator(isOrder bool, do func(context.Context, Operator) error) bool
}

// A call is a Call with the server that runs it.
type call struct {
	*command.Call
	Host
}

// order runs an order, and replies with OK or the error.
func (x *call) order(do func(context.Context, Operator) error) {
	if x.WithOperator(true, do) {
		x.OK()
	}
}

// on is the handler of a command.
func on(run func(*call)) func(*command.Call) {
	return func(x *command.Call) { run(&call{x, x.Host.(Host)}) }
}

func cmdLeave(x *call) {
	x.order(func(ctx context.Context, o Operator) error { return o.Leave(ctx) })
}

func cmdForget(x *call) {
	node := string(x.Args[2])
	x.order(func(ctx context.Context, o Operator) error { return o.Forget(ctx, node) })
}

func cmdPause(x *call) {
	x.order(func(ctx context.Context, o Operator) error { return o.Pause(ctx) })
}

func cmdResume(x *call) {
	x.order(func(ctx context.Context, o Operator) error { return o.Resume(ctx) })
}

// cmdThrottle takes bytes a second, with or without a unit.
func cmdThrottle(x *call) {
	n, ok := settings.ParseMemory(string(x.Args[2]))
	if !ok {
		x.Error("ERR " + string(command.Shown(x.Args[2], 40)) + " is not a number of bytes, as in 64mb")
		return
	}
	x.order(func(ctx context.Context, o Operator) error { return o.Throttle(ctx, n) })
}

// cmdBackups takes a number of copies. What the largest is, the cluster says.
func cmdBackups(x *call) {
	n, err := strconv.Atoi(string(x.Args[2]))
	if err != nil || n < 0 {
		x.Error("ERR " + string(command.Shown(x.Args[2], 40)) + " is not a number of backups")
		return
	}
	x.order(func(ctx context.Context, o Operator) error { return o.Backups(ctx, n) })
}

// cmdRecreate is RING RECREATE ALL|range [range ...] [FROM node].
func cmdRecreate(x *call) {
	what, from := x.Args[2:], ""
	if n := len(what); n >= 3 && wire.EqualFold(what[n-2], "from") {
		what, from = what[:n-2], string(what[n-1])
	}
	var ranges []ring.Range
	for _, arg := range what {
		if len(what) == 1 && wire.EqualFold(arg, "all") {
			break
		}
		r, err := ring.ParseRange(string(arg))
		if err != nil {
			x.Error("ERR " + err.Error())
			return
		}
		ranges = append(ranges, r)
	}
	x.order(func(ctx context.Context, o Operator) error { return o.Recreate(ctx, ranges, from) })
}

// cmdPin is RING PIN node=hash,… or node+=hash,….
func cmdPin(x *call) {
	pins, err := vnode.ParsePins(string(x.Args[2]))
	if err != nil {
		x.Error("ERR " + err.Error())
		return
	}
	x.order(func(ctx context.Context, o Operator) error { return o.Pin(ctx, pins) })
}

// cmdPlan is RING PLAN LOAD, or RING PLAN [JOIN node[:weight] [ZONE zone] ...] [LEAVE node ...] [STRATEGY name [setting value ...]].
func cmdPlan(x *call) {
	words := make([]string, len(x.Args)-2)
	for i, arg := range x.Args[2:] {
		words[i] = string(arg)
	}
	c, err := ParseChange(words)
	if err != nil {
		x.Error("ERR " + err.Error())
		return
	}
	var report string
	if x.WithOperator(false, func(ctx context.Context, o Operator) (err error) {
		report, err = o.Plan(ctx, c)
		return err
	}) {
		x.Verbatim(report)
	}
}

// shownDecisions is how many decisions RING DECISIONS shows unless it is told otherwise.
const shownDecisions = 20

// cmdDecisions is RING DECISIONS [count].
func cmdDecisions(x *call) {
	n := int64(shownDecisions)
	if len(x.Args) > 3 {
		x.Error(command.MsgSyntax)
		return
	}
	if len(x.Args) == 3 {
		var ok bool
		if n, ok = wire.ParseInt(x.Args[2]); !ok || n < 0 {
			x.Error(command.MsgNotPositive)
			return
		}
	}
	var text string
	if x.WithOperator(false, func(ctx context.Context, o Operator) (err error) {
		text, err = o.Decisions(ctx, int(min(n, math.MaxInt32)))
		return err
	}) {
		x.Verbatim(text)
	}
}

// cmdBalance is RING BALANCE LOAD [ON|OFF|ONCE].
func cmdBalance(x *call) {
	mode := ""
	if len(x.Args) == 4 {
		mode = strings.ToLower(string(x.Args[3]))
	}
	known := mode == "" || mode == "on" || mode == "off" || mode == "once"
	if len(x.Args) > 4 || !wire.EqualFold(x.Args[2], "load") || !known {
		x.Error(command.MsgSyntax)
		return
	}
	var report string
	switch done := x.WithOperator(mode != "", func(ctx context.Context, o Operator) (err error) {
		report, err = o.BalanceLoad(ctx, mode)
		return err
	}); {
	case done && mode == "":
		x.Verbatim(report)
	case done:
		x.OK()
	}
}

// cmdStrategy is RING STRATEGY [name [setting value ...]].
func cmdStrategy(x *call) {
	if len(x.Args) == 2 {
		var report string
		if x.WithOperator(false, func(ctx context.Context, o Operator) (err error) {
			report, err = o.Strategy(ctx)
			return err
		}) {
			x.Verbatim(report)
		}
		return
	}
	var values []string
	for _, arg := range x.Args[3:] {
		values = append(values, string(arg))
	}
	name := string(x.Args[2])
	x.order(func(ctx context.Context, o Operator) error { return o.Switch(ctx, name, values) })
}
