package feed

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/replica/internal/locks"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// backupFeeds are those whom this node follows as a member of their sets.
type backupFeeds struct {
	hub    *Feed
	mu     sync.Mutex
	all    []*backupFeed
	closed bool
}

// A backupFeed is a standing, with what it is fed through.
type backupFeed struct {
	hub *Feed

	// connMu is held by the connection that feeds.
	connMu    locks.ChanMutex
	closeMu   sync.Mutex
	closeConn func() // ends that connection

	mu         locks.ChanMutex // guards what follows
	state      *backupState
	in         IncomingFeed
	seenState  *table.State // the state of the table that the standing was compared with
	incomplete bool         // what is here is less than the standing says
	idleSince  time.Time    // since when nothing is followed
	acks       ackTracker
}

// get returns the follower of one start of a node; nil if this node ends.
func (fs *backupFeeds) get(node string, incarnation uint64) *backupFeed {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.closed {
		return nil
	}
	for _, fo := range fs.all {
		if fo.state.node == node && fo.state.incarnation == incarnation {
			return fo
		}
	}
	fo := &backupFeed{hub: fs.hub, connMu: locks.NewChanMutex(), mu: locks.NewChanMutex(), state: &backupState{node: node, incarnation: incarnation, rules: fs.hub.cfg.Rules}, in: fs.hub.cfg.Store.ReceiveFeed()}
	// Of its earlier starts some are remembered, since others may still ask about them.
	const starts = 4
	n := 0
	for i := len(fs.all) - 1; i >= 0; i-- {
		if old := fs.all[i]; old.state.node == node && old.state.incarnation < incarnation {
			if n++; n >= starts {
				old.close()
				fs.all = slices.Delete(fs.all, i, i+1)
			}
		}
	}
	fs.all = append(fs.all, fo)
	return fo
}

func (fs *backupFeeds) list() []*backupFeed {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return slices.Clone(fs.all)
}

// predecessorOf finds the one who was followed in a range until an epoch began.
func (fs *backupFeeds) predecessorOf(r ring.Range, epoch uint64) (predecessor, bool) {
	for _, fo := range fs.list() {
		fo.mu.Lock()
		ok := !fo.incomplete && fo.state.hasFollowed(r, epoch)
		fo.mu.Unlock()
		if ok {
			return fo, true
		}
	}
	return nil, false
}

// endTerms takes in nothing more of the terms before those that begin, whoever sends it.
func (fs *backupFeeds) endTerms(begin []*rowTerm) {
	for _, fo := range fs.list() {
		fo.mu.Lock()
		changed := false
		for _, t := range begin {
			changed = fo.state.endTerms(t.Range, t.Epoch) || changed
		}
		if changed {
			fo.updateRanges()
		}
		fo.mu.Unlock()
	}
}

// leave follows nobody any more in ranges that are about to be copied here anew.
func (fs *backupFeeds) leave(ranges []ring.Range) {
	for _, fo := range fs.list() {
		fo.mu.Lock()
		if fo.state.leave(ranges) {
			fo.updateRanges()
		}
		fo.mu.Unlock()
	}
}

// beginCopy is forget for ranges that a node copies here; its newest frame to this node is k of
// a session.
func (fs *backupFeeds) beginCopy(from string, incarnation uint64, ranges []ring.Range, session, frame uint64) {
	if fo := fs.get(from, incarnation); fo != nil {
		fo.mu.Lock()
		if fo.state.markCopied(ranges, session, frame) {
			fo.updateRanges()
		}
		fo.mu.Unlock()
	}
	fs.leave(ranges)
}

// positionRetention is how long it is remembered how far a primary was followed whose terms
// are over. Whoever takes its place asks at once, and takes no answer for an answer.
const positionRetention = time.Minute

// dropExpired forgets what nobody will ask for any more.
func (fs *backupFeeds) dropExpired(now time.Time) {
	for _, fo := range fs.list() {
		fo.mu.Lock()
		switch {
		case fo.state.isFollowing():
			fo.idleSince = time.Time{}
		case fo.idleSince.IsZero():
			fo.idleSince = now
		case now.Sub(fo.idleSince) > positionRetention:
			fo.state.dropEnded()
		}
		fo.mu.Unlock()
	}
}

// close ends all of them.
func (fs *backupFeeds) close() {
	fs.mu.Lock()
	fs.closed = true
	fs.mu.Unlock()
	for _, fo := range fs.list() {
		fo.close()
	}
}

func (f *backupFeed) close() {
	f.takeConn(func() {})
	f.mu.Lock()
	f.state.endSession(ErrSession)
	f.mu.Unlock()
	f.acks.waitIdle()
	f.mu.Lock()
	f.in.Close()
	f.incomplete = true
	f.mu.Unlock()
	f.connMu.Unlock()
}

// takeConn makes a connection the one that feeds, after the one before has ended. The caller
// unlocks serving.
func (f *backupFeed) takeConn(end func()) {
	f.closeMu.Lock()
	if f.closeConn != nil {
		f.closeConn()
	}
	f.closeConn = end
	f.closeMu.Unlock()
	f.connMu.Lock()
}

// updateRanges tells the store where changes may lie; mu is held.
func (f *backupFeed) updateRanges() { f.in.SetRanges(f.state.ranges()) }

// origin implements predecessor.
func (f *backupFeed) origin() origin {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state.origin()
}

// tailAfter implements predecessor.
func (f *backupFeed) tailAfter(upTo uint64, rows []originRow) (ok []bool, tail [][]byte, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.incomplete {
		return make([]bool, len(rows)), nil, nil
	}
	return f.state.tailAfter(upTo, rows, f.in.Cut)
}

// fence is [Engine.Fence].
func (f *backupFeed) fence(ctx context.Context) (Position, error) {
	f.mu.Lock()
	p := f.state.fence()
	p.Known = p.Known && !f.incomplete
	f.mu.Unlock()
	if err := f.acks.waitDurable(ctx); err != nil {
		return Position{}, err
	}
	return p, nil
}

// tells reports how far this node followed, to who is the primary now.
func (f *backupFeed) report(ctx context.Context, o *origin) (originReport, error) {
	f.mu.Lock()
	r, changed := f.state.report(o, f.in.Cut)
	if f.incomplete {
		clear(r.Rows)
	}
	if changed {
		f.updateRanges()
	}
	f.mu.Unlock()
	return r, f.acks.waitDurable(ctx)
}
