package feed

import (
	"fmt"
	"slices"

	"github.com/ringside-kv/ringside/replica/internal/frame"
	"github.com/ringside-kv/ringside/replica/internal/rules"
	"github.com/ringside-kv/ringside/ring"
)

// A predecessor is a primary that this node followed until it took its place in some rows.
type predecessor interface {
	// origin says whom, and how far.
	origin() origin
	// tailAfter is [standing.tailAfter].
	tailAfter(upTo uint64, rows []originRow) (ok []bool, tail [][]byte, err error)
}

// An openingPlan says how a member comes to where this node is, in rows that begin a term:
// once it was asked, each is in direct or in reject. It belongs to one goroutine.
type openingPlan struct {
	joinable     []*rowTerm // the member has all that this node has, once it is brought the tails
	rejected     []*rowTerm // that is not known, or it has more
	question     question
	predecessors []predecessor // of the question's origins
	rows         [][]*rowTerm  // of each
}

// planOpening sorts tenures that begin. find looks for who was followed in a range until an
// epoch began.
func (p *primaryState) planOpening(ts []*rowTerm, find func(ring.Range, uint64) (predecessor, bool)) *openingPlan {
	c := new(openingPlan)
	for _, t := range ts {
		from, found := find(t.Range, t.Epoch)
		switch {
		case !p.rules.Enforced(rules.Tail), !found && t.learned:
			// What came by a handoff came when all had everything.
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

// handleReport takes in the member's answer, and returns what it is to be brought.
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
