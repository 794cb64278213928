package resp

import (
	"bytes"
	"slices"
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/monitoring"
	"github.com/ringside-kv/ringside/resp/internal/outcome"
	"github.com/ringside-kv/ringside/resp/internal/scripts"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

// A request with keys of several nodes is split where its meaning survives that: each
// node gets the command with its own keys, and the replies are merged. It is not atomic
// then, as a whole.

// checkSeveralKeys looks at a request with several keys. If they have different tokens, and it is
// not one that is split, it works only as long as one node happens to serve them all: it
// is counted, or refused under strict-slots.
func (c *conn) checkSeveralKeys(r *request, places []store.Place) {
	r.judged = true
	if c.from != nil || r.cmd.Merge != command.MergeNone && !c.session.redirect || !apart(places) {
		return
	}
	switch {
	case c.srv.settings.StrictSlots.Load():
		c.srv.stats.CrossSlot.Add(1)
		r.msg, r.owner = msgCrossSlot, ownerSelf
	case r.owner != ownerSeveral: // which is refused in any case
		c.srv.stats.Apart.Add(1)
	}
}

// apart tells whether places have different tokens.
func apart(places []store.Place) bool {
	for _, p := range places[1:] {
		if p.Token() != places[0].Token() {
			return true
		}
	}
	return false
}

// A part is what one node does of a request.
type part struct {
	owner  int32
	keys   []int // which of the request's keys, by their order
	batch  batch
	Writer []byte
}

// split answers a request whose keys lie at several nodes.
func (c *conn) split(r *request, routes *Routes) {
	if r.cmd.Merge == command.MergeNone {
		c.srv.stats.CrossSlot.Add(1)
		c.refuse(r, msgCrossSlot)
		return
	}
	showSent(c, r, monitoring.Own|monitoring.Cluster, nil)
	end := time.Now().Add(c.srv.forwardTime(len(r.raw)))
	parts, msg := c.runParts(r, routes, end) // msg is the worst of the parts
	size := int64(0)
	for i := range parts {
		size += int64(len(parts[i].Writer))
	}
	if size > keepReply {
		c.srv.budget.Take(&c.Account, size)
		defer c.srv.budget.Release(&c.Account, size)
	}
	if msg != "" {
		c.refuse(r, msg)
		return
	}
	if size > c.srv.settings.OutputBuffer.Load() {
		c.refuse(r, command.MsgReplyTooLarge)
		return
	}
	at := len(c.out.Buf)
	switch r.cmd.Merge {
	case command.MergeOK:
		c.out.OK()
	case command.MergeCounts:
		c.sumCounts(parts)
	case command.MergeArrays:
		c.joinArrays(parts)
	}
	c.session.lastCmd.Store(r.cmd)
	c.count(r.cmd, at)
	if cap(c.out.Buf) > keepReply {
		c.replyBuf.charge()
	}
}

// runParts has every node do its part, and sends again what a node has not executed since it
// does not serve it any more. msg is the error that the client is told, if not all parts were
// made; see package outcome.
func (c *conn) runParts(r *request, routes *Routes, end time.Time) (through []part, msg string) {
	args := c.args[r.first:r.last]
	refs, err := r.cmd.KeysOf(args, nil)
	if err != nil {
		return nil, command.MsgSyntax
	}
	c.readsFar(r)
	step := r.cmd.Keys[0].Step
	if refs[len(refs)-1].Pos+step > len(args) { // MSET with a key that has no value
		return nil, "ERR wrong number of arguments for '" + r.cmd.Full + "' command"
	}
	open := make([]int, len(refs))
	for i := range open {
		open[i] = i
	}
	var o outcome.Outcome
	write := r.cmd.MayWrite
	refuse := func(msg string) ([]part, string) {
		o.Refuse(msg)
		return through, o.Msg(write)
	}
	for len(open) > 0 {
		if time.Now().After(end) || c.closing {
			return refuse(msgUnreachable)
		}
		if write && hasLostWrites(c) {
			return refuse(scripts.MsgAtReplica)
		}
		var parts []part
		held := asStored(c, r, routes, refs) == ownerHeld
		args = c.args[r.first:r.last]
		for _, i := range open {
			owner := routes.of(c.unit.Place(args[refs[i].Pos]).Token())
			if owner == ownerNone {
				return refuse(msgNoCopy)
			}
			held = held || owner == ownerHeld
			parts = addKey(parts, owner, i)
		}
		if held {
			c.awaitRoutes(routes, routesPause)
			routes = c.srv.routes.Load()
			continue
		}
		for j := range parts {
			p := &parts[j]
			rest := args[refs[len(refs)-1].Pos+step:] // as the path of JSON.MGET
			request := wire.AppendArray(nil, 1+len(p.keys)*step+len(rest))
			request = wire.AppendBulk(request, args[0])
			for _, i := range p.keys {
				for _, arg := range args[refs[i].Pos : refs[i].Pos+step] {
					request = wire.AppendBulk(request, arg)
				}
			}
			for _, arg := range rest {
				request = wire.AppendBulk(request, arg)
			}
			p.batch = batch{bytes: request, requests: 1}
			c.sendPart(p, routes, time.Until(end))
		}
		open = open[:0]
		for j := range parts {
			p := &parts[j]
			reply, err := p.batch.reply()
			made := o.Made
			if o.Add(r.fate(err), reply, p.batch.status, err) {
				open = append(open, p.keys...)
			}
			p.batch = batch{}
			if o.Made > made {
				p.Writer = bytes.Clone(reply) // a copy, since the others are waited for
				through = append(through, *p)
			}
		}
		if o.Over() {
			return through, o.Msg(write)
		}
		if len(open) > 0 {
			c.awaitRoutes(routes, o.Pause.Next(routesPause))
			routes = c.srv.routes.Load()
		}
	}
	return through, ""
}

func addKey(parts []part, owner int32, key int) []part {
	for j := range parts {
		if parts[j].owner == owner {
			parts[j].keys = append(parts[j].keys, key)
			return parts
		}
	}
	return append(parts, part{owner: owner, keys: []int{key}})
}

// sendPart sends a part on its way; this node's own runs at once.
func (c *conn) sendPart(p *part, routes *Routes, timeout time.Duration) {
	if p.owner == ownerSelf {
		c.runPart(&p.batch, c.termsHere(), routes.known())
		return
	}
	c.srv.stats.Forwarded.Add(1)
	p.batch.link = routes.links[p.owner]
	sendFor(c, &p.batch, timeout, nil)
}

// runPart runs a batch here.
func (c *conn) runPart(b *batch, terms Terms, known uint64) {
	w := &ownWay{answered: make(chan struct{})}
	b.way, b.received, b.next = w, false, 0
	c.srv.RunForwarded([]Forwarded{{Batch: b.bytes, Requests: b.requests, RESP3: terms.RESP3, Early: terms.Early, Author: terms.Author, NoTouch: terms.NoTouch, Known: known, Trace: c.timing.Sampled.Context(), Atomic: b.atomic, Part: b.part, Answer: w.answer}}, nil)
}

// An ownWay is what is left to do of a batch that this node has run itself: to wait.
type ownWay struct {
	Way
	answered chan struct{}
	replies  Replies
	err      error
}

func (w *ownWay) answer(r Replies, err error) {
	w.replies, w.err = Replies{Bytes: bytes.Clone(r.Bytes), Ends: slices.Clone(r.Ends), Statuses: slices.Clone(r.Statuses)}, err
	close(w.answered)
}

// Wait implements Way.
func (w *ownWay) Wait() (Replies, error) {
	<-w.answered
	return w.replies, w.err
}

// sumCounts replies with the sum of the parts' numbers.
func (c *conn) sumCounts(parts []part) {
	sum := int64(0)
	for _, p := range parts {
		if len(p.Writer) > 3 {
			n, _ := strconv.ParseInt(string(p.Writer[1:len(p.Writer)-2]), 10, 64)
			sum += n
		}
	}
	c.out.Int(sum)
}

// joinArrays replies with the elements of the parts in the order of the keys.
func (c *conn) joinArrays(parts []part) {
	elements := make(map[int][]byte)
	count := 0
	for _, p := range parts {
		rest := p.Writer
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			rest = rest[i+1:]
		}
		for _, key := range p.keys {
			n := wire.ValueLen(rest)
			elements[key] = rest[:n]
			rest = rest[n:]
			count++
		}
	}
	c.out.Buf = wire.AppendArray(c.out.Buf, count)
	for i := range count {
		c.out.Buf = append(c.out.Buf, elements[i]...)
	}
}
