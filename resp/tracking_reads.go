package resp

import (
	"slices"

	"github.com/ringside-kv/ringside/resp/internal/command"
)

// What a connection that tracks does for each read. The order is: what is pushed is held, the
// key is entered, it is read, here or by another node, which enters this one before; the reply
// leaves, what was held leaves.

// trackedReads are a connection's reads since the last replies have left. Its goroutine owns
// them.
type trackedReads struct {
	caching bool     // CLIENT CACHING was said
	holding bool     // what is pushed waits for the replies
	long    []string // keys that are invalid at once
	ownTerm uint64   // of the oldest routes by which they were run
	// far are the keys that other nodes have been asked for, and nodes which ones, and whether
	// these say what changes there.
	far   []string
	nodes map[string]bool
}

// tracks reports whether what a command reads may be kept by clients: not if it may wait, since what is pushed is
// held until its reply. A script by itself reads nothing: its commands do.
func tracks(c *command.Row, args [][]byte) bool {
	return !c.Script && c.Flags&command.FlagReadonly != 0 && c.Keyed && !c.Between && !c.MayWait(args)
}

// tracker is what the client wants to be told, nil if that is nothing.
func (c *conn) tracker() *tracker { return c.session.tracking.Load() }

// keysRead are the keys among a command's arguments.
func (c *conn) keysRead(cmd *command.Row, args [][]byte) (keys [][]byte) {
	refs, err := cmd.KeysOf(args, nil)
	if err != nil {
		return nil
	}
	for _, ref := range refs {
		keys = append(keys, args[ref.Pos])
	}
	return keys
}

// reads is called before a command is run here. What a command changes itself is told after its reply.
func (c *conn) reads(cmd *command.Row, args [][]byte) {
	if t := c.tracker(); t != nil && c.from == nil && cmd.MayWrite && cmd.Flags&command.FlagBlocking == 0 {
		c.holdReads(t)
	}
	if (c.from == nil && c.tracker() != nil || c.from != nil && c.from.keeper != "") && tracks(cmd, args) {
		noteReads(c, c.keysRead(cmd, args))
	}
}

// noteReads is called before keys are read. As in Redis since 7.2, a script reads what its commands read, and not all
// keys that it has declared.
func noteReads(c *conn, keys [][]byte) {
	if c.from != nil {
		for _, key := range keys {
			if node := c.from.keeper; node != "" {
				c.srv.tracking.enterNode(node, key)
			}
		}
		return
	}
	t := c.tracker()
	if t == nil {
		return
	}
	c.holdReads(t)
	if c.routes != nil {
		t.reads.ownTerm = min(t.reads.ownTerm, c.routes.ownTerm)
	}
	for _, key := range keys {
		c.enters(t, key)
	}
}

// holdReads has what is pushed wait for the replies.
func (c *conn) holdReads(t *tracker) {
	r := &t.reads
	if r.holding {
		return
	}
	r.holding, r.ownTerm = true, c.srv.ownTerm()
	c.pushes.hold(true)
}

// enters enters the client for a key, if it wants that. It reports whether it does.
func (c *conn) enters(t *tracker, key []byte) bool {
	r := &t.reads
	switch {
	case t.broadcast || t.optIn && !r.caching || t.optOut && r.caching:
		return false
	case len(key) > maxTrackedKey:
		r.long = append(r.long, string(key))
		return false
	}
	c.srv.tracking.enter(t, key)
	return true
}

// readsFar is called before a request is sent to other nodes, or to nodes of which this is one.
func (c *conn) readsFar(r *request) {
	t := c.tracker()
	if t == nil || r.msg != "" || c.from != nil {
		return
	}
	if r.cmd.MayWrite && r.cmd.Flags&command.FlagBlocking == 0 {
		c.holdReads(t) // what it changes itself is told after its reply
	}
	var keys [][]byte
	note := func(cmd *command.Row, args [][]byte) bool {
		if cmd.Script || tracks(cmd, args) {
			keys = append(keys, c.keysRead(cmd, args)...)
		}
		return false
	}
	if args := c.args[r.first:r.last]; r.cmd.KeysOfExec {
		c.srv.table.FindQueued(args, note)
	} else {
		note(r.cmd, args)
	}
	if len(keys) > 0 {
		c.holdReads(t)
	}
	for _, key := range keys {
		if c.enters(t, key) || t.wants(key) {
			t.reads.far = append(t.reads.far, string(key))
		}
	}
	c.ran(r.cmd)
}

// termsTo are the terms for what is sent to a node now.
func (c *conn) termsTo(link *Route) Terms {
	terms := c.terms()
	t := c.tracker()
	if t == nil || c.from != nil {
		return terms
	}
	heard := c.srv.tracking.hasFeed(link.ID, t)
	if t.reads.holding {
		if t.reads.nodes == nil {
			t.reads.nodes = make(map[string]bool)
		}
		before, asked := t.reads.nodes[link.ID]
		t.reads.nodes[link.ID] = heard && (before || !asked)
	}
	// A node that this one does not hear may not even understand.
	if (t.reads.holding && !t.broadcast || t.noLoop) && heard {
		terms.Keeps = true
		if t.noLoop {
			terms.Author = c.session.id
		}
	}
	return terms
}

// termsHere are those for what this node runs as if another had sent it.
func (c *conn) termsHere() Terms {
	terms := c.terms()
	if t := c.tracker(); t != nil && t.noLoop {
		terms.Author = c.session.id
	}
	return terms
}

// caches tells whether CLIENT CACHING was said of the next command: it is sent alone.
func (c *conn) caches() bool {
	t := c.tracker()
	return t != nil && t.reads.caching
}

// ran is called after a command, whatever it was.
func (c *conn) ran(cmd *command.Row) {
	if t := c.tracker(); t != nil && !c.call.InTransaction && !c.multi.open && !cmd.AboutClients {
		t.reads.caching = false
	}
}

// endReads has the replies leave, and then what was held.
func (c *conn) endReads() {
	t := c.tracker()
	if t == nil {
		return
	}
	if !t.reads.holding {
		return
	}
	c.awaitAsyncForward()
	if c.pending {
		c.await()
	}
	if c.flush() != nil {
		c.closing = true
	}
	r := &t.reads
	invalid := r.long
	for node, heard := range r.nodes {
		if !heard || !c.srv.tracking.hasFeed(node, t) {
			invalid = append(invalid, r.far...)
			break
		}
	}
	switch {
	case r.ownTerm != c.srv.ownTerm():
		t.tell()
	case len(invalid) > 0:
		slices.Sort(invalid)
		var keys [][]byte
		for _, key := range slices.Compact(invalid) {
			keys = append(keys, []byte(key))
		}
		t.tell(keys...)
	}
	r.long, r.far, r.holding = nil, nil, false
	clear(r.nodes)
	c.pushes.hold(false)
}

// ownTerm changes whenever other keys are this node's.
func (s *Server) ownTerm() uint64 {
	if routes := s.routes.Load(); routes != nil {
		return routes.ownTerm
	}
	return 0
}
