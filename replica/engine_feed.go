package replica

import (
	"context"
	"net"
	"time"

	"github.com/ringside-kv/ringside/replica/feed"
	"github.com/ringside-kv/ringside/replica/stream"
	"github.com/ringside-kv/ringside/ring"
)

// newFeed connects the replication of writes with the engine.
func (e *Engine) newFeed() *feed.Feed {
	return feed.New(e.ctx, feed.Config{
		Self: e.cfg.Self, Incarnation: e.cfg.Incarnation, Table: e.cfg.Table, Store: e.cfg.Store,
		Dial: e.cfg.DialFeed, Patience: e.cfg.Patience, MinInSync: e.cfg.MinInSync,
		MayRelease: func() bool { return e.lease.Valid() }, Publish: e.publishRoutes,
		Logger: e.cfg.Logger, Reached: e.cfg.Reached, Rules: e.cfg.rules,
	})
}

// countLearner is [feed.Feed.CountLearner] for the copies of a handoff.
func (e *Engine) countLearner(ctx context.Context, ranges []ring.Range, node string, incarnation uint64, copied *stream.Stream, end []OutgoingCopy) error {
	copies := make([]feed.Copy, len(end))
	for i, out := range end {
		copies[i] = out
	}
	return e.feed.CountLearner(ctx, ranges, node, incarnation, copied, copies)
}

// Fence ends for good what this node accepts from one start of another node, and returns how far
// it has followed that start. See [feed.Feed.Fence].
func (e *Engine) Fence(ctx context.Context, node string, incarnation uint64) (feed.Position, error) {
	return e.feed.Fence(ctx, node, incarnation)
}

// Positions returns how far this node has followed each start of other nodes that it still knows.
func (e *Engine) Positions() []feed.Position { return e.feed.Positions() }

// AckTimes tells when backups have acknowledged a change that a tap was handed. See [feed.Feed.AckTimes].
func (e *Engine) AckTimes(tap feed.Tap, number uint64, visit func(node string, at time.Time)) {
	e.feed.AckTimes(tap, number, visit)
}

// Feeds returns figures of each backup that this node feeds.
func (e *Engine) Feeds() []feed.Stats { return e.feed.Stats() }

// ServeFeed receives the changes of a primary until the connection ends.
func (e *Engine) ServeFeed(ctx context.Context, from string, conn net.Conn) error {
	return e.feed.ServeConn(ctx, from, conn)
}
