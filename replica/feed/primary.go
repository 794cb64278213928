package feed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/replica/internal/locks"
	"github.com/ringside-kv/ringside/replica/internal/spans"
	"github.com/ringside-kv/ringside/replica/step"
	"github.com/ringside-kv/ringside/replica/stream"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// primaryFeed is the primary's side of a feed: the primary state, with taps, connections and
// clocks.
//
// Locks: transitionMu before mu. The store calls its taps with its own locks held, and they take
// mu, so no store method may be called with mu held.
type primaryFeed struct {
	hub         *Feed
	tendSoon    chan struct{} // wakes Tend
	releaseSoon chan struct{} // wakes ReleaseLagging

	transitionMu locks.ChanMutex // serializes transitions
	seenState    *table.State
	closed       bool
	starting     []*sessionSender // senders to start after the transition

	mu            sync.Mutex
	state         *primaryState
	senders       map[*session]*sessionSender
	heldRanges    []ring.Range  // held to be drained
	drainedRanges []ring.Range  // those of them whose changes all members have
	changed       chan struct{} // closed at the next change of mu's fields; nil while no goroutine waits
}

func (f *primaryFeed) init(e *Feed) {
	f.hub, f.transitionMu = e, locks.NewChanMutex()
	f.tendSoon, f.releaseSoon = make(chan struct{}, 1), make(chan struct{}, 1)
	f.senders = make(map[*session]*sessionSender)
	f.state = newPrimaryState(e.cfg.Self, e.cfg.Incarnation, f.enqueue)
	f.state.rules = e.cfg.Rules
}

// close ends the remaining taps and prevents further transitions.
func (f *primaryFeed) close() {
	f.transitionMu.Lock()
	f.closed = true
	f.transitionMu.Unlock()
	f.mu.Lock()
	all := slices.Clone(f.state.retired)
	for _, q := range f.state.quorums {
		all = append(all, q)
	}
	f.mu.Unlock()
	for _, q := range all {
		if q.tap != nil {
			q.tap.Close(ErrClosed)
		}
	}
}

// ErrClosed fails the changes that wait for other nodes when this node stops.
var ErrClosed = errors.New("this node ends")

// eachOwn is [Feed.EachOwn].
func (f *primaryFeed) eachOwn(st *table.State, each func(row *table.Row, open, drained bool)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	terms := f.state.terms
	for row := range st.Rows() {
		if row.Primary != f.hub.cfg.Self {
			continue
		}
		// Both are sorted by their starts.
		for len(terms) > 0 && terms[0].Range.Start < row.Range.Start {
			terms = terms[1:]
		}
		open := len(terms) > 0 && row.Incarnation == f.hub.cfg.Incarnation && terms[0].serves(row)
		each(row, open, open && within(row.Range, f.heldRanges))
	}
}

// enqueue adds a frame to the backlog of its session. mu is held.
func (f *primaryFeed) enqueue(l *session, frame *feedFrame) {
	fl := f.senders[l]
	if fl == nil {
		return
	}
	idle := len(fl.backlog.parts) == 0
	fl.backlog.add(frame)
	if fl.backlog.bytes > stream.Limit {
		f.endSession(fl, stream.ErrBehind.Error())
		return
	}
	if !idle || !fl.writeDirectly() {
		locks.Signal(fl.wake)
	}
}

// endSession ends a session, so that its member is released. mu is held.
func (f *primaryFeed) endSession(fl *sessionSender, why string) {
	if fl.session.endReason == "" {
		f.state.endSession(fl.session, why)
		f.hub.cfg.Logger.Warn("a backup is being removed from the in-sync set", "node", fl.session.node, "err", why)
	}
	f.stopSender(fl)
}

// stopSender ends the goroutines of a sender. mu is held.
func (f *primaryFeed) stopSender(fl *sessionSender) {
	if !fl.stopped {
		fl.stopped = true
		fl.backlog = backlog{}
		fl.cancel()
		locks.Signal(fl.wake)
	}
	locks.Signal(f.releaseSoon)
	f.wakeWaiters()
}

// wakeWaiters wakes all goroutines in waitUntil. mu is held.
func (f *primaryFeed) wakeWaiters() {
	if f.changed != nil {
		close(f.changed)
		f.changed = nil
	}
}

// waitUntil waits until holds returns true or an error. holds runs with mu held.
func (f *primaryFeed) waitUntil(ctx context.Context, holds func() (bool, error)) error {
	for {
		f.mu.Lock()
		ok, err := holds()
		if f.changed == nil {
			f.changed = make(chan struct{})
		}
		change := f.changed
		f.mu.Unlock()
		if ok || err != nil {
			return err
		}
		select {
		case <-change:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// releaseReplies lets the replies of acknowledged changes leave. mu is not held.
func (f *primaryFeed) releaseReplies(all []ackAdvance) {
	for _, a := range all {
		a.tap.Acked(a.number)
	}
}

// openTap subscribes a quorum to the changes of its rows.
func (f *primaryFeed) openTap(q *quorum) {
	q.tap = f.hub.cfg.Store.NewTap(func(n uint64, batch []byte) {
		f.mu.Lock()
		f.state.addChange(q, n, batch, time.Now())
		f.mu.Unlock()
		f.hub.reached(step.WriteGiven)
	}, func() { f.throttleWriters(q) })
}

// throttleWriters delays a writer in the rows of a quorum while a member is behind: for maxThrottle
// at most, or until memory is free again if half of the limit is used.
func (f *primaryFeed) throttleWriters(q *quorum) {
	behind := func() (most int64) {
		for _, m := range q.members {
			if l := f.state.sessions[m]; l != nil && l.endReason == "" {
				if fl := f.senders[l]; fl != nil {
					most = max(most, fl.backlog.bytes)
				}
			}
		}
		return most
	}
	f.mu.Lock()
	under := behind()
	f.mu.Unlock()
	if under < stream.ThrottleAbove {
		return
	}
	late := time.Now().Add(stream.MaxThrottle)
	ctx, cancel := context.WithTimeout(f.hub.ctx, stream.MaxThrottle)
	defer cancel()
	_ = f.waitUntil(ctx, func() (bool, error) { return behind() < stream.ThrottleAbove, nil })
	if time.Now().Before(late) {
		return
	}
	_ = f.waitUntil(f.hub.ctx, func() (bool, error) { return behind() < stream.Limit/2, nil })
}

// errRowLost fails the open changes of rows that the table has given to another primary.
var errRowLost = errors.New("the range has another primary now")

// update brings the primary state in line with the newest state of the table.
func (f *primaryFeed) update() {
	f.transitionMu.Lock()
	defer f.transitionMu.Unlock()
	st := f.hub.cfg.Table.State()
	if n, known := st.Node(f.hub.cfg.Self); f.closed || st == f.seenState || !known || n.Incarnation != f.hub.cfg.Incarnation {
		return
	}
	f.mu.Lock()
	f.state.minInSync = f.hub.cfg.MinInSync()
	u := f.state.planTransition(st, f.isDrained)
	f.mu.Unlock()
	// This node follows no earlier primary where its own term begins. A row without backups opens with the transition,
	// and the store refuses units in what it follows.
	f.hub.backups.endTerms(u.begun)
	if err := f.applyTransition(u, st, nil, nil); err != nil {
		f.hub.cfg.Logger.Error("subscribing to the writes of ranges failed", "err", err)
		return
	}
	f.seenState = st
	f.openTerms(u.begun)
}

// invalidate makes the next update look at the whole table again.
func (f *primaryFeed) invalidate() {
	f.transitionMu.Lock()
	f.seenState = nil
	f.transitionMu.Unlock()
}

// applyTransition makes a transition current. then runs at the same moment. transitionMu is held.
func (f *primaryFeed) applyTransition(u *transition, st *table.State, end []Copy, then func()) error {
	moves := make([]TapMove, 0, len(u.moves))
	for _, m := range u.moves {
		to := TapMove{Range: m.r}
		if m.quorum != nil {
			if m.quorum.tap == nil {
				f.openTap(m.quorum)
			}
			to.To = m.quorum.tap
		}
		moves = append(moves, to)
	}
	var freed []ackAdvance
	var done []*quorum
	at := func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if then != nil {
			then()
		}
		fresh, ended := f.state.applyTransition(u, st)
		for _, l := range fresh {
			f.newSender(l)
		}
		for _, l := range ended {
			if fl := f.senders[l]; fl != nil {
				delete(f.senders, l)
				f.stopSender(fl)
			}
		}
		for l, fl := range f.senders {
			if l.endReason != "" {
				f.stopSender(fl)
			}
		}
		f.announceBounds(u.rebounded)
		freed, done = f.state.collectAcked(), f.state.takeSettled()
		f.wakeWaiters()
		locks.Signal(f.releaseSoon)
	}
	if len(moves) == 0 && len(end) == 0 {
		at()
	} else if err := f.hub.cfg.Store.Retap(moves, end, at); err != nil {
		return err
	}
	for _, q := range u.lost {
		if q.tap != nil {
			q.tap.Close(errRowLost)
		}
	}
	// Other rows of the same quorum may continue. Their replies wait for its changes as before.
	f.mu.Lock()
	f.state.retired = append(f.state.retired, u.lost...)
	f.mu.Unlock()
	f.releaseReplies(freed)
	f.closeQuorums(done)
	f.startSenders()
	return nil
}

// closeQuorums ends the taps of quorums without open changes.
func (f *primaryFeed) closeQuorums(done []*quorum) {
	for _, q := range done {
		if q.tap != nil {
			q.tap.Close(nil)
		}
	}
}

// announceBounds tells all members of rows that these continue under other bounds. mu is held.
func (f *primaryFeed) announceBounds(ts []*rowTerm) {
	for node, l := range f.state.sessions {
		var rows []joinRow
		for _, t := range ts {
			if slices.Contains(t.members, node) {
				rows = append(rows, joinRow{Ref: t.Ref})
			}
		}
		if len(rows) > 0 {
			f.state.send(l, &feedFrame{kind: kindJoin, rows: rows}, time.Now())
		}
	}
}

// isDrained reports whether a range is held and drained. mu is held.
func (f *primaryFeed) isDrained(r ring.Range) bool { return within(r, f.drainedRanges) }

// within reports whether one of some ranges has all of r.
func within(r ring.Range, ranges []ring.Range) bool {
	return slices.ContainsFunc(ranges, func(s ring.Range) bool { return spans.Within(r, s) })
}

// addLearned records ranges that this node receives by a copy.
func (f *primaryFeed) addLearned(rs []ring.Range) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state.addLearned(rs)
}

// dropLearnedRows records that this node is about to follow another primary in rows.
func (f *primaryFeed) dropLearnedRows(rows []joinRow) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state.dropLearnedRows(rows)
}

// heartbeatInterval is the time between two heartbeats to a member.
const heartbeatInterval = 250 * time.Millisecond

// Tend follows the table, sends heartbeats and ends overdue sessions, until ctx ends.
func (h *Feed) Tend(ctx context.Context) {
	f := &h.primary
	changes, cancel := h.cfg.Table.Changes()
	defer cancel()
	tick := time.NewTicker(min(heartbeatInterval, h.cfg.Patience/4))
	defer tick.Stop()
	var beaten, tidied time.Time
	for {
		h.cfg.Publish()
		select {
		case <-changes:
		case <-f.tendSoon:
		case now := <-tick.C:
			f.mu.Lock()
			for _, l := range f.state.overdueSessions(now, h.cfg.Patience) {
				if fl := f.senders[l]; fl != nil {
					f.endSession(fl, fmt.Sprintf("it acknowledged nothing for %v", h.cfg.Patience))
				}
			}
			if now.Sub(beaten) >= heartbeatInterval {
				f.state.sendHeartbeats(now)
				beaten = now
			}
			done := f.state.takeSettled()
			changed := f.state.minInSync != h.cfg.MinInSync()
			f.mu.Unlock()
			f.closeQuorums(done)
			if changed {
				f.invalidate()
			}
			if now.Sub(tidied) > positionRetention/4 {
				h.backups.dropExpired(now)
				tidied = now
			}
		case <-ctx.Done():
			return
		}
	}
}

// releasePause is how long a primary without a lease waits before it looks again.
const releasePause = 50 * time.Millisecond

// ReleaseLagging has the table release members whose session has ended, until ctx ends.
func (h *Feed) ReleaseLagging(ctx context.Context) {
	f := &h.primary
	for ctx.Err() == nil {
		f.mu.Lock()
		all := f.state.pendingReleases(h.cfg.Table.State())
		f.mu.Unlock()
		// Invariant: a primary without a lease releases no backup. It serves no client, and the
		// fence of its own failover has just ended its sessions. If the release came first, it
		// would remain as the only member and could not be replaced.
		if len(all) > 0 && !h.cfg.MayRelease() {
			locks.Pause(ctx, releasePause)
			continue
		}
		for _, d := range all {
			h.reached(step.ShrinkDue)
			err := h.cfg.Table.Apply(ctx, &table.Release{Node: d.node, Rows: d.rows})
			if err == nil {
				h.reached(step.ShrinkDecided)
			}
			if err != nil && ctx.Err() == nil {
				h.cfg.Logger.Info("removing a backup from the in-sync set failed", "node", d.node, "err", err)
			}
		}
		if len(all) > 0 {
			h.cfg.Publish()
			locks.Pause(ctx, 10*time.Millisecond)
			continue
		}
		select {
		case <-f.releaseSoon:
		case <-ctx.Done():
		}
	}
}
