package feed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/replica/internal/locks"
	"github.com/ringside-kv/ringside/replica/step"
	"github.com/ringside-kv/ringside/ring"
)

// openTerms brings the members of rows whose term begins up to date and has them join. Rows with members
// stay closed to clients until all have joined or were released. transitionMu is held.
func (f *primaryFeed) openTerms(ts []*rowTerm) {
	by := make(map[string][]*rowTerm)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range ts {
		for _, m := range t.members {
			by[m] = append(by[m], t)
		}
	}
	for m, rows := range by {
		if fl := f.senders[f.state.sessions[m]]; fl != nil && !fl.stopped {
			f.hub.done.Go(func() {
				if err := f.bringUpToDate(fl, rows); err != nil && fl.ctx.Err() == nil {
					f.hub.cfg.Logger.Warn("bringing a backup up to date failed", "node", m, "err", err)
					f.mu.Lock()
					f.endSession(fl, err.Error())
					f.mu.Unlock()
				}
			})
		}
	}
}

// bringUpToDate sends a member what it lacks in rows whose term begins, and has it join them.
func (f *primaryFeed) bringUpToDate(fl *sessionSender, ts []*rowTerm) error {
	ctx := fl.ctx
	if err := f.waitUntil(ctx, func() (bool, error) { return fl.ready, nil }); err != nil {
		return err
	}
	c := f.state.planOpening(ts, f.hub.backups.predecessorOf)
	var tails [][]byte
	if len(c.predecessors) > 0 {
		r, err := fl.askBackup(ctx, &c.question)
		if err == nil {
			tails, err = c.handleReport(r)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", fl.session.node, err)
		}
		f.hub.reached(step.FailoverCompared)
	}
	k, joined := f.sendJoin(fl, c.joinable, c.rejected, tails)
	if k == 0 {
		return nil
	}
	if err := fl.waitAcked(ctx, k); err != nil {
		return err
	}
	f.hub.reached(step.FailoverJoined)
	f.mu.Lock()
	f.state.markJoined(fl.session.node, joined)
	f.mu.Unlock()
	locks.Signal(f.tendSoon)
	return nil
}

// sendJoin sends a member its tails and then the join of the rows. It returns the number of the
// last frame; 0 if there is none.
func (f *primaryFeed) sendJoin(fl *sessionSender, direct, reject []*rowTerm, tails [][]byte) (k uint64, joined []*rowTerm) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range reject {
		if f.state.currentTerm(t) != nil {
			f.hub.cfg.Logger.Info("a backup needs a new copy", "node", fl.session.node, "range", t.Range, "epoch", t.Epoch)
			f.state.reject(fl.session.node, t)
		}
	}
	locks.Signal(f.releaseSoon)
	var rows []joinRow
	for _, t := range direct {
		if now := f.state.currentTerm(t); now != nil && slices.Contains(now.notJoined, fl.session.node) {
			rows = append(rows, joinRow{Ref: now.Ref})
			joined = append(joined, now)
		}
	}
	if len(rows) == 0 {
		return 0, nil
	}
	if len(tails) > 0 {
		fl.send(&feedFrame{kind: kindCatchUp, rows: rows})
		for _, batch := range tails {
			fl.send(&feedFrame{kind: kindBatch, body: batch})
		}
	}
	return fl.send(&feedFrame{kind: kindJoin, rows: rows}), joined
}

// pinSession returns the sender of a node's session, which it starts if there is none. The session
// stays until the returned function is called.
func (f *primaryFeed) pinSession(node string, incarnation uint64) (*sessionSender, func()) {
	f.transitionMu.Lock()
	defer f.transitionMu.Unlock()
	f.mu.Lock()
	l := f.state.sessions[node]
	var fl *sessionSender
	if l == nil {
		l = f.state.beginSession(node, incarnation)
		fl = f.newSender(l)
	} else {
		fl = f.senders[l]
	}
	l.pins++
	f.mu.Unlock()
	f.startSenders()
	return fl, func() {
		f.mu.Lock()
		l.pins--
		f.mu.Unlock()
		f.invalidate() // removes a session that no row needs
		locks.Signal(f.tendSoon)
	}
}

// newestFrame is [Feed.NewestFrame].
func (f *primaryFeed) newestFrame(node string) (session, k uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state.newestFrame(node)
}

// countLearner is [Feed.CountLearner].
func (f *primaryFeed) countLearner(ctx context.Context, ranges []ring.Range, l learner, copied drainer, end []Copy) (err error) {
	fl, unpin := f.pinSession(l.node, l.incarnation)
	defer unpin()
	if err := f.waitUntil(ctx, func() (bool, error) {
		if fl.session.endReason != "" || fl.session.incarnation != l.incarnation {
			return false, ErrChanged
		}
		return fl.ready, nil
	}); err != nil {
		return err
	}
	if err := copied.Drained(ctx); err != nil {
		return err
	}
	f.update()
	k, err := f.beginCounting(fl, ranges, l, end)
	if err != nil {
		return err
	}
	// Earlier changes come by the stream of the copy, and before the frames of the session.
	err = copied.Drained(ctx)
	f.mu.Lock()
	fl.holdAfter = 0
	locks.Signal(fl.wake)
	f.mu.Unlock()
	if err == nil {
		err = fl.waitAcked(ctx, k)
	}
	if err != nil {
		f.stopCounting(ranges, l.node)
	}
	return err
}

// beginCounting makes a learner count from one moment on, at which its copies end. It returns the
// number of the frame that announces it. The sender writes no later frame until holdAfter is reset.
func (f *primaryFeed) beginCounting(fl *sessionSender, ranges []ring.Range, l learner, end []Copy) (k uint64, err error) {
	f.transitionMu.Lock()
	defer f.transitionMu.Unlock()
	st := f.hub.cfg.Table.State()
	f.mu.Lock()
	var rows []*rowTerm
	var joins []joinRow
	for _, r := range ranges {
		t := f.state.termAt(r.Start)
		row, ok := st.Row(r.Start)
		if t == nil || t.Range != r || !t.open || !ok || row.Ref() != t.Ref {
			err = ErrChanged
			break
		}
		i := slices.Index(row.Learners, l.node)
		if i < 0 || row.Starts[i] != l.incarnation {
			err = ErrChanged
			break
		}
		rows = append(rows, t)
		joins = append(joins, joinRow{t.Ref, true})
	}
	if fl.session.endReason != "" || fl.holdAfter > 0 {
		err = ErrChanged
	}
	var u *transition
	if err == nil {
		u = f.state.planCounting(rows, l, true)
	}
	f.mu.Unlock()
	if err != nil {
		return 0, err
	}
	err = f.applyTransition(u, st, end, func() {
		for _, t := range rows {
			t.counted = append(slices.Clip(t.counted), l)
		}
		fl.holdAfter = max(fl.session.sent, 1)
		k = fl.send(&feedFrame{kind: kindJoin, rows: joins})
	})
	return k, err
}

// stopCounting is [Feed.StopCounting].
func (f *primaryFeed) stopCounting(ranges []ring.Range, node string) {
	f.transitionMu.Lock()
	defer f.transitionMu.Unlock()
	f.mu.Lock()
	var rows []*rowTerm
	for _, r := range ranges {
		for _, t := range f.state.overlapping(r) {
			if !slices.Contains(rows, t) && slices.ContainsFunc(t.counted, func(l learner) bool { return l.node == node }) {
				rows = append(rows, t)
			}
		}
	}
	if len(rows) == 0 {
		f.mu.Unlock()
		return
	}
	u := f.state.planCounting(rows, learner{node: node}, false)
	f.mu.Unlock()
	err := f.applyTransition(u, f.hub.cfg.Table.State(), nil, func() {
		for _, t := range rows {
			t.counted = slices.DeleteFunc(slices.Clone(t.counted), func(l learner) bool { return l.node == node })
		}
	})
	if err != nil {
		f.hub.cfg.Logger.Error("subscribing to the writes of ranges failed", "err", err)
	}
}

// waitDrained is [Feed.WaitDrained].
//
// Invariant: a range is in drainedRanges only while it is held and all members have all of its changes.
// Until then the table may give it to a backup that lacks some: clients must not be told that these are
// done.
func (f *primaryFeed) waitDrained(ctx context.Context, ranges []ring.Range) error {
	f.mu.Lock()
	f.heldRanges = appendMissing(f.heldRanges, ranges)
	f.mu.Unlock()
	f.hub.cfg.Publish() // from now on the store removes nothing there by itself
	f.mu.Lock()
	promises := f.state.obligationsIn(ranges)
	f.mu.Unlock()
	return f.waitUntil(ctx, func() (bool, error) {
		late := slices.ContainsFunc(promises, func(p obligation) bool { return f.state.receivedUpTo(p.quorum) < p.number })
		if late || !f.state.allJoined(ranges) {
			return false, nil
		}
		f.drainedRanges = appendMissing(f.drainedRanges, ranges)
		return true, nil
	})
}

// appendMissing appends those of more that are not in ranges.
func appendMissing(ranges, more []ring.Range) []ring.Range {
	for _, r := range more {
		if !slices.Contains(ranges, r) {
			ranges = append(ranges, r)
		}
	}
	return ranges
}

// endDrained is [Feed.EndDrained].
func (f *primaryFeed) endDrained(ranges []ring.Range) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ended := func(r ring.Range) bool { return slices.Contains(ranges, r) }
	f.heldRanges, f.drainedRanges = slices.DeleteFunc(f.heldRanges, ended), slices.DeleteFunc(f.drainedRanges, ended)
}

// stats is [Feed.Stats].
func (f *primaryFeed) stats() (all []Stats) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	for node, l := range f.state.sessions {
		g := Stats{Node: node, Pending: l.unackedChanges, Broken: l.endReason}
		for _, t := range f.state.terms {
			if slices.Contains(t.members, node) {
				g.Rows++
			}
		}
		if fl := f.senders[l]; fl != nil {
			g.Bytes = fl.backlog.bytes
		}
		for i := range l.unacked {
			if l.unacked[i].change {
				g.Waits = now.Sub(l.unacked[i].sentAt)
				break
			}
		}
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b Stats) int {
		if a.Node < b.Node {
			return -1
		}
		return 1
	})
	return all
}

// ErrNotFed says that this node does not feed a node.
var ErrNotFed = errors.New("it is not fed any more")

// waitReceived is [Feed.WaitReceived].
func (f *primaryFeed) waitReceived(ctx context.Context, node string) error {
	f.mu.Lock()
	l := f.state.sessions[node]
	fl := f.senders[l]
	k := uint64(0)
	if fl != nil {
		k = l.sent
	}
	f.mu.Unlock()
	if fl == nil {
		return fmt.Errorf("%s: %w", node, ErrNotFed)
	}
	return fl.waitAcked(ctx, k)
}
