package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/resp/status"
	"github.com/ringside-kv/ringside/ring"
)

// Balanced waits, for as long as ctx lasts, until everything is where it belongs, with all
// copies in sync, as all nodes that are up agree, and those that leave have left. Nodes that
// are dead count as gone.
func (f *Cluster) Balanced(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(f.ctx, func() { cancel(ErrClosed) })()
	return until(ctx, lookAll, f.unbalanced)
}

// unbalanced says what is not as it should be; nil if all is. It asks no further than it
// has to, since it is asked often while clients want the processors.
func (f *Cluster) unbalanced(ctx context.Context) error {
	if left := f.those(leaving); len(left) > 0 {
		return fmt.Errorf("%s has not left yet", left[0].id)
	}
	all := f.those(up)
	if len(all) == 0 {
		return errNobody
	}
	in := ring.Input{Members: f.staying(), Backups: f.cfg.Backups}
	placing, err := f.strategy().New()
	if err != nil {
		return err
	}
	for _, m := range all {
		if err := f.unbalancedAt(ctx, m, placing, in); err != nil {
			return fmt.Errorf("%s: %w", m.id, err)
		}
	}
	return nil
}

// unbalancedAt is what one node knows of.
func (f *Cluster) unbalancedAt(ctx context.Context, m *member, placing ring.Strategy, in ring.Input) error {
	c, err := f.access().dial(ctx, m.at.client)
	if err != nil {
		return err
	}
	defer c.Close()
	defer c.bound(ctx, patience)()
	text, err := c.Do("RING", "INFO")
	if err != nil {
		return err
	}
	info := Numbers(text)
	for _, name := range []string{"strategy_switching", "handoffs_running", "pending", "held", "ranges_short_of_backups", "ranges_lost"} {
		if n := info[name]; n != 0 {
			return fmt.Errorf("%s: %d", name, n)
		}
	}
	if f.isEvened() {
		text, err := c.Do("RING", "BALANCE", "LOAD")
		if err != nil {
			return err
		}
		if in.Overrides, err = readOverrides(text); err != nil {
			return err
		}
	}
	if in.Present, err = readPlacement(c.Do("RING", "PLACEMENT")); err != nil {
		return err
	}
	return misplaced(placing, in)
}

func (f *Cluster) isEvened() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.evened
}

// readOverrides reads what RING BALANCE LOAD says of them.
func readOverrides(text string) (all []ring.Override, err error) {
	for line := range strings.Lines(text) {
		of, ok := strings.CutPrefix(strings.TrimSpace(line), "override:")
		if !ok {
			continue
		}
		var o ring.Override
		for part := range strings.SplitSeq(of, ",") {
			switch name, value, _ := strings.Cut(part, "="); name {
			case "range":
				o.Range, err = ring.ParseRange(value)
			case "node":
				o.Node = value
			case "home":
				o.Home = value
			}
		}
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}

// misplaced says where a placement differs from what members should have; nil if nowhere.
func misplaced(placing ring.Strategy, in ring.Input) error {
	for row := range in.Present.Rows() {
		if len(row.Learners) > 0 {
			return fmt.Errorf("%v is being copied", row.Range)
		}
	}
	desired, err := placing.Desired(in)
	if err != nil {
		return err
	}
	plan := ring.NewPlan(in.Present, desired)
	if n := len(plan.Handoffs) + len(plan.Promotions) + len(plan.Drops) + len(plan.Lost); n > 0 {
		return fmt.Errorf("%d changes of the placement are to come", n)
	}
	return nil
}

// readPlacement reads the reply to RING PLACEMENT, or passes its error on.
func readPlacement(reply string, err error) (*ring.Placement, error) {
	if err != nil {
		return nil, err
	}
	p := new(ring.Placement)
	return p, p.UnmarshalBinary([]byte(reply))
}

// placement is that of a node.
func (f *Cluster) placement(ctx context.Context, addr string) (*ring.Placement, error) {
	return readPlacement(f.access().ask(ctx, addr, "RING", "PLACEMENT"))
}

// notIn says which of some nodes is not in the cluster, as any node that is up has it; nil if all are.
func (f *Cluster) notIn(ctx context.Context, ids []string) error {
	for _, m := range f.those(up) {
		report, err := statusAt(ctx, f.access(), m.at.client)
		if err != nil {
			return fmt.Errorf("%s: %w", m.id, err)
		}
		for _, id := range ids {
			in := slices.ContainsFunc(report.Nodes, func(n status.Node) bool {
				return n.ID == id && n.State == status.Member && n.Health == status.Alive
			})
			if !in {
				return fmt.Errorf("%s does not see %s in the cluster", m.id, id)
			}
		}
	}
	return nil
}
