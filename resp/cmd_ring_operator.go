package resp

import (
	"context"

	"github.com/ringside-kv/ringside/resp/internal/audit"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/orders"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// What carries out orders; see package orders.
type (
	Operator      = orders.Operator
	PolicyChanger = orders.PolicyChanger
)

// order runs an order, and replies with OK or the error.
func order(x *call, do func(context.Context, Operator) error) {
	if x.WithOperator(true, do) {
		x.OK()
	}
}

// WithOperator implements orders.Host.
func (x *call) WithOperator(isOrder bool, do func(context.Context, Operator) error) bool {
	operator := x.srv.cfg.Operator
	if operator == nil {
		x.Error("ERR this node is not part of a cluster")
		return false
	}
	err := x.within(func(ctx context.Context) error {
		err := do(ctx, operator)
		if isOrder && err == nil {
			operator.Ordered(ctx, x.conn.session.userName(), audit.OrderOf(x.Row, x.Args))
		}
		return err
	})
	if err != nil {
		x.Error(command.ErrorText(err))
		return false
	}
	return true
}

// cmdRingBackup is RING BACKUP START|READ|RENEW|STOP …, which ringside backup sends.
func cmdRingBackup(x *call) {
	var words []string
	for _, word := range x.Args[2:] {
		words = append(words, string(word))
	}
	var reply []byte
	if x.WithOperator(false, func(ctx context.Context, o Operator) (err error) {
		reply, err = o.Backup(ctx, words, x.conn.gone)
		return err
	}) {
		x.Bulk(reply)
	}
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
