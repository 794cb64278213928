package replica

import (
	"fmt"
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

// A former is a primary that this node followed until it took its place in some rows.
type former interface {
	// known says whom, and how far.
	known() origin
	// brings is [standing.brings].
	brings(upTo uint64, rows []originRow) (ok []bool, tail [][]byte, err error)
}

// An opening says how a member comes to where this node is, in rows that begin a term:
// once it was asked, each is in direct or in reject. It belongs to one goroutine.
type opening struct {
	direct   []*tenure // the member has all that this node has, once it is brought the tails
	reject   []*tenure // that is not known, or it has more
	question question
	formers  []former    // of the question's origins
	rows     [][]*tenure // of each
}

// compare sorts tenures that begin. find looks for who was followed in a range until an
// epoch began.
func (o *office) compare(ts []*tenure, find func(ring.Range, uint64) (former, bool)) *opening {
	c := new(opening)
	for _, t := range ts {
		from, found := find(t.Range, t.Epoch)
		switch {
		case !o.out.apply(ruleTail), !found && t.learned:
			// What came by a handoff came when all had everything.
			c.direct = append(c.direct, t)
		case !found:
			c.reject = append(c.reject, t)
		default:
			i := slices.Index(c.formers, from)
			if i < 0 {
				i = len(c.formers)
				c.formers = append(c.formers, from)
				c.question.Origins = append(c.question.Origins, from.known())
				c.rows = append(c.rows, nil)
			}
			c.question.Origins[i].Rows = append(c.question.Origins[i].Rows, originRow{t.Range, t.Epoch})
			c.rows[i] = append(c.rows[i], t)
		}
	}
	return c
}

// answered takes in the member's answer, and returns what it is to be brought.
func (c *opening) answered(r *report) (tails [][]byte, err error) {
	if len(r.Origins) != len(c.formers) {
		return nil, fmt.Errorf("%w: an answer about %d primaries, not %d", ErrFrame, len(r.Origins), len(c.formers))
	}
	for i, from := range c.formers {
		said := &r.Origins[i]
		var ts []*tenure
		var rows []originRow
		for j, t := range c.rows[i] {
			if j < len(said.Rows) && said.Rows[j] {
				ts, rows = append(ts, t), append(rows, c.question.Origins[i].Rows[j])
			} else {
				c.reject = append(c.reject, t)
			}
		}
		ok, tail, err := from.brings(said.Last, rows)
		if err != nil {
			return nil, err
		}
		for j, t := range ts {
			if ok[j] {
				c.direct = append(c.direct, t)
			} else {
				c.reject = append(c.reject, t)
			}
		}
		tails = append(tails, tail...)
	}
	return tails, nil
}
