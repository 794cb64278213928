package feed

import (
	"fmt"
	"slices"

	"github.com/ringside-kv/ringside/replica/internal/frame"
	"github.com/ringside-kv/ringside/replica/internal/rules"
	"github.com/ringside-kv/ringside/ring"
)

// predecessor is the primary this node replicated from before it was promoted.
type predecessor interface {
	// origin returns the start of the primary and how far this node has followed it.
	origin() origin
	// tailAfter is [backupState.tailAfter].
	tailAfter(upTo uint64, rows []originRow) (ok []bool, tail [][]byte, err error)
}

// An openingPlan sorts the rows of a beginning term by how a member gets up to date with this node.
// After handleReport every row is in joinable or in rejected. It belongs to one goroutine.
type openingPlan struct {
	joinable     []*rowTerm // the member has the same as this node, once it has received the tails
	rejected     []*rowTerm // the member has more, or this is unknown
	question     question
	predecessors []predecessor // by the index of question.Origins
	rows         [][]*rowTerm  // of each predecessor
}

// planOpening sorts rows whose term begins. find returns the predecessor in a range until an epoch
// began.
func (p *primaryState) planOpening(ts []*rowTerm, find func(ring.Range, uint64) (predecessor, bool)) *openingPlan {
	c := new(openingPlan)
	for _, t := range ts {
		from, found := find(t.Range, t.Epoch)
		switch {
		case !p.rules.Enforced(rules.Tail), !found && t.learned:
			// The row came by a handoff, when all members had all changes.
			c.joinable = append(c.joinable, t)
		case !found:
			c.rejected = append(c.rejected, t)
		default:
			i := slices.Index(c.predecessors, from)
			if i < 0 {
				i = len(c.predecessors)
				c.predecessors = append(c.predecessors, from)
				c.question.Origins = append(c.question.Origins, from.origin())
				c.rows = append(c.rows, nil)
			}
			c.question.Origins[i].Rows = append(c.question.Origins[i].Rows, originRow{t.Range, t.Epoch})
			c.rows[i] = append(c.rows[i], t)
		}
	}
	return c
}

// handleReport processes the member's report and returns the batches that it lacks.
func (c *openingPlan) handleReport(r *report) (tails [][]byte, err error) {
	if len(r.Origins) != len(c.predecessors) {
		return nil, fmt.Errorf("%w: an answer about %d primaries, not %d", frame.ErrMalformed, len(r.Origins), len(c.predecessors))
	}
	for i, from := range c.predecessors {
		said := &r.Origins[i]
		var ts []*rowTerm
		var rows []originRow
		for j, t := range c.rows[i] {
			if j < len(said.Rows) && said.Rows[j] {
				ts, rows = append(ts, t), append(rows, c.question.Origins[i].Rows[j])
			} else {
				c.rejected = append(c.rejected, t)
			}
		}
		ok, tail, err := from.tailAfter(said.Last, rows)
		if err != nil {
			return nil, err
		}
		for j, t := range ts {
			if ok[j] {
				c.joinable = append(c.joinable, t)
			} else {
				c.rejected = append(c.rejected, t)
			}
		}
		tails = append(tails, tail...)
	}
	return tails, nil
}
