package resp

// A localPart is what this node runs of a pipeline while the rest is on its way to other
// nodes: one unit, whose replies are kept apart until all of them are put in order.
//
// Commands on one key keep their order: by one Routes they are all near or all in one
// batch, and each of these runs in the order of the pipeline. What a node sends back,
// or what must wait here, is run when its turn comes, and nothing on the same key has
// gone ahead of it: the unit ends before the first request that it cannot run, and a
// node runs nothing behind a request that it sends back.
type localPart struct {
	batch batch // its replies, once joined
	reqs  []request
	buf   []byte // kept for the next pipeline
	kept  []byte // what the client's reply buffer held before
	// on: the unit has begun, and its replies lie in the client's buffer.
	on bool
}

// runLocalPart begins with those requests that are not sent, as many as one unit can take
// that need not wait. Others are left for later.
func (c *conn) runLocalPart(reqs []request) {
	n := &c.local
	n.reqs = n.reqs[:0]
	for i := range reqs {
		if reqs[i].sent == nil {
			n.reqs = append(n.reqs, reqs[i])
		}
	}
	// Replies that are dropped, or that count for CLIENT REPLY SKIP, keep their turn.
	if len(n.reqs) == 0 || c.session.replies != replyOn || c.srv.pause.Active() || c.srv.quota.WantsRoom() {
		return
	}
	routes := c.enter()
	defer c.leave()
	run := c.gather(n.reqs, routes)
	if run == 0 {
		return
	}
	n.on = true
	n.batch.replies.Ends = n.batch.replies.Ends[:0]
	c.out.Buf, n.kept = n.buf[:0], c.out.Buf
	c.hold = true
	run = c.runUnit(n.reqs[:run])
	for i := 0; run > 0; i++ {
		if reqs[i].sent == nil {
			reqs[i].sent = &n.batch
			run--
		}
	}
}

// joinLocalPart waits for the unit and gives the client's reply buffer back. It returns how
// many bytes of replies there are.
func (c *conn) joinLocalPart() int {
	n := &c.local
	if !n.on {
		return 0
	}
	if c.pending {
		c.await()
	}
	n.on = false
	n.batch.received, n.batch.next, n.batch.err = true, 0, nil
	n.batch.replies.Bytes = c.out.Buf
	n.buf, c.out.Buf, n.kept = c.out.Buf, n.kept, nil
	if cap(n.buf) > keepReply {
		n.buf = nil
	}
	if c.replyBuf.charged > 0 {
		c.replyBuf.charge()
	}
	return len(n.batch.replies.Bytes)
}

// RunsAhead tells that replies must not leave yet: those of other nodes come before
// them, or somebody else could see to other nodes' batches meanwhile.
func (c *conn) runsAhead() bool { return c.local.on || c.from != nil && c.from.group.release != nil }

// dropLocalPart lets go of the replies.
func (c *conn) dropLocalPart() {
	n := &c.local
	n.batch.replies.Bytes = nil
	if cap(n.batch.replies.Ends) > maxPipeline {
		n.batch.replies.Ends = nil
	}
	clear(n.reqs)
}
