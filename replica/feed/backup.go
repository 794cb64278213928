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

// backupFeeds are the feeds that this node receives, one for each start of a primary.
type backupFeeds struct {
	hub    *Feed
	mu     sync.Mutex
	all    []*backupFeed
	closed bool
}

// A backupFeed is the backup state for one start of a primary, with its receiver in the store and
// its connection.
type backupFeed struct {
	hub *Feed

	// connMu is held by the goroutine that serves the present connection.
	connMu    locks.ChanMutex
	closeMu   sync.Mutex
	closeConn func() // ends that connection

	mu         locks.ChanMutex // guards the fields below
	state      *backupState
	in         IncomingFeed
	seenState  *table.State // state of the table that was applied last
	incomplete bool         // the store has less than state says
	idleSince  time.Time    // when the last followed row ended
	acks       ackTracker
}

// get returns the feed of one start of a node; nil once this node closes.
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
	// Some earlier starts of the node are kept, since other nodes may still ask about them.
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

// predecessorOf returns the feed of the primary that this node followed in a range until an epoch
// began.
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

// endTerms ends all terms before those that begin, whichever primary they belong to.
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

// leave stops following all primaries in ranges that a copy is about to fill.
func (fs *backupFeeds) leave(ranges []ring.Range) {
	for _, fo := range fs.list() {
		fo.mu.Lock()
		if fo.state.leave(ranges) {
			fo.updateRanges()
		}
		fo.mu.Unlock()
	}
}

// beginCopy is leave for ranges that a node copies here. It also refuses that node's joins up to a
// frame of a session.
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

// positionRetention is how long the position of a primary is kept after its last term has ended. A
// successor asks at once, and treats a missing answer as unknown.
const positionRetention = time.Minute

// dropExpired forgets positions that no node will ask for.
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

// close ends all feeds.
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

// takeConn makes a connection the present one, after the previous one has ended. The caller unlocks
// connMu.
func (f *backupFeed) takeConn(end func()) {
	f.closeMu.Lock()
	if f.closeConn != nil {
		f.closeConn()
	}
	f.closeConn = end
	f.closeMu.Unlock()
	f.connMu.Lock()
}

// updateRanges tells the store where changes may lie. mu is held.
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

// fence is [Feed.Fence].
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

// report tells the present primary how far this node has followed an earlier one.
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
