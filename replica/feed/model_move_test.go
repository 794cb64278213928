package feed

import (
	"fmt"
	"slices"

	"github.com/ringside-kv/ringside/replica/internal/rules"
	"github.com/ringside-kv/ringside/replica/internal/spans"
	"github.com/ringside-kv/ringside/replica/lease"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// growing is what a primary does about learners and handovers.
func (n *mnode) growing() []action {
	var all []action
	w := n.w
	st := n.state()
	for row := range st.Rows() {
		if !n.off.isOwn(row) {
			continue
		}
		for i, l := range row.Learners {
			if n.copyTo(row, l, row.Starts[i]) == nil {
				all = append(all, act("task", w.name("%s copies %v to %s", n.id, row.Range, l), func() { n.copy(row, l, row.Starts[i]) }))
			}
		}
		for _, b := range row.Backups {
			if w.looks("handover") && !n.held[row.Range] {
				all = append(all, act("handover", w.name("%s of %v to %s", n.id, row.Range, b), func() { n.handOver(row, b) }))
			}
		}
		if w.looks("bounds") && !n.held[row.Range] {
			if row.Range.Len() > 1<<30 {
				all = append(all, act("bounds", w.name("%s cuts %v", n.id, row.Range), func() { n.split(row) }))
			}
		}
	}
	for _, c := range n.copies {
		name := w.name("%s %v to %s", n.id, c.row.Range, c.to.id)
		if len(c.queue) > 0 && c.to.awake() && c.to.start == c.at && w.linked(n.id, c.to.id) && !c.waits() {
			all = append(all, act("push", "copy "+name, c.push))
		}
		if w.looks("break") && !c.broken && !c.ended {
			all = append(all, act("break", "copy "+name, c.stop))
		}
		if !c.ended && len(c.queue) == 0 && !c.broken && !n.held[c.row.Range] {
			if row, ok := st.Row(c.row.Range.Start); ok && row.Op.To == c.to.id && row.Op.Primary {
				all = append(all, act("task", "hands over by copy "+name, func() { n.handOut(row, c) }))
			} else {
				all = append(all, act("task", "grows by copy "+name, func() { n.grow(c) }))
			}
		}
	}
	return all
}

func (n *mnode) copyTo(row *table.Row, to string, start uint64) *mcopy {
	for _, c := range n.copies {
		if c.to.id != to {
			continue
		}
		if c.row.Range == row.Range && c.row.Epoch == row.Epoch && c.at == start && !c.broken || c.grown && spans.Overlap(c.row.Range, row.Range) {
			return c
		}
	}
	return nil
}

// copy begins a stream to a learner: what there is, then what changes.
func (n *mnode) copy(row *table.Row, to string, start uint64) {
	c := &mcopy{row: row.Ref(), from: n, start: n.start, to: n.w.node(to), at: start}
	for _, o := range n.copies {
		if o.to == c.to && spans.Overlap(o.row.Range, row.Range) {
			o.queue = nil // a stream that has ended comes before the next
			o.stop()
		}
	}
	n.copies = append(n.copies, c)
	c.session, c.k = n.off.newestFrame(to)
	for _, t := range modelTokens {
		if row.Range.Contains(t) {
			list := slices.Clone(n.data[t])
			c.queue = append(c.queue, mpiece{token: t, list: list})
		}
	}
}

// unlearned ends copies to those who by the newest state learn no more.
func (n *mnode) unlearned() {
	for _, c := range n.copies {
		if row, ok := n.state().Row(c.row.Range.Start); ok && !row.Holds(c.to.id) && !slices.Contains(row.Learners, c.to.id) {
			c.stop()
		}
	}
}

func (c *mcopy) stop() { c.broken, c.ended = true, true }

// over is stop, once nothing is left to learn of what became of the learner.
func (c *mcopy) over() {
	c.stop()
	c.grown = false
}

// waits reports whether the receiver does not know yet that it is to receive.
func (c *mcopy) waits() bool {
	row, ok := c.to.state().Row(c.row.Range.Start)
	out := c.to.w.out.model
	return !out.staleStreams && !out.earlyStreams && (!ok || row.Version < c.row.Version)
}

// current is what Engine.learns and arrival.current look at.
func (c *mcopy) current() bool {
	row, ok := c.to.state().Row(c.row.Range.Start)
	return ok && row.Range == c.row.Range && row.Primary == c.from.id && row.Epoch == c.row.Epoch &&
		(c.begun || slices.Contains(row.Learners, c.to.id))
}

// push has the receiver take in the next piece, if it may.
func (c *mcopy) push() {
	to := c.to
	if !to.w.out.model.staleStreams && !c.current() {
		c.queue = nil
		c.stop()
		return
	}
	if !c.begun {
		// A receiver takes one stream at a time.
		c.begun = true
		for _, n := range to.w.nodes {
			for _, o := range n.copies {
				if o != c && o.begun && o.to == to && spans.Overlap(o.row.Range, c.row.Range) {
					o.queue = nil
					o.stop()
				}
			}
		}
		to.stand(lease.NodeStart{Node: c.from.id, Incarnation: c.start}).markCopied([]ring.Range{c.row.Range}, c.session, c.k)
		for _, s := range to.order { // followers.forget
			s.leave([]ring.Range{c.row.Range})
		}
		to.off.addLearned([]ring.Range{c.row.Range})
	}
	p := c.queue[0]
	c.queue = c.queue[1:]
	to.receive(&p)
}

// grow lets a learner count, and asks the table to admit it once it is fed.
func (n *mnode) grow(c *mcopy) {
	n.turn()
	t := n.off.termAt(c.row.Range.Start)
	row, ok := n.state().Row(c.row.Range.Start)
	if t == nil || !ok || t.Range != c.row.Range || !t.open || row.Ref() != t.Ref || row.Epoch != c.row.Epoch {
		c.stop()
		return
	}
	i := slices.Index(row.Learners, c.to.id)
	if i < 0 || row.Starts[i] != c.at {
		c.stop()
		return
	}
	l := learner{c.to.id, c.at}
	if !n.off.rules.Enforced(rules.Count) {
		c.grown, c.ended = true, true
		n.admit(c, l)
		return
	}
	ln := n.off.sessions[l.node]
	if ln == nil {
		ln = n.off.beginSession(l.node, l.incarnation)
		n.lines[ln] = &mline{l: ln, asks: map[uint64]*question{}}
	}
	if ln.endReason != "" || ln.incarnation != l.incarnation {
		c.stop()
		return
	}
	c.grown = true
	ln.pins++
	u := n.off.planCounting([]*rowTerm{t}, l, true)
	var k uint64
	n.take(u, n.state(), func() {
		t.counted = append(slices.Clip(t.counted), l)
		c.ended = true
		n.off.send(ln, &feedFrame{kind: kindJoin, rows: []joinRow{{t.Ref, true}}}, n.real())
		k = ln.sent
	})
	n.tasks = append(n.tasks, &mtask{"is followed by learner " + l.node, func() bool { return ln.acked >= k || ln.endReason != "" }, func() {
		ln.pins--
		if ln.endReason != "" {
			n.uncount(t.Range, l)
			c.over()
			return
		}
		n.admit(c, l)
	}, []any{c, t, k}})
}

func (n *mnode) uncount(r ring.Range, l learner) {
	n.turn()
	var rows []*rowTerm
	for _, t := range n.off.overlapping(r) {
		if slices.Contains(t.counted, l) {
			rows = append(rows, t)
		}
	}
	if len(rows) == 0 {
		return
	}
	u := n.off.planCounting(rows, l, false)
	n.take(u, n.state(), func() {
		for _, t := range rows {
			t.counted = slices.DeleteFunc(slices.Clone(t.counted), func(o learner) bool { return o == l })
		}
	})
}

// admit is what Engine.admit decides.
func (n *mnode) admit(c *mcopy, l learner) {
	r := c.row.Range
	handoff := uint64(0)
	if row, ok := n.state().Row(r.Start); ok {
		handoff = row.Op.Handoff
	}
	var again func(undo bool)
	look := func(undo bool) {
		n.tasks = append(n.tasks, &mtask{"looks what became of " + l.node, func() bool { return n.applied == len(n.w.states)-1 }, func() { again(undo) }, []any{c, l, undo}})
	}
	again = func(undo bool) {
		row, ok := n.state().Row(r.Start)
		if !ok || row.Primary != n.id || !slices.Contains(row.Learners, l.node) || row.Range != r || row.Epoch != c.row.Epoch && !n.w.out.model.anyOffice {
			for row := range spans.Rows(n.state(), r) {
				if !row.Holds(l.node) {
					n.uncount(row.Range, l)
				}
			}
			c.over()
			return
		}
		// Only this source makes learners in truth, one after the other: what is one now may
		// be so by another order than the one that was carried out.
		if t := n.off.termAt(r.Start); n.off.rules.Enforced(rules.Count) && (t == nil || !slices.Contains(t.counted, l)) {
			c.over()
			return
		}
		undo = undo || row.Op.Handoff != handoff && !n.w.out.model.anyOffice
		var command table.Command = &table.Admit{Rows: []table.Ref{row.Ref()}, Node: l.node, Incarnation: l.incarnation}
		if undo {
			command = &table.DropLearner{Rows: []table.Ref{row.Ref()}, Node: l.node}
		}
		n.propose(command, 0, func(err error, known bool) { look(undo || table.IsRefused(err)) }, c, l, undo)
	}
	again(false)
}

// hold keeps clients from a row until what is decided about it is known.
func (n *mnode) hold(row *table.Row, what any, ready func(*table.Row) bool, before func(), next func(*table.Row) table.Command) {
	r := row.Range
	if !n.w.out.model.noHold {
		n.held[r] = true
	}
	resume := func() {
		delete(n.held, r)
		n.stills = slices.DeleteFunc(n.stills, func(s ring.Range) bool { return s == r })
	}
	began := n.w.now
	var decide func(undo bool)
	decide = func(undo bool) {
		now, ok := n.state().Row(r.Start)
		if !ok || now.Primary != n.id || now.Range != r || now.Epoch != row.Epoch && !n.w.out.model.anyOffice {
			resume()
			return
		}
		// The receiver of another handoff has begun with nothing.
		if _, copied := what.(*mcopy); copied && now.Op.Handoff != row.Op.Handoff && !n.w.out.model.anyOffice {
			undo = true
		}
		command := next(now)
		if undo {
			command = &table.Renew{Rows: []table.Ref{now.Ref()}}
		}
		n.propose(command, 0, func(err error, known bool) {
			if !known && n.w.out.model.guess {
				resume()
				return
			}
			if err == nil && undo {
				resume()
				return
			}
			n.tasks = append(n.tasks, &mtask{"looks what became of " + fmt.Sprint(r), func() bool { return n.applied == len(n.w.states)-1 }, func() { decide(undo || table.IsRefused(err)) }, []any{row.Ref(), what, undo, table.IsRefused(err)}})
		}, row.Ref(), what, undo)
	}
	n.tasks = append(n.tasks, &mtask{"has everything still in " + fmt.Sprint(r), func() bool { return ready(row) || n.w.now-began > 100e6 }, func() {
		if !ready(row) {
			resume()
			return
		}
		n.stills = append(n.stills, r)
		before()
		decide(false)
	}, []any{row.Ref(), what, began}})
}

// drained is [Engine.waitDrained].
func (n *mnode) drained(r ring.Range) bool {
	if n.w.out.model.noDrain {
		return true
	}
	of := []ring.Range{r}
	return n.off.allJoined(of) && !slices.ContainsFunc(n.off.obligationsIn(of), func(p obligation) bool { return !p.isMet() })
}

func (n *mnode) handOver(row *table.Row, to string) {
	m, ok := n.state().Node(to)
	if !ok {
		return
	}
	leave := n.w.IntN(2) == 0
	n.hold(row, fmt.Sprint("to ", to, m.Incarnation, leave), func(row *table.Row) bool { return n.drained(row.Range) }, func() {}, func(now *table.Row) table.Command {
		return &table.CutOver{Rows: []table.Ref{now.Ref()}, To: to, Incarnation: m.Incarnation, Leave: leave}
	})
}

// handOut makes a learner the primary that has never counted: see Engine.handing.
func (n *mnode) handOut(row *table.Row, c *mcopy) {
	has := func(row *table.Row) bool { return n.drained(row.Range) && len(c.queue) == 0 && !c.broken }
	n.hold(row, c, has, c.stop, func(now *table.Row) table.Command {
		return &table.CutOver{Rows: []table.Ref{now.Ref()}, To: c.to.id, Incarnation: c.at, Admit: true}
	})
}

func (n *mnode) split(row *table.Row) {
	n.hold(row, "split", func(row *table.Row) bool { return n.drained(row.Range) }, func() {}, func(now *table.Row) table.Command {
		return &table.Split{Cuts: []table.Cut{{Row: now.Ref(), At: []ring.Token{now.Range.Start + 1<<30}}}}
	})
}

// foreign are the keys that lie here and are not needed: see Engine.sweep.
func (n *mnode) foreign() (all []ring.Token) {
	st := n.state()
	for _, t := range modelTokens {
		row, ok := st.Row(t)
		if !ok || len(n.data[t]) == 0 || row.Holds(n.id) || slices.Contains(row.Learners, n.id) ||
			slices.ContainsFunc(st.Handoffs(), func(h *table.Handoff) bool { _, is := h.Carries(row.Range); return is && h.To == n.id }) {
			continue
		}
		moves := false
		for _, other := range n.w.nodes {
			for _, c := range other.copies {
				moves = moves || !c.broken && c.row.Range.Contains(t) && (other == n || c.to == n && c.begun)
			}
		}
		if !moves {
			all = append(all, t)
		}
	}
	return all
}
