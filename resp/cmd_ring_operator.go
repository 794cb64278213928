package resp

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/resp/internal/audit"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/settings"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/strategy"
	"github.com/ringside-kv/ringside/ring/vnode"
)

// An Operator carries out what an operator orders of the cluster. Its methods are
// called by connections' goroutines, several at once, with a context that ends with the
// connection, the server or the time of [operatorTimeout]; they return once the order is
// accepted, not once it is carried out. An error wraps agreed.ErrUnknown if the order may take effect.
type Operator interface {
	// Ordered notes, for RING DECISIONS, which user gave an order that was accepted.
	Ordered(ctx context.Context, user, order string)
	// Plan tells what would move, for people to read.
	Plan(ctx context.Context, c Change) (string, error)
	// Decisions tells the newest decisions of the cluster, up to n, for people to read.
	Decisions(ctx context.Context, n int) (string, error)
	// Strategy tells the strategy, its settings and the progress of a switch, as lines of a name
	// and a value.
	Strategy(ctx context.Context) (string, error)
	// Switch has the cluster placed by another strategy, or with other settings, of which each is
	// a name and a value.
	Switch(ctx context.Context, name string, settings []string) error
	// BalanceLoad sets load balancing to on or off, or evens the load once. Without a mode it describes
	// the setting, as lines of a name and a value.
	BalanceLoad(ctx context.Context, mode string) (string, error)
	// Leave has this node hand over what it has, and then end.
	Leave(ctx context.Context) error
	// Forget takes a node that will not come back out of the cluster.
	Forget(ctx context.Context, node string) error
	// Pause stops the moving of data, Resume lets it go on.
	Pause(ctx context.Context) error
	Resume(ctx context.Context) error
	// Throttle bounds the moving of data to so many bytes a second; 0 is no bound.
	Throttle(ctx context.Context, bytes int64) error
	// Backups keeps so many copies of each range beside the primary.
	Backups(ctx context.Context, n int) error
	// Backup carries out RING BACKUP, and returns its reply.
	Backup(ctx context.Context, words []string, gone <-chan struct{}) ([]byte, error)
	// Databases raises the number of databases.
	Databases(ctx context.Context, n int) error
	// Policies returns what changes the policies of databases.
	Policies() (PolicyChanger, error)
	// Agree changes values that the nodes agree on, all or none, and returns them as this node knows them then.
	// The error wraps agreed.ErrChanged if one is not of the version that the change names.
	Agree(ctx context.Context, changes []agreed.Change) (*agreed.Values, error)
	// Scrub has all nodes compare what they serve with their backups, at once.
	Scrub(ctx context.Context) error
	// Recreate makes ranges anew of which no copy is there, or, without any, all of
	// which there is none: empty, or, with from, from that node's copy that was put out
	// of the set.
	Recreate(ctx context.Context, ranges []ring.Range, from string) error
	// Pin picks a node's points by hand (strategy vnode).
	Pin(ctx context.Context, pins vnode.Pins) error
}

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

// A Change is what RING PLAN asks about.
type Change struct {
	Join  []ring.Member
	Leave []string
	// Strategy is a strategy to switch to, with names and values of its settings; empty: the
	// present one stays.
	Strategy string
	Settings []string
	// Load asks for the moves that even the load, and for nothing else.
	Load bool
}

var errSyntax = errors.New("syntax error")

// ParseChange returns the change that the words after RING PLAN are about.
func ParseChange(words []string) (c Change, err error) {
	if len(words) == 1 {
		if !strings.EqualFold(words[0], "load") {
			return c, errors.New("wrong number of arguments for 'ring|plan' command")
		}
		return Change{Load: true}, nil
	}
	mode := ""
	for _, word := range words {
		switch lower := strings.ToLower(word); {
		case mode == "zone": // whatever its name is
			last := &c.Join[len(c.Join)-1]
			last.Zone, mode = word, "join"
			if err := last.Validate(); err != nil {
				return c, err
			}
		case lower == "join" || lower == "leave" || lower == "strategy":
			mode = lower
		case lower == "zone" && mode == "join" && len(c.Join) > 0:
			mode = lower
		case mode == "join":
			m, err := ring.ParseMember(word)
			if err != nil {
				return c, err
			}
			c.Join = append(c.Join, m)
		case mode == "leave":
			c.Leave = append(c.Leave, word)
		case mode == "strategy" && c.Strategy == "":
			c.Strategy = word
		case mode == "strategy":
			c.Settings = append(c.Settings, word)
		default:
			return c, errSyntax
		}
	}
	if len(c.Join)+len(c.Leave)+len(c.Strategy) == 0 || mode == "zone" {
		return c, errSyntax
	}
	return c, nil
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
	c, err := ParseChange(words)
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
