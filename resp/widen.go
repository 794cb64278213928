package resp

import (
	"time"
)

// A script says which keys it needs, and is given their latches. If it goes on to another
// key, whose latch could close a circle if it were taken now, all that the unit has done is
// dropped, and the requests are run again: the script in a unit of its own, which holds that
// latch as well. A script that needs more and more is given all latches of the store.
//
// Invariant: a unit that is run again has changed nothing that anybody has seen. So who asks
// for more, by call.wants, looks at Unit.Flushed before; and a unit with a script that has
// gone astray once consists of it alone, lest others are run again with it for ever.

// fewWants is how many keys a script may come upon before it is given all latches.
const fewWants = 3

// widen drops the unit, since a request needs more than it had said, for all to be run again.
func (c *conn) widen(r *request) int {
	x := &c.call
	c.unit.Abort()
	c.out.buf = c.out.buf[:c.unitStart]
	if ends, _ := c.ends(); ends != nil {
		*ends = (*ends)[:len(*ends)-c.unitReplies]
	}
	c.unitReplies = 0
	r.extra = append(r.extra, x.wants...)
	x.wants, x.touched, c.outbox = x.wants[:0], nil, nil
	r.solo, r.judged = true, false
	r.every = r.every || len(r.extra) > fewWants
	return 0
}

// beginAll starts a unit that has all latches.
func (c *conn) beginAll() {
	c.unit.Begin(time.Now().UnixMilli(), nil)
	c.unit.HoldAll()
	c.unitStart, c.unitReplies, c.unitFailed = len(c.out.buf), 0, false
	c.leased.begin(nil)
}
