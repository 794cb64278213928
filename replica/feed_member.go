package replica

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// followers are those whom this node follows as a member of their sets.
type followers struct {
	e      *Engine
	mu     sync.Mutex
	all    []*follower
	closed bool
}

// A follower is a standing, with what it is fed through.
type follower struct {
	e *Engine

	// serving is held by the connection that feeds.
	serving turnstile
	closeMu sync.Mutex
	close   func() // ends that connection

	mu     turnstile // guards what follows
	s      *standing
	in     IncomingFeed
	seen   *table.State // the state of the table that the standing was compared with
	torn   bool         // what is here is less than the standing says
	idle   time.Time    // since when nothing is followed
	groups acks
}

// of returns the follower of one start of a node; nil if this node ends.
func (fs *followers) of(node string, incarnation uint64) *follower {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.closed {
		return nil
	}
	for _, fo := range fs.all {
		if fo.s.node == node && fo.s.incarnation == incarnation {
			return fo
		}
	}
	fo := &follower{e: fs.e, serving: newTurnstile(), mu: newTurnstile(), s: &standing{node: node, incarnation: incarnation, out: fs.e.cfg.rules}, in: fs.e.cfg.Store.TakeFeed()}
	// Of its earlier starts some are remembered, since others may still ask about them.
	const starts = 4
	n := 0
	for i := len(fs.all) - 1; i >= 0; i-- {
		if old := fs.all[i]; old.s.node == node && old.s.incarnation < incarnation {
			if n++; n >= starts {
				old.shut()
				fs.all = slices.Delete(fs.all, i, i+1)
			}
		}
	}
	fs.all = append(fs.all, fo)
	return fo
}

func (fs *followers) list() []*follower {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return slices.Clone(fs.all)
}

// origin finds the one who was followed in a range until an epoch began.
func (fs *followers) origin(r ring.Range, epoch uint64) (former, bool) {
	for _, fo := range fs.list() {
		fo.mu.Lock()
		ok := !fo.torn && fo.s.followed(r, epoch)
		fo.mu.Unlock()
		if ok {
			return fo, true
		}
	}
	return nil, false
}

// finish takes in nothing more of the terms before those that begin, whoever sends it.
func (fs *followers) finish(begin []*tenure) {
	for _, fo := range fs.list() {
		fo.mu.Lock()
		changed := false
		for _, t := range begin {
			changed = fo.s.finish(t.Range, t.Epoch) || changed
		}
		if changed {
			fo.bounds()
		}
		fo.mu.Unlock()
	}
}

// forget follows nobody any more in ranges that are about to be copied here anew.
func (fs *followers) forget(ranges []ring.Range) {
	for _, fo := range fs.list() {
		fo.mu.Lock()
		if fo.s.leave(ranges) {
			fo.bounds()
		}
		fo.mu.Unlock()
	}
}

// anew is forget for ranges that a node copies here; its newest frame to this node is k of
// a session.
func (fs *followers) anew(from string, incarnation uint64, b *beginning) {
	if fo := fs.of(from, incarnation); fo != nil {
		fo.mu.Lock()
		if fo.s.copies(b.Ranges, b.Session, b.Frame) {
			fo.bounds()
		}
		fo.mu.Unlock()
	}
	fs.forget(b.Ranges)
}

// rememberFor is how long it is remembered how far a primary was followed whose terms
// are over. Whoever takes its place asks at once, and takes no answer for an answer.
const rememberFor = time.Minute

// tidy forgets what nobody will ask for any more.
func (fs *followers) tidy(now time.Time) {
	for _, fo := range fs.list() {
		fo.mu.Lock()
		switch {
		case fo.s.follows():
			fo.idle = time.Time{}
		case fo.idle.IsZero():
			fo.idle = now
		case now.Sub(fo.idle) > rememberFor:
			fo.s.forget()
		}
		fo.mu.Unlock()
	}
}

// shut ends all of them.
func (fs *followers) shut() {
	fs.mu.Lock()
	fs.closed = true
	fs.mu.Unlock()
	for _, fo := range fs.list() {
		fo.shut()
	}
}

func (fo *follower) shut() {
	fo.take(func() {})
	fo.mu.Lock()
	fo.s.end(ErrSession)
	fo.mu.Unlock()
	fo.groups.still()
	fo.mu.Lock()
	fo.in.Close()
	fo.torn = true
	fo.mu.Unlock()
	fo.serving.Unlock()
}

// take makes a connection the one that feeds, after the one before has ended. The caller
// unlocks serving.
func (fo *follower) take(end func()) {
	fo.closeMu.Lock()
	if fo.close != nil {
		fo.close()
	}
	fo.close = end
	fo.closeMu.Unlock()
	fo.serving.Lock()
}

// bounds tells the store where changes may lie; mu is held.
func (fo *follower) bounds() { fo.in.SetRanges(fo.s.ranges()) }

// known implements former.
func (fo *follower) known() origin {
	fo.mu.Lock()
	defer fo.mu.Unlock()
	return fo.s.known()
}

// brings implements former.
func (fo *follower) brings(upTo uint64, rows []originRow) (ok []bool, tail [][]byte, err error) {
	fo.mu.Lock()
	defer fo.mu.Unlock()
	if fo.torn {
		return make([]bool, len(rows)), nil, nil
	}
	return fo.s.brings(upTo, rows, fo.in.Cut)
}

// fence is [Engine.Fence].
func (fo *follower) fence(ctx context.Context) (Position, error) {
	fo.mu.Lock()
	p := fo.s.fence()
	p.Known = p.Known && !fo.torn
	fo.mu.Unlock()
	if err := fo.groups.wait(ctx); err != nil {
		return Position{}, err
	}
	return p, nil
}

// tells reports how far this node followed, to who is the primary now.
func (fo *follower) tells(ctx context.Context, o *origin) (originReport, error) {
	fo.mu.Lock()
	r, changed := fo.s.tells(o, fo.in.Cut)
	if fo.torn {
		clear(r.Rows)
	}
	if changed {
		fo.bounds()
	}
	fo.mu.Unlock()
	return r, fo.groups.wait(ctx)
}
