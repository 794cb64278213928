package node

import (
	"context"
	"errors"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/replica/bus"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/resp"
	"github.com/ringside-kv/ringside/resp/node/internal/agreement"
	"github.com/ringside-kv/ringside/resp/node/internal/policies"
	"github.com/ringside-kv/ringside/resp/node/internal/zones"
	"github.com/ringside-kv/ringside/ring"
)

// databases returns how many databases the table has; 0 before the node knows a table.
func (n *Node) databases() int {
	if c := n.part.Load(); c != nil && c.table.State().Founded() {
		return c.table.State().Databases()
	}
	return 0
}

// Databases implements resp.Operator.
func (o operator) Databases(ctx context.Context, n int) error {
	c, err := o.cluster()
	if err != nil {
		return err
	}
	st := c.table.State()
	set := &table.SetDatabases{Databases: n}
	if set.Starts, err = c.switcher.starts(ctx, st, bus.DatabasesVersion, "have databases"); err != nil {
		return err
	}
	return c.propose(ctx, set, func(st *table.State) bool { return st.Databases() == n })
}

// tellsChanges returns why some node cannot tell replicas of Redis what changes there, or nil.
func (n *Node) tellsChanges(ctx context.Context) error {
	c, err := operator{n}.cluster()
	if err == nil {
		_, err = c.switcher.starts(ctx, c.table.State(), bus.ChangesVersion, "tell replicas of Redis what changes")
	}
	return err
}

func (c *cluster) policyChanger(token ring.TokenFunc) *policies.Changer {
	return &policies.Changer{
		Table: c.table, Propose: c.propose, Token: database.TokenFunc(token),
		Agree: func(ctx context.Context, changes []agreed.Change) error {
			_, err := agreementOf(c).Agree(ctx, changes)
			return err
		},
		Logger: c.n.cfg.Logger,
		Drive:  func(ctx context.Context, data int) error { return resp.MoveKeys(ctx, c.n.server, data) },
		Starts: func(ctx context.Context, st *table.State) ([]table.NodeStart, error) {
			return c.switcher.starts(ctx, st, bus.PoliciesVersion, "have policies of databases")
		},
	}
}

func agreementOf(c *cluster) *agreement.Changer {
	return &agreement.Changer{Table: c.table, Propose: c.propose, Starts: c.switcher.starts}
}

// keepZone has the cluster agree on the zone of this node.
func keepZone(c *cluster) {
	k := zones.Keeper{Node: c.n.id, Zone: c.n.cfg.Zone, Table: c.table, Agree: agreementOf(c).Agree, Logger: c.n.cfg.Logger}
	k.Run(c.ctx, c.entry.enteredCh)
}

// useLatestForms has the cluster agree on the latest forms of data if this start has founded it for that. It gives up
// once a node of an earlier build is there: RING FORMAT LATEST is for later.
func useLatestForms(c *cluster) {
	tries := 10
	agreement.Until(c.ctx, c.entry.enteredCh, c.n.cfg.Logger, "the latest forms of data are not agreed on: RING FORMAT LATEST does that, too", func(ctx context.Context) error {
		if tries--; tries < 0 || !c.entry.latestForms.Load() {
			return nil
		}
		_, err := agreementOf(c).Agree(ctx, agreed.LatestForms())
		if errors.Is(err, agreed.ErrChanged) {
			return nil // another node was first
		}
		return err
	})
}

// Agree implements resp.Operator.
func (o operator) Agree(ctx context.Context, changes []agreed.Change) (*agreed.Values, error) {
	c, err := o.cluster()
	if err != nil {
		return nil, err
	}
	return agreementOf(c).Agree(ctx, changes)
}

// Policies implements resp.Operator.
func (o operator) Policies() (resp.PolicyChanger, error) {
	c, err := o.cluster()
	if err != nil {
		return nil, err
	}
	return c.policies, nil
}

// loadUsers has the users of the ACL file agreed on, if there is one and the cluster has no users yet.
func loadUsers(c *cluster) {
	agreement.Until(c.ctx, c.entry.enteredCh, c.n.cfg.Logger, "the users of the ACL file are not agreed on yet",
		func(ctx context.Context) error { return resp.LoadUsers(ctx, c.n.server) })
}
