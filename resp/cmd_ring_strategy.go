package resp

import (
	"context"
	"strings"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// A Change is what RING PLAN asks about.
type Change struct {
	Join  []ring.Member
	Leave []string
	// Strategy is a strategy to switch to, with names and values of its settings; empty: the
	// present one stays.
	Strategy string
	Settings []string
}

// strategy returns the name of the strategy in force.
func (s *Server) strategy() string {
	if routes := s.routes.Load(); routes != nil && routes.Strategy != "" {
		return routes.Strategy
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

// cmdRingPlan is RING PLAN [JOIN node[:weight] ...] [LEAVE node ...] [STRATEGY name [setting value ...]].
func cmdRingPlan(x *call) {
	var c Change
	mode := ""
	for _, arg := range x.Args[2:] {
		switch word := string(arg); {
		case wire.EqualFold(arg, "join") || wire.EqualFold(arg, "leave") || wire.EqualFold(arg, "strategy"):
			mode = strings.ToLower(word)
		case mode == "join":
			m, err := ring.ParseMember(word)
			if err != nil {
				x.Error("ERR " + err.Error())
				return
			}
			c.Join = append(c.Join, m)
		case mode == "leave":
			c.Leave = append(c.Leave, word)
		case mode == "strategy" && c.Strategy == "":
			c.Strategy = word
		case mode == "strategy":
			c.Settings = append(c.Settings, word)
		default:
			x.Error(command.MsgSyntax)
			return
		}
	}
	if len(c.Join)+len(c.Leave)+len(c.Strategy) == 0 {
		x.Error(command.MsgSyntax)
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
