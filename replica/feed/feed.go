package feed

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/replica/internal/rules"
	"github.com/ringside-kv/ringside/replica/step"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// ErrChanged says that the table no longer wants what it wanted when an operation began.
var ErrChanged = errors.New("the plan has changed")

// A Table is the agreed table of ranges, as a feed needs it.
type Table interface {
	// State returns the newest state that this node has applied.
	State() *table.State
	// Changes returns a channel that receives after each change of the state.
	Changes() (changes <-chan struct{}, cancel func())
	// Apply has a command decided. It returns nil once this node has applied the command.
	Apply(ctx context.Context, c table.Command) error
}

// A Config is what a [Feed] needs of its node.
type Config struct {
	Self        string
	Incarnation uint64
	Table       Table
	Store       Store
	// Dial opens a connection to [Feed.ServeConn] of another node.
	Dial func(ctx context.Context, node string) (net.Conn, error)
	// Patience is how long a backup may leave a frame unacknowledged before it is released.
	Patience time.Duration
	// MinInSync is how many members a set needs to acknowledge writes, the primary included.
	MinInSync func() int
	// MayRelease reports whether this node may release backups: only under a lease.
	MayRelease func() bool
	// Publish brings the routes and the store in line with the state of the feed.
	Publish func()
	Logger  *slog.Logger
	Reached func(step.Step) // of tests; nil otherwise
	Rules   rules.Set
}

// A Feed is this node's part in the replication of writes. As a primary it sends the changes of
// its rows to their backups; as a backup it receives those of other primaries.
type Feed struct {
	cfg     Config
	ctx     context.Context // done once the node closes
	done    sync.WaitGroup  // goroutines of senders and openings
	primary primaryFeed
	backups backupFeeds
}

// New returns a feed. The caller runs [Feed.Tend] and [Feed.ReleaseLagging], cancels ctx
// and then calls [Feed.CloseTaps] and [Feed.Close].
func New(ctx context.Context, cfg Config) *Feed {
	f := &Feed{cfg: cfg, ctx: ctx}
	f.primary.init(f)
	f.backups.hub = f
	return f
}

// CloseTaps fails all writes that wait for backups with an unknown outcome. No write that needs a
// backup succeeds after that.
func (h *Feed) CloseTaps() { h.primary.close() }

// Close waits until all goroutines have ended and the last received changes are durable.
func (h *Feed) Close() {
	h.done.Wait()
	h.backups.close()
}

func (h *Feed) reached(s step.Step) {
	if h.cfg.Reached != nil {
		h.cfg.Reached(s)
	}
}

// Update brings the primary state in line with the newest state of the table.
func (h *Feed) Update() { h.primary.update() }

// EachOwn calls each for the rows of st whose primary is this node, in their order. It says whether
// a row is open to clients, and whether it is also held to be drained. It takes time in proportion to
// all rows, and no memory. each must not use the feed.
func (h *Feed) EachOwn(st *table.State, each func(row *table.Row, open, drained bool)) {
	h.primary.eachOwn(st, each)
}

// IsComplete reports whether this node serves a row and all its members have joined it.
func (h *Feed) IsComplete(row *table.Row) bool {
	p := &h.primary
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.state.termAt(row.Range.Start)
	return p.state.serves(row) && len(t.notJoined) == 0
}

// A drainer is the stream that a learner was copied by.
type drainer interface {
	// Drained waits until the receiver has applied everything that was sent before.
	Drained(ctx context.Context) error
}

// CountLearner makes every write in ranges wait for a learner that has a copy of them. copied is
// the stream of the copy, drained once before; the copies in end stop at the moment from which
// the learner is fed, so that it gets each change exactly once. This node serves the ranges.
//
// After nil the learner has every acknowledged change, so the table may admit it. It counts until
// [Feed.StopCounting] or until the table names it in the set, also while the outcome of an
// admission is unknown. After an error it does not count, and the copy must start again.
func (h *Feed) CountLearner(ctx context.Context, ranges []ring.Range, node string, incarnation uint64, copied drainer, end []Copy) error {
	return h.primary.countLearner(ctx, ranges, learner{node, incarnation}, copied, end)
}

// StopCounting undoes [Feed.CountLearner]. The caller has made sure that no proposal can still
// admit the learner: each row has changed since one was made.
func (h *Feed) StopCounting(ranges []ring.Range, node string) {
	h.primary.stopCounting(ranges, node)
}

// WaitDrained waits until every member of the sets of ranges has joined them and has all their
// changes. The ranges are held and quiescent. Until [Feed.EndDrained] the store removes nothing
// in them by itself.
func (h *Feed) WaitDrained(ctx context.Context, ranges []ring.Range) error {
	return h.primary.waitDrained(ctx, ranges)
}

// EndDrained says that ranges are no longer held.
func (h *Feed) EndDrained(ranges []ring.Range) { h.primary.endDrained(ranges) }

// WaitReceived waits until a backup has acknowledged every frame sent before the call. It returns
// [ErrNotFed] if the node is not fed.
func (h *Feed) WaitReceived(ctx context.Context, node string) error {
	return h.primary.waitReceived(ctx, node)
}

// NewestFrame returns the session and the number of the newest frame that a node has been sent, or
// may yet receive from a session that is ending.
func (h *Feed) NewestFrame(node string) (session, frame uint64) {
	return h.primary.newestFrame(node)
}

// BeginCopy notes that a start of another node begins to copy ranges here. This node leaves what it
// had joined there, and refuses joins of that primary up to a frame of a session: they are older
// than the copy.
func (h *Feed) BeginCopy(from string, incarnation uint64, ranges []ring.Range, session, frame uint64) {
	h.backups.beginCopy(from, incarnation, ranges, session, frame)
	h.primary.addLearned(ranges)
}

// LeaveRanges stops following all primaries in ranges.
func (h *Feed) LeaveRanges(ranges []ring.Range) { h.backups.leave(ranges) }

// Fence ends for good what this node accepts from one start of another node, and returns how far
// it has followed that start; all of that is durable. A later session of the start is accepted
// only for rows of which this node becomes a learner again.
func (h *Feed) Fence(ctx context.Context, node string, incarnation uint64) (Position, error) {
	b := h.backups.get(node, incarnation)
	if b == nil {
		return Position{}, ErrSession
	}
	return b.fence(ctx)
}

// Positions returns how far this node has followed each start of other nodes that it still knows.
func (h *Feed) Positions() (all []Position) {
	for _, b := range h.backups.list() {
		b.mu.Lock()
		all = append(all, b.state.position())
		b.mu.Unlock()
	}
	return all
}

// Followed calls each for every row that this node follows as a backup. learned reports whether
// the row still counts as received by a handoff; it must not.
func (h *Feed) Followed(each func(primary string, r ring.Range, learned bool)) {
	h.primary.mu.Lock()
	defer h.primary.mu.Unlock()
	for _, b := range h.backups.list() {
		b.mu.Lock()
		for _, row := range b.state.rows {
			if !row.ended {
				each(b.state.node, row.Range, h.primary.state.hasLearned(row.Range))
			}
		}
		b.mu.Unlock()
	}
}

// Stats returns figures of each backup that this node feeds.
func (h *Feed) Stats() []Stats { return h.primary.stats() }

// ServeConn receives the changes of a primary until the connection ends.
func (h *Feed) ServeConn(ctx context.Context, from string, conn net.Conn) error {
	return h.serveFeed(ctx, from, conn)
}

// A Position is how far this node follows one start of another node.
type Position struct {
	Node        string
	Incarnation uint64
	// Known reports that this node has followed the start since its own start. Without it nothing
	// can be compared: this node has all that it had acknowledged before, and perhaps more.
	Known bool
	// Last is the number of the newest change received, with all before it that were meant for
	// this node. The other node counts its changes from 1 with each start.
	Last uint64
	// High is the number up to which all members of all sets had everything, as far as is known.
	High uint64
	// Fenced reports that no frame of the session is accepted any more.
	Fenced bool
	// Rows is the number of rows followed there.
	Rows int
}

// Stats are figures of what this node feeds to one other node.
type Stats struct {
	Node    string
	Rows    int   // rows whose writes wait for the node
	Pending int   // changes that it has not acknowledged
	Bytes   int64 // that are under way to it, or queued
	// Waits is how long the oldest pending change has waited; 0 if none is pending.
	Waits time.Duration
	// Broken is why the node is being removed from the in-sync sets; empty if it is not.
	Broken string
}
