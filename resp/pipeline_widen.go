package resp

// A script says which keys it needs, and is given their latches. If it goes on to another
// key, whose latch could close a circle if it were taken now, all that the unit has done is
// dropped, and the requests are run again: the script in a unit of its own, which holds that
// latch as well. A script that needs more and more is given all latches of the store.
//
// Invariant: a unit that is run again has changed nothing that anybody has seen. Scripts and
// transactions run under Unit.KeepAbortable, and a unit ends behind any other request that has applied
// changes early. A unit with a script that has gone astray once
// consists of it alone; otherwise the other requests would be run again with it each time.
//
// A script or transaction that must be refused after it has written is dropped in the same
// way, by call.refused: its request is then answered with the error, and nothing of it is done.

// fewWants is how many keys a script may come upon before it is given all latches.
const fewWants = 3

// widen drops the unit, since a request needs more than it had said, for all to be run again.
func (c *conn) widen(r *request) int {
	x := &c.call
	c.unit.Abort()
	c.unitEnded()
	c.forgetReplies()
	c.unitReplies = 0
	r.extra = append(r.extra, x.MorePlaces...)
	r.solo, r.judged = true, false
	r.every = r.every || len(r.extra) > fewWants
	if x.RefuseRequest != "" {
		r.msg = x.RefuseRequest
	}
	x.MorePlaces, x.RefuseRequest, x.touched, c.outbox = x.MorePlaces[:0], "", nil, nil
	return 0
}
