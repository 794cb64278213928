package resp

import (
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/resp/internal/audit"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/orders"
	"github.com/ringside-kv/ringside/resp/internal/settings"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/strategy"
	"github.com/ringside-kv/ringside/ring/vnode"
)

// What carries out orders; see package orders.
type (
	Operator      = orders.Operator
	PolicyChanger = orders.PolicyChanger
)

// order runs an order, if there is somebody to carry it out, and replies with OK or the
// error.
func (x *call) order(do func(context.Context, Operator) error) {
	if x.withOperator(func(ctx context.Context, o Operator) error {
		err := do(ctx, o)
		noteOrder(ctx, x, o, err)
		return err
	}) {
		x.OK()
	}
}

// noteOrder notes who gave an order that was accepted, as RING DECISIONS shows it.
func noteOrder(ctx context.Context, x *call, o Operator, err error) {
	if err == nil {
		o.Ordered(ctx, x.conn.session.userName(), audit.OrderOf(x.Row, x.Args))
	}
}

// withOperator has replied if it returns false.
func (x *call) withOperator(do func(context.Context, Operator) error) bool {
	operator := x.srv.cfg.Operator
	if operator == nil {
		x.Error("ERR this node is not part of a cluster")
		return false
	}
	err := x.within(func(ctx context.Context) error { return do(ctx, operator) })
	if err != nil {
		x.Error(command.ErrorText(err))
		return false
	}
	return true
}

func cmdRingLeave(x *call) {
	x.order(func(ctx context.Context, o Operator) error { return o.Leave(ctx) })
}

func cmdRingForget(x *call) {
	node := string(x.Args[2])
	x.order(func(ctx context.Context, o Operator) error { return o.Forget(ctx, node) })
}

func cmdRingPause(x *call) {
	x.order(func(ctx context.Context, o Operator) error { return o.Pause(ctx) })
}

func cmdRingResume(x *call) {
	x.order(func(ctx context.Context, o Operator) error { return o.Resume(ctx) })
}

// cmdRingThrottle takes bytes a second, with or without a unit.
func cmdRingThrottle(x *call) {
	n, ok := settings.ParseMemory(string(x.Args[2]))
	if !ok {
		x.Error("ERR " + string(command.Shown(x.Args[2], 40)) + " is not a number of bytes, as in 64mb")
		return
	}
	x.order(func(ctx context.Context, o Operator) error { return o.Throttle(ctx, n) })
}

// cmdRingBackups takes a number of copies. What the largest is, the cluster says.
func cmdRingBackups(x *call) {
	n, err := strconv.Atoi(string(x.Args[2]))
	if err != nil || n < 0 {
		x.Error("ERR " + string(command.Shown(x.Args[2], 40)) + " is not a number of backups")
		return
	}
	x.order(func(ctx context.Context, o Operator) error { return o.Backups(ctx, n) })
}

// cmdRingBackup is RING BACKUP START|READ|RENEW|STOP …, which ringside backup sends.
func cmdRingBackup(x *call) {
	var words []string
	for _, word := range x.Args[2:] {
		words = append(words, string(word))
	}
	var reply []byte
	if x.withOperator(func(ctx context.Context, o Operator) (err error) {
		reply, err = o.Backup(ctx, words, x.conn.gone)
		return err
	}) {
		x.Bulk(reply)
	}
}

// cmdRingRecreate is RING RECREATE ALL|range [range ...] [FROM node].
func cmdRingRecreate(x *call) {
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

// cmdRingPin is RING PIN node=hash,… or node+=hash,….
func cmdRingPin(x *call) {
	pins, err := vnode.ParsePins(string(x.Args[2]))
	if err != nil {
		x.Error("ERR " + err.Error())
		return
	}
	x.order(func(ctx context.Context, o Operator) error { return o.Pin(ctx, pins) })
}

// strategy returns the name of the strategy in force, "unknown" before this node knows what its cluster has agreed on.
func (s *Server) strategy() string {
	if routes := s.routes.Load(); routes != nil && routes.Strategy != "" {
		return routes.Strategy
	}
	if s.cfg.Operator != nil {
		return "unknown"
	}
	return s.store.Identity().Strategy
}

// hashmaskError says why the placement does not consist of buckets.
func (s *Server) hashmaskError() string {
	if now := s.strategy(); now != strategy.Buckets {
		return "ERR HASHMASK is of the strategy buckets, this cluster has " + now + ": see RING PLACEMENT"
	}
	return "ERR HASHMASK: this cluster does not consist of buckets yet: see RING STRATEGY for the switch and RING PLACEMENT for the ranges"
}

// cmdRingPlan is RING PLAN LOAD, or RING PLAN [JOIN node[:weight] [ZONE zone] ...] [LEAVE node ...] [STRATEGY name [setting value ...]].
func cmdRingPlan(x *call) {
	words := make([]string, len(x.Args)-2)
	for i, arg := range x.Args[2:] {
		words[i] = string(arg)
	}
	c, err := orders.ParseChange(words)
	if err != nil {
		x.Error("ERR " + err.Error())
		return
	}
	var report string
	if x.withOperator(func(ctx context.Context, o Operator) (err error) {
		report, err = o.Plan(ctx, c)
		return err
	}) {
		x.Verbatim(report)
	}
}

// shownDecisions is how many decisions RING DECISIONS shows unless it is told otherwise.
const shownDecisions = 20

// cmdRingDecisions is RING DECISIONS [count].
func cmdRingDecisions(x *call) {
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
	if x.withOperator(func(ctx context.Context, o Operator) (err error) {
		text, err = o.Decisions(ctx, int(min(n, math.MaxInt32)))
		return err
	}) {
		x.Verbatim(text)
	}
}

// cmdRingBalance is RING BALANCE LOAD [ON|OFF|ONCE].
func cmdRingBalance(x *call) {
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
	switch done := x.withOperator(func(ctx context.Context, o Operator) (err error) {
		if report, err = o.BalanceLoad(ctx, mode); mode != "" {
			noteOrder(ctx, x, o, err)
		}
		return err
	}); {
	case done && mode == "":
		x.Verbatim(report)
	case done:
		x.OK()
	}
}

// cmdRingStrategy is RING STRATEGY [name [setting value ...]].
func cmdRingStrategy(x *call) {
	if len(x.Args) == 2 {
		var report string
		if x.withOperator(func(ctx context.Context, o Operator) (err error) {
			report, err = o.Strategy(ctx)
			return err
		}) {
			x.Verbatim(report)
		}
		return
	}
	var settings []string
	for _, arg := range x.Args[3:] {
		settings = append(settings, string(arg))
	}
	name := string(x.Args[2])
	x.order(func(ctx context.Context, o Operator) error { return o.Switch(ctx, name, settings) })
}
