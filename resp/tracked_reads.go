package resp

import "slices"

// What a connection that tracks does for each read. The order is: what is pushed is held, the
// key is entered, it is read, the reply leaves, what was held leaves.

// tracks reports whether what a command reads may be kept by clients.
func (c *command) tracks() bool {
	return c.flags&flagReadonly != 0 && c.keyed && (c.parent == nil || c.parent.name != "ring")
}

// expectReads notes the keys that requests read: those that are run elsewhere will be invalid at
// once.
func (c *conn) expectReads(reqs []request) {
	t := c.session.tracking.Load()
	if t == nil || t.conn != c {
		return
	}
	for i := range reqs {
		if r := &reqs[i]; r.msg == "" {
			c.expectRead(t, r.cmd, c.args[r.first:r.last])
		}
	}
}

func (c *conn) expectRead(t *tracker, cmd *command, args [][]byte) {
	if !cmd.tracks() || c.session.redirect {
		return
	}
	for _, key := range c.keysRead(cmd, args) {
		t.reads.expected = append(t.reads.expected, string(key))
	}
}

// keysRead are the keys among a command's arguments.
func (c *conn) keysRead(cmd *command, args [][]byte) (keys [][]byte) {
	refs, err := cmd.keysOf(args, nil)
	if err != nil {
		return nil
	}
	for _, ref := range refs {
		keys = append(keys, args[ref.pos])
	}
	return keys
}

// reads is called before a command is run here.
func (c *conn) reads(cmd *command, args [][]byte) {
	t := c.session.tracking.Load()
	if t == nil || !cmd.tracks() || cmd.flags&flagBlocking != 0 {
		return
	}
	r := &t.reads
	if !r.holding {
		r.holding, r.here = true, make(map[string]struct{})
		r.ownTerm = c.srv.ownTerm()
	}
	c.holdPushes(true)
	for _, key := range c.keysRead(cmd, args) {
		if len(key) > maxTrackedKey {
			r.expected = append(r.expected, string(key))
			continue
		}
		r.here[string(key)] = struct{}{}
		if !t.broadcast && !(t.optIn && !r.caching) && !(t.optOut && r.caching) {
			c.srv.tracking.enter(t, key)
		}
	}
}

// ran is called after it, and after any other command.
func (c *conn) ran(cmd *command) {
	if t := c.session.tracking.Load(); t != nil && !c.call.inside && !c.multi.open && (cmd.parent == nil || cmd.parent.name != "client") {
		t.reads.caching = false
	}
}

// endReads has the replies leave, and then what was held.
func (c *conn) endReads() {
	t := c.session.tracking.Load()
	if t == nil || !t.reads.holding && len(t.reads.expected) == 0 {
		return
	}
	c.join()
	if c.pending {
		c.await()
	}
	if c.flush() != nil {
		c.closing = true
	}
	r := &t.reads
	lost := r.holding && r.ownTerm != c.srv.ownTerm()
	if !c.multi.open || lost {
		var invalid [][]byte
		slices.Sort(r.expected)
		for _, key := range slices.Compact(r.expected) {
			if _, here := r.here[key]; !here || len(key) > maxTrackedKey {
				invalid = append(invalid, []byte(key))
			}
		}
		switch {
		case lost:
			t.tell()
		case len(invalid) > 0 && !t.broadcast:
			t.tell(invalid...)
		}
		r.expected = nil
	}
	r.here, r.holding = nil, false
	c.holdPushes(false)
}

// ownTerm changes whenever other keys are this node's.
func (s *Server) ownTerm() uint64 {
	if routes := s.routes.Load(); routes != nil {
		return routes.ownTerm
	}
	return 0
}
