package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/ring"
)

// A group is the parts that one node gets in one round, in the order of their commands.
type group struct {
	to    *remote
	lane  *lane
	op    *op
	err   error
	parts []*part
	reads bool // all of them only read
	taken int  // replies that have been passed on
}

// rounds sends parts to where they belong, and again those that were not executed, until
// every part is settled. Parts with the same key keep their order: what was not executed
// is given up if something behind it was.
//
// w is the placement by which the parts were made. first are groups that have been sent and
// waited for.
func (r *Ring) rounds(ctx context.Context, w *owners, parts []part, first []group) {
	t := tries{r: r}
	groups := first
	if first == nil {
		groups = t.send(ctx, w, parts)
	}
	for {
		for i := range groups {
			t.settle(ctx, &groups[i])
		}
		if !t.again(ctx, w, parts) {
			return
		}
		w = r.owners.Load()
		groups = t.send(ctx, w, parts)
	}
}

// send puts a group on its way.
func (g *group) send() {
	g.lane = g.to.lane()
	g.lane.send(g.op)
}

// send sends the open parts where they belong, and waits.
func (t *tries) send(ctx context.Context, w *owners, parts []part) []group {
	groups := t.group(w, parts)
	for i := range groups {
		groups[i].send()
	}
	for i := range groups {
		groups[i].err = groups[i].op.wait(ctx, groups[i].lane)
	}
	return groups
}

// tries is what rounds know of the rounds before.
type tries struct {
	r     *Ring
	n     int
	end   time.Time     // when to give up; set by the first failure
	pause time.Duration // the last one
	later bool          // some part is to wait
}

// group gathers the open parts by where they go.
//
// Invariant: parts that share a token are in one group, in their order, or the later one waits.
// In the first round that is so by itself: all keys of a part have one primary.
func (t *tries) group(w *owners, parts []part) []group {
	var groups []group
	var chosen places
	if t.n > 0 {
		chosen = make(places)
	}
	for i := range parts {
		p := &parts[i]
		if p.done {
			continue
		}
		var to *remote
		if to, p.waits = chosen.of(p); p.waits {
			continue
		}
		if to == nil {
			to = t.target(w, p)
		}
		chosen.put(p, to)
		at := slices.IndexFunc(groups, func(g group) bool { return g.to == to })
		if at < 0 {
			at = len(groups)
			groups = append(groups, group{to: to, op: t.r.ops.take(), reads: true})
		}
		g := &groups[at]
		g.parts = append(g.parts, p)
		g.op.body = append(g.op.body, p.body...)
		g.op.n++
		g.reads = g.reads && p.cmd.reads
	}
	return groups
}

// places are the nodes that get the parts of one round, by token: nil where a part waits. A nil map
// takes in nothing.
type places map[ring.Token]*remote

// of returns the node that gets an earlier part with a token of p, or nil if there is none. p waits if such
// parts go to different nodes, or wait themselves.
func (c places) of(p *part) (to *remote, waits bool) {
	if c == nil {
		return nil, false
	}
	for _, token := range p.tokens {
		before, shared := c[token]
		if shared && (before == nil || to != nil && to != before) {
			c.put(p, nil)
			return nil, true
		}
		if shared {
			to = before
		}
	}
	return to, false
}

func (c places) put(p *part, to *remote) {
	if c == nil {
		return
	}
	for _, token := range p.tokens {
		c[token] = to
	}
}

// target is who gets a part: where a redirect leads, the primary, a backup, any other.
// Those that were not reached come last.
func (t *tries) target(w *owners, p *part) *remote {
	fresh := func(r *remote) bool { return r != nil && !slices.Contains(p.failed, r) }
	if fresh(p.to) {
		return p.to
	}
	var first *remote
	if len(p.tokens) > 0 {
		o := w.of(p.tokens[0])
		if first = o.primary; fresh(first) {
			return first
		}
		for _, b := range o.backups {
			if fresh(b) {
				return b
			}
		}
	}
	for _, connected := range []bool{true, false} { // one that is not may be gone, and be dialled for long
		for _, any := range w.all {
			if fresh(any) && (any.connected() || !connected) {
				return any
			}
		}
	}
	// All have failed: after the pause they are sent again.
	t.later = true
	p.failed = p.failed[:0]
	if first == nil {
		first = w.all[0]
	}
	return first
}

// settle takes in what a group has come to.
func (t *tries) settle(ctx context.Context, g *group) {
	outcomes := make([]Reply, len(g.parts))
	verdicts := make([]verdict, len(g.parts))
	for i, p := range g.parts {
		outcomes[i] = failed(g.err)
		if !g.op.left() && i < len(g.op.replies) {
			outcomes[i] = g.op.replies[i]
		}
		verdicts[i] = p.judge(&outcomes[i], g.reads)
	}
	t.r.ops.giveBack(g.op)
	for i, p := range g.parts {
		p.reply = outcomes[i]
		switch v := verdicts[i]; {
		case v == settled || t.overtaken(g.parts, verdicts, i):
			p.done = true
			if p.reply.code() == codeMoved {
				t.r.refresh() // for the caller's next attempt
			}
		case v == goThere:
			t.redirect(p, g.to)
		case v == goOn:
			p.to, p.failed = nil, append(p.failed, g.to)
			t.r.refresh()
		case v == goLater:
			p.to, t.later = nil, true
			t.r.refresh()
		case v == goSingly:
			p.end(t.r.singly(ctx, p))
		}
	}
}

// overtaken tells whether something behind a part was executed that has a key of it, or,
// for one that would be executed now, whether something before it waits.
func (t *tries) overtaken(parts []*part, verdicts []verdict, i int) bool {
	for j, other := range parts {
		late := j > i && verdicts[j] == settled || j < i && verdicts[i] == goSingly && !other.done
		if late && parts[i].shares(other) {
			return true
		}
	}
	return false
}

// redirect has a part go where the node that does not have its key has said.
//
// Invariant: a redirect leads only to nodes that the placement names. The text may be made up
// by a script, and a node at an address is told the password.
func (t *tries) redirect(p *part, from *remote) {
	_, addr, ok := p.reply.moved()
	to := t.r.redirectTarget(addr, p.cmd)
	switch p.hops++; {
	case !ok || p.cmd.scripted && (to == nil || to == from || p.hops > maxHops):
		p.done = true
		t.r.refresh() // for the caller's next attempt
		return
	case to == nil: // the next placement may name it, or send the part elsewhere
		p.to, t.later = nil, true
		t.r.refresh()
		return
	}
	t.r.metrics.redirects.Inc(1)
	p.to = to
	if len(p.tokens) > 0 && !p.cmd.scripted {
		t.r.learn(p.tokens[0], to)
	}
	t.r.refresh()
	if p.hops > maxHops || to == from {
		t.later = true
	}
}

// redirectTarget returns the node at the address of a redirect, nil if the redirect is not to be followed. A
// node that forwards sends no redirects by itself.
func (r *Ring) redirectTarget(addr string, cmd *command) *remote {
	r.mu.Lock()
	defer r.mu.Unlock()
	named := r.used[addr] || r.owners.Load().token == nil && !cmd.scripted // without a placement, servers name each other
	if !named || r.cfg.Route == Forward {
		return nil
	}
	return r.remoteLocked(addr)
}

// maxHops is how many redirects are followed before there is a pause: nodes that do not
// agree yet send a client back and forth.
const maxHops = 3

// singly sends a part key by key, after its node has said that they do not lie together.
func (r *Ring) singly(ctx context.Context, p *part) Reply {
	w := r.owners.Load()
	parts := make([]part, len(p.keys))
	for i, key := range p.keys {
		parts[i] = partOf(p.of, p.cmd, []int{key}, w.tokenOf)
		parts[i].keys[0] = i
	}
	r.rounds(ctx, w, parts, nil)
	return merge(p.cmd, len(parts), parts)
}

// again tells whether there is to be another round, and waits until it is time for it.
func (t *tries) again(ctx context.Context, w *owners, parts []part) bool {
	open, refused := 0, 0
	for i := range parts {
		open += bit(!parts[i].done)
		refused += bit(!parts[i].done && !parts[i].waits)
	}
	if open == 0 {
		return false
	}
	t.n++
	now := time.Now()
	switch {
	case refused == 0: // the time for retries begins with a refusal, not with a wait for other parts
		t.end, t.pause, t.later = time.Time{}, 0, false
	case t.end.IsZero():
		t.end = now.Add(t.r.cfg.RetryFor)
	}
	if t.later && now.Before(t.end) {
		t.wait(ctx, w, t.end.Sub(now))
		t.later = false
		for i := range parts {
			parts[i].failed, parts[i].hops = parts[i].failed[:0], 0
		}
	}
	switch {
	case t.r.ctx.Err() != nil:
		giveUp(parts, ErrClosed)
	case ctx.Err() != nil:
		giveUp(parts, context.Cause(ctx))
	case refused > 0 && !time.Now().Before(t.end):
		giveUp(parts, nil)
	default:
		t.r.metrics.retries.Inc(int64(refused))
		return true
	}
	return false
}

// giveUp ends what is open with what it has come to so far.
func giveUp(parts []part, cause error) {
	for i := range parts {
		p := &parts[i]
		if p.done {
			continue
		}
		p.done = true
		err := p.reply.Err()
		switch {
		case cause == nil || errors.Is(err, cause):
		case errors.Is(err, ErrUnknownOutcome):
			p.reply = failed(unknown(fmt.Errorf("%w: %w", cause, err)))
		default:
			p.reply = failed(notSent(fmt.Errorf("%w: %w", cause, err)))
		}
	}
}

// wait pauses for a while that grows from one time to the next, or until more is known of
// who has what.
func (t *tries) wait(ctx context.Context, w *owners, most time.Duration) {
	cfg := t.r.cfg
	t.pause = min(max(2*t.pause, cfg.MinBackoff), cfg.MaxBackoff)
	timer := time.NewTimer(min(most, t.pause/2+rand.N(t.pause/2+1)))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.next:
	case <-ctx.Done():
	case <-t.r.ctx.Done():
	}
}
