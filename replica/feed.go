package replica

import (
	"context"
	"net"
	"time"

	"github.com/ringside-kv/ringside/ring"
)

// A Position is how far this node follows one start of another node.
type Position struct {
	Node        string
	Incarnation uint64
	// Known tells that this node has followed that start since its own. Without it there
	// is nothing to compare: what the node has of the other's ranges is what it had
	// acknowledged before, no less and perhaps no more.
	Known bool
	// Last is the number of the newest change that it has, with all before it that were
	// meant for it. Numbers are the other node's, and count from 1 with each start.
	Last uint64
	// High is up to where all members of all sets had everything, as far as is known here.
	High uint64
	// Fenced tells that nothing of that session is taken in any more.
	Fenced bool
	// Rows is how many rows it follows there.
	Rows int
}

// FeedStats tell of what this node feeds to one other node.
type FeedStats struct {
	Node    string
	Rows    int   // for whose writes the node's word is needed
	Pending int   // changes that it has not acknowledged
	Bytes   int64 // that are under way to it, or wait for that
	// Waits is since when the oldest of what is pending waits; 0 if nothing is.
	Waits time.Duration
	// Broken says why the node is being taken out of the sets; empty if it is not.
	Broken string
}

// countLearner makes a learner that has the copy of ranges one of those whose word every write
// in them needs. h is the stream that it was copied by, drained, and end are
// the copies that gave to it: they end at the moment from which the learner is fed, so
// that no change is sent twice or not at all. The ranges are rows that this node serves.
//
// When it returns nil, the learner has all that was ever acknowledged, and will: then it
// may be admitted. It goes on counting until uncount, or until the table has it in the
// set; also after an admission whose outcome is not known. After an error it does not
// count, and the copy is to be made anew.
func (e *Engine) countLearner(ctx context.Context, ranges []ring.Range, node string, incarnation uint64, h *Stream, end []OutgoingCopy) error {
	return e.primaryFeed.countLearner(ctx, ranges, learner{node, incarnation}, h, end)
}

// stopCounting takes back count, for a learner of which the table's newest state says that it
// is not in the set, and that no proposal under way can admit it: each row has changed
// since one was made.
func (e *Engine) stopCounting(ranges []ring.Range, node string) {
	e.primaryFeed.stopCounting(ranges, node)
}

// waitDrained waits until every member of the sets of ranges has joined them, and has all
// that was written in them. It is called while the ranges are held and the front is still;
// from then on, and until they are held no longer, the store removes nothing in them by
// itself either.
func (e *Engine) waitDrained(ctx context.Context, ranges []ring.Range) error {
	return e.primaryFeed.waitDrained(ctx, ranges)
}

// Fence ends for good what this node takes in from one start of another node, and tells
// how far that came, all of it as durable as what it acknowledges. A later session of
// that start is let in only for what this node learns anew.
func (e *Engine) Fence(ctx context.Context, node string, incarnation uint64) (Position, error) {
	fo := e.backupFeeds.get(node, incarnation)
	if fo == nil {
		return Position{}, ErrSession
	}
	return fo.fence(ctx)
}

// Positions tell of all whom this node follows, or has followed and still has to tell of.
func (e *Engine) Positions() (all []Position) {
	for _, fo := range e.backupFeeds.list() {
		fo.mu.Lock()
		all = append(all, fo.state.position())
		fo.mu.Unlock()
	}
	return all
}

// Feeds tell of all to whom this node feeds what it writes.
func (e *Engine) Feeds() []FeedStats { return e.primaryFeed.stats() }

// ServeFeed takes in what a primary feeds to this node, until the connection ends.
func (e *Engine) ServeFeed(ctx context.Context, from string, conn net.Conn) error {
	return e.serveFeed(ctx, from, conn)
}
