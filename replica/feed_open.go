package replica

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/ring"
)

// open has the members of rows that begin a term join them; turning is held. Until all
// have, or have been released, the rows are closed to clients.
func (f *feeds) open(ts []*tenure) {
	if len(ts) == 0 {
		return
	}
	// Whatever this node followed there is over: what comes next is its own.
	f.e.followers.finish(ts)
	by := make(map[string][]*tenure)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range ts {
		for _, m := range t.members {
			by[m] = append(by[m], t)
		}
	}
	for m, rows := range by {
		if fl := f.lines[f.office.lines[m]]; fl != nil && !fl.over {
			f.e.done.Go(func() {
				if err := f.bring(fl, rows); err != nil && fl.ctx.Err() == nil {
					f.e.cfg.Logger.Warn("bringing a backup up to date failed", "node", m, "err", err)
					f.mu.Lock()
					f.cut(fl, err.Error())
					f.mu.Unlock()
				}
			})
		}
	}
}

// bring brings a member to where this node is, in rows that begin a term, and has it
// join them.
func (f *feeds) bring(fl *feedLine, ts []*tenure) error {
	ctx := fl.ctx
	if err := f.until(ctx, func() (bool, error) { return fl.there, nil }); err != nil {
		return err
	}
	c := f.office.compare(ts, f.e.followers.origin)
	var tails [][]byte
	if len(c.formers) > 0 {
		r, err := fl.ask(ctx, &c.question)
		if err == nil {
			tails, err = c.answered(r)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", fl.l.node, err)
		}
		f.e.reached(FailoverCompared)
	}
	k, joined := f.admit(fl, c.direct, c.reject, tails)
	if k == 0 {
		return nil
	}
	if err := fl.went(ctx, k); err != nil {
		return err
	}
	f.e.reached(FailoverJoined)
	f.mu.Lock()
	f.office.joined(fl.l.node, joined)
	f.mu.Unlock()
	signal(f.poke)
	return nil
}

// admit has a member join rows, behind what it lacks of them. It returns the number of
// the last frame of that, 0 if there is none.
func (f *feeds) admit(fl *feedLine, direct, reject []*tenure, tails [][]byte) (k uint64, joined []*tenure) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range reject {
		if f.office.current(t) != nil {
			f.e.cfg.Logger.Info("a backup needs a new copy", "node", fl.l.node, "range", t.Range, "epoch", t.Epoch)
			f.office.reject(fl.l.node, t)
		}
	}
	signal(f.fire)
	var rows []joinRow
	for _, t := range direct {
		if now := f.office.current(t); now != nil && slices.Contains(now.missing, fl.l.node) {
			rows = append(rows, joinRow{Ref: now.Ref})
			joined = append(joined, now)
		}
	}
	if len(rows) == 0 {
		return 0, nil
	}
	if len(tails) > 0 {
		fl.emit(&feedFrame{kind: feedBring, rows: rows})
		for _, batch := range tails {
			fl.emit(&feedFrame{kind: feedBatch, body: batch})
		}
	}
	return fl.emit(&feedFrame{kind: feedJoin, rows: rows}), joined
}

// pin makes that there is a line to a node, and keeps it.
func (f *feeds) pin(node string, incarnation uint64) (*feedLine, func()) {
	f.turning.Lock()
	defer f.turning.Unlock()
	f.mu.Lock()
	l := f.office.lines[node]
	var fl *feedLine
	if l == nil {
		l = f.office.begin(node, incarnation)
		fl = f.begin(l)
	} else {
		fl = f.lines[l]
	}
	l.pinned++
	f.mu.Unlock()
	f.start()
	return fl, func() {
		f.mu.Lock()
		l.pinned--
		f.mu.Unlock()
		f.anew() // a line that nobody needs goes
		signal(f.poke)
	}
}

// newest is the newest frame that a node has been sent, or may yet get from a line that is
// given up: of which session, and its number.
func (f *feeds) newest(node string) (session, k uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.office.newest(node)
}

// count is [Engine.count].
func (f *feeds) count(ctx context.Context, ranges []ring.Range, l learner, h *Stream, end []Outgoing) (err error) {
	fl, unpin := f.pin(l.node, l.incarnation)
	defer unpin()
	if err := f.until(ctx, func() (bool, error) {
		if fl.l.broken != "" || fl.l.incarnation != l.incarnation {
			return false, errChanged
		}
		return fl.there, nil
	}); err != nil {
		return err
	}
	if err := h.Drained(ctx); err != nil {
		return err
	}
	f.turn()
	k, err := f.grow(fl, ranges, l, end)
	if err != nil {
		return err
	}
	// What was given before comes by the other stream, and before all of this.
	err = h.Drained(ctx)
	f.mu.Lock()
	fl.corked = 0
	signal(fl.wake)
	f.mu.Unlock()
	if err == nil {
		err = fl.went(ctx, k)
	}
	if err != nil {
		f.uncount(ranges, l.node)
	}
	return err
}

// grow lets a learner count from one moment on, in which its copies end. It returns the
// number of the frame that tells it; no later one is written until the line is uncorked.
func (f *feeds) grow(fl *feedLine, ranges []ring.Range, l learner, end []Outgoing) (k uint64, err error) {
	f.turning.Lock()
	defer f.turning.Unlock()
	st := f.e.cfg.Table.State()
	f.mu.Lock()
	var rows []*tenure
	var joins []joinRow
	for _, r := range ranges {
		t := f.office.tenureAt(r.Start)
		row, ok := st.Row(r.Start)
		if t == nil || t.Range != r || !t.open || !ok || row.Ref() != t.Ref {
			err = errChanged
			break
		}
		i := slices.Index(row.Learners, l.node)
		if i < 0 || row.Starts[i] != l.incarnation {
			err = errChanged
			break
		}
		rows = append(rows, t)
		joins = append(joins, joinRow{t.Ref, true})
	}
	if fl.l.broken != "" || fl.corked > 0 {
		err = errChanged
	}
	var u *turn
	if err == nil {
		u = f.office.recount(rows, l, true)
	}
	f.mu.Unlock()
	if err != nil {
		return 0, err
	}
	err = f.take(u, st, end, func() {
		for _, t := range rows {
			t.counted = append(slices.Clip(t.counted), l)
		}
		fl.corked = max(fl.l.sent, 1)
		k = fl.emit(&feedFrame{kind: feedJoin, rows: joins})
	})
	return k, err
}

// uncount is [Engine.uncount].
func (f *feeds) uncount(ranges []ring.Range, node string) {
	f.turning.Lock()
	defer f.turning.Unlock()
	f.mu.Lock()
	var rows []*tenure
	for _, r := range ranges {
		for _, t := range f.office.overlapping(r) {
			if !slices.Contains(rows, t) && slices.ContainsFunc(t.counted, func(l learner) bool { return l.node == node }) {
				rows = append(rows, t)
			}
		}
	}
	if len(rows) == 0 {
		f.mu.Unlock()
		return
	}
	u := f.office.recount(rows, learner{node: node}, false)
	f.mu.Unlock()
	err := f.take(u, f.e.cfg.Table.State(), nil, func() {
		for _, t := range rows {
			t.counted = slices.DeleteFunc(slices.Clone(t.counted), func(l learner) bool { return l.node == node })
		}
	})
	if err != nil {
		f.e.cfg.Logger.Error("subscribing to the writes of ranges failed", "err", err)
	}
}

// drained is [Engine.drained].
func (f *feeds) drained(ctx context.Context, ranges []ring.Range) error {
	f.mu.Lock()
	for _, r := range ranges {
		if !slices.Contains(f.stills, r) {
			f.stills = append(f.stills, r)
		}
	}
	f.mu.Unlock()
	f.e.publish() // the store removes nothing by itself there any more
	f.mu.Lock()
	promises := f.office.promises(ranges)
	f.mu.Unlock()
	return f.until(ctx, func() (bool, error) {
		late := slices.ContainsFunc(promises, func(p promise) bool { return f.office.arrived(p.to) < p.number })
		return !late && f.office.opened(ranges), nil
	})
}

// resume says that ranges are not held any more.
func (f *feeds) resume(ranges []ring.Range) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stills = slices.DeleteFunc(f.stills, func(s ring.Range) bool { return slices.Contains(ranges, s) })
}

// figures tell of all lines.
func (f *feeds) figures() (all []FeedFigures) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	for node, l := range f.office.lines {
		g := FeedFigures{Node: node, Pending: l.changes, Broken: l.broken}
		for _, t := range f.office.tenures {
			if slices.Contains(t.members, node) {
				g.Rows++
			}
		}
		if fl := f.lines[l]; fl != nil {
			g.Bytes = fl.log.bytes
		}
		for i := range l.open {
			if l.open[i].change {
				g.Waits = now.Sub(l.open[i].since)
				break
			}
		}
		all = append(all, g)
	}
	slices.SortFunc(all, func(a, b FeedFigures) int {
		if a.Node < b.Node {
			return -1
		}
		return 1
	})
	return all
}
