package feed

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/replica/internal/frame"
	"github.com/ringside-kv/ringside/replica/internal/rules"
	"github.com/ringside-kv/ringside/replica/internal/spans"
	"github.com/ringside-kv/ringside/replica/lease"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// An mnode is a node of the model.
type mnode struct {
	w      *world
	id     string
	rate   float64
	offset time.Duration
	data   map[ring.Token][]uint64 // outlives starts

	up, asleep bool
	start      uint64
	registered bool // its registration has been proposed
	intact     bool
	lost       bool // it lost data, and nobody knows
	doubt      bool // it may have lost some since it was registered last
	applied    int
	tasks      []*mtask

	// As a primary.
	off    *primaryState
	seen   *table.State
	lines  map[*session]*mline
	taps   map[ring.Token]*quorum
	newest map[ring.Token]mark // of each key's newest change
	held   map[ring.Range]bool
	stills []ring.Range
	copies []*mcopy
	ops    []*op

	// As a member.
	stands map[lease.NodeStart]*backupState
	order  []*backupState // the same, the older first

	// As one that holds a lease.
	holder lease.Holder
	until  time.Duration
	spell  uint64

	// As a leader, of a term that may be over.
	leads   uint64
	granter lease.Granter
}

type mark struct {
	q *quorum
	n uint64
}

// An mtask is something that a node is in the middle of.
type mtask struct {
	name  string
	ready func() bool
	run   func()
	about []any // what it will go by, see print
}

// An mline is a line and its connection.
type mline struct {
	l      *session
	frames []*feedFrame // that are not acknowledged
	conn   *mconn
	there  bool
	corked uint64
	answer *report
	asked  uint64
	asks   map[uint64]*question // by their frames
}

// An mconn is a connection from a primary to a member.
type mconn struct {
	fl     *mline
	from   *mnode
	start  uint64 // of the primary
	to     *mnode
	at     uint64 // start of the member
	s      *backupState
	next   uint64
	flight []*feedFrame
	back   []mreply
	dead   bool
}

// An mreply is what a member says: that it has all up to a frame, what it answers to that
// frame, or why it ends the session.
type mreply struct {
	k      uint64
	answer *report
	ended  string
}

// An mcopy is a stream to a learner.
type mcopy struct {
	row    table.Ref
	from   *mnode
	start  uint64
	to     *mnode
	at     uint64
	queue  []mpiece
	begun  bool
	ended  bool // nothing is given any more
	broken bool
	// grown: the learner counts, and what becomes of it is not known. One source copies to
	// a node what it copies one after the other.
	grown bool

	session, k uint64 // of the newest frame to the learner
}

// An mpiece is what a stream carries: a list as it is, or a batch.
type mpiece struct {
	token ring.Token
	list  []uint64
	batch []byte
}

func (n *mnode) receive(p *mpiece) {
	if p.batch != nil {
		n.takeIn(p.batch)
		return
	}
	n.data[p.token] = p.list
}

func (n *mnode) clock() time.Duration { return n.offset + time.Duration(float64(n.w.now)*n.rate) }

// real is a time for the office.
func (n *mnode) real() time.Time { return time.Unix(0, 0).Add(n.clock()) }

func (n *mnode) awake() bool { return n.up && !n.asleep }

func (n *mnode) state() *table.State { return n.w.states[n.applied] }

// begin starts the node's process.
func (n *mnode) begin(start uint64) {
	n.up, n.asleep, n.start, n.registered = true, false, start, start == 1
	n.tasks, n.seen = nil, nil
	n.lines, n.taps, n.newest = map[*session]*mline{}, map[ring.Token]*quorum{}, map[ring.Token]mark{}
	n.held, n.stills, n.copies, n.ops = map[ring.Range]bool{}, nil, nil, nil
	n.stands, n.order = map[lease.NodeStart]*backupState{}, nil
	n.holder, n.until, n.spell = lease.Holder{Disabled: n.w.out.lease}, 0, 0
	n.leads, n.granter = 0, lease.Granter{Disabled: n.w.out.lease}
	n.off = newPrimaryState(n.id, start, func(l *session, f *feedFrame) {
		if fl := n.lines[l]; fl != nil {
			fl.frames = append(fl.frames, f)
		}
	})
	n.off.rules = n.w.out.feed
}

// current reports whether the state that the node knows is from after its registration.
func (n *mnode) current() bool {
	m, ok := n.state().Node(n.id)
	return ok && m.Incarnation == n.start
}

func (n *mnode) crash() {
	n.up = false
	// What it was given over connections may still arrive elsewhere; what was sent to it
	// does not.
	for _, other := range n.w.nodes {
		for _, fl := range other.lines {
			if fl.conn != nil && fl.conn.to == n {
				fl.conn.dead, fl.conn = true, nil
			}
		}
	}
	// A machine that loses power loses what was not on its disk. The only copy of what was
	// acknowledged may not be lost so: nothing could help.
	n.intact = n.w.plain && !n.w.power || n.w.IntN(3) > 0
	for _, t := range modelTokens {
		row, _ := n.w.state().Row(t)
		n.intact = n.intact || row.Holds(n.id) && !n.w.spare(row, t, n.id)
	}
	if n.intact {
		return
	}
	n.lost, n.doubt = true, true
	for _, t := range modelTokens {
		list := n.data[t]
		n.data[t] = slices.Clone(list[:n.w.IntN(len(list)+1)])
	}
}

// spare reports whether another member has all that was acknowledged of a key, and may say so:
// who does not know whether it has is taken for one that has not.
func (w *world) spare(row *table.Row, t ring.Token, but string) bool {
	for m := range row.Copies() {
		shown, list := w.past[t].shown, w.node(m).data[t]
		if m != but && !w.node(m).doubt && (w.node(m).up || w.node(m).intact) && len(list) >= len(shown) && slices.Equal(shown, list[:len(shown)]) {
			return true
		}
	}
	return false
}

func (n *mnode) actions() []action {
	var all []action
	w := n.w
	add := func(class, name string, do func()) {
		if w.looks(class) {
			all = append(all, act(class, n.id+" "+name, do))
		}
	}
	if !n.up {
		add("start", "starts", func() {
			n.begin(n.start + 1)
			if !w.plain {
				n.applied = w.IntN(n.applied + 1)
			}
		})
		// What it had sent is still under way.
		all = append(all, n.wire()...)
		return all
	}
	add("crash", "crashes", n.crash)
	if n.asleep {
		add("wake", "goes on", func() { n.asleep = false })
		return append(all, n.wire()...)
	}
	add("sleep", "stands still", func() { n.asleep = true })
	if n.applied < len(w.states)-1 {
		add("apply", w.name("knows of state %d", n.applied+1), n.apply)
	}
	if !n.registered && n.start > 0 {
		add("task", "registers", func() {
			n.registered = true
			intact := !n.doubt || w.out.model.lossIsIntact
			n.propose(&table.Register{Node: n.id, Incarnation: n.start, Server: n.id, Intact: intact}, 0, func(err error, known bool) {
				n.registered = err == nil || !known && n.w.IntN(2) == 0
			})
		})
	}
	if !n.current() {
		return append(all, n.wire()...)
	}
	for i, t := range n.tasks {
		if t.ready() {
			add("task", t.name, func() {
				n.tasks = slices.Delete(n.tasks, i, i+1)
				t.run()
			})
		}
	}
	add("elect", "is elected", func() {
		w.term++
		w.starts[w.term] = len(w.states) - 1
		n.leads = w.term
	})
	if n.leads != 0 && n.leads != w.term {
		add("learn of", "learns that it leads no more", func() { n.leads = 0; n.granter.EndTerm() })
	}
	if w.looks("sweep") {
		if foreign := n.foreign(); len(foreign) > 0 {
			add("sweep", "drops what it does not need", func() {
				for _, t := range foreign {
					delete(n.data, t)
				}
			})
		}
	}
	if w.looks("forget") {
		for _, s := range n.order {
			if len(s.rows) > 0 && !s.isFollowing() {
				add("forget", fmt.Sprint("how it followed ", s.node, s.incarnation), s.dropEnded)
			}
		}
	}
	all = append(all, n.leasing()...)
	all = append(all, n.wire()...)
	all = append(all, n.growing()...)
	all = append(all, n.serving()...)
	late := n.off.overdueSessions(n.real(), time.Second)
	slices.SortFunc(late, func(a, b *session) int { return strings.Compare(a.node, b.node) })
	for _, l := range late {
		add("overdue", l.node, func() { n.cutLine(l, "overdue") })
	}
	for _, d := range n.off.pendingReleases(n.state()) {
		add("dismiss", d.node, func() { n.propose(&table.Release{Node: d.node, Rows: d.rows}, 0, nil) })
	}
	return all
}

// apply takes in one more state.
func (n *mnode) apply() {
	n.applied++
	if !n.current() {
		return
	}
	n.doubt = false // what it has is what it is registered with
	st := n.state()
	n.advance(func(h *lease.Holder) { h.ApplyIndex(st.Index()) })
	n.turn()
	n.unlearned()
}

// turn brings the office in line with the state.
func (n *mnode) turn() {
	st := n.state()
	if st == n.seen || !n.current() {
		return
	}
	u := n.off.planTransition(st, func(r ring.Range) bool {
		return slices.ContainsFunc(n.stills, func(s ring.Range) bool { return spans.Within(r, s) })
	})
	n.take(u, st, nil)
	n.seen = st
	n.open(u.begun)
}

func (n *mnode) take(u *transition, st *table.State, then func()) {
	for _, m := range u.moves {
		for _, t := range modelTokens {
			if m.r.Contains(t) {
				n.taps[t] = m.quorum
			}
		}
	}
	if then != nil {
		then()
	}
	fresh, ended := n.off.applyTransition(u, st)
	for _, l := range fresh {
		n.lines[l] = &mline{l: l, asks: map[uint64]*question{}}
	}
	for _, l := range ended {
		n.drop(l)
		delete(n.lines, l)
	}
	for l := range n.lines {
		if l.endReason != "" {
			n.drop(l)
		}
	}
	for _, node := range slices.Sorted(maps.Keys(n.off.sessions)) {
		l := n.off.sessions[node]
		var rows []joinRow
		for _, t := range u.rebounded {
			if slices.Contains(t.members, node) {
				rows = append(rows, joinRow{Ref: t.Ref})
			}
		}
		if len(rows) > 0 {
			n.off.send(l, &feedFrame{kind: kindJoin, rows: rows}, n.real())
		}
	}
	n.off.collectAcked()
	n.off.takeSettled()
	n.off.retired = append(n.off.retired, u.lost...)
	for _, q := range u.lost {
		n.ops = slices.DeleteFunc(n.ops, func(o *op) bool { return o.q == q })
	}
}

func (n *mnode) drop(l *session) {
	if fl := n.lines[l]; fl != nil && fl.conn != nil {
		fl.conn.dead = true
		fl.conn = nil
	}
}

func (n *mnode) cutLine(l *session, why string) {
	n.off.endSession(l, why)
	n.drop(l)
}

// open has the members of rows that begin a term join them.
func (n *mnode) open(ts []*rowTerm) {
	by := map[string][]*rowTerm{}
	for _, t := range ts {
		for _, s := range n.order {
			s.endTerms(t.Range, t.Epoch)
		}
		for _, m := range t.members {
			by[m] = append(by[m], t)
		}
	}
	for _, m := range slices.Sorted(maps.Keys(by)) {
		l, rows := n.off.sessions[m], by[m]
		if l == nil || l.endReason != "" {
			continue
		}
		fl := n.lines[l]
		n.tasks = append(n.tasks, &mtask{"opens with " + m, func() bool { return fl.there && l.endReason == "" }, func() { n.bring(fl, rows) }, []any{l.id, rows}})
	}
}

// An mformer is a standing as a former.
type mformer struct{ *backupState }

func (f mformer) tailAfter(upTo uint64, rows []originRow) ([]bool, [][]byte, error) {
	return f.backupState.tailAfter(upTo, rows, cutModel)
}

// cutModel is a cut of batches, each of which is of one key.
func cutModel(batch []byte, to []ring.Range) ([]byte, error) {
	t := tokenOfBatch(batch)
	if !slices.ContainsFunc(to, func(r ring.Range) bool { return r.Contains(t) }) {
		return nil, nil
	}
	return batch, nil
}

func (n *mnode) origin(r ring.Range, epoch uint64) (predecessor, bool) {
	for _, s := range n.order {
		if s.hasFollowed(r, epoch) {
			return mformer{s}, true
		}
	}
	return nil, false
}

// bring is what feeds.bring does.
func (n *mnode) bring(fl *mline, ts []*rowTerm) {
	c := n.off.planOpening(ts, n.origin)
	if len(c.predecessors) == 0 {
		n.admitAll(fl, c.joinable, c.rejected, nil)
		return
	}
	f := &feedFrame{kind: kindQuestion}
	n.off.send(fl.l, f, n.real())
	fl.asks[f.seq] = &c.question
	n.tasks = append(n.tasks, &mtask{"hears what " + fl.l.node + " has", func() bool { return fl.asked == f.seq && fl.l.endReason == "" }, func() {
		tails, err := c.handleReport(fl.answer)
		if err != nil {
			n.w.fail("%v", err)
		}
		n.admitAll(fl, c.joinable, c.rejected, tails)
	}, []any{fl.l.id, f.seq, c}})
}

func (n *mnode) admitAll(fl *mline, direct, reject []*rowTerm, tails [][]byte) {
	for _, t := range reject {
		if n.off.currentTerm(t) != nil {
			n.off.reject(fl.l.node, t)
		}
	}
	var rows []joinRow
	var joined []*rowTerm
	for _, t := range direct {
		if now := n.off.currentTerm(t); now != nil && slices.Contains(now.notJoined, fl.l.node) {
			rows = append(rows, joinRow{Ref: now.Ref})
			joined = append(joined, now)
		}
	}
	if len(rows) == 0 || fl.l.endReason != "" {
		return
	}
	if len(tails) > 0 {
		n.off.send(fl.l, &feedFrame{kind: kindCatchUp, rows: rows}, n.real())
		for _, b := range tails {
			n.off.send(fl.l, &feedFrame{kind: kindBatch, body: b}, n.real())
		}
	}
	n.off.send(fl.l, &feedFrame{kind: kindJoin, rows: rows}, n.real())
	k := fl.l.sent
	n.tasks = append(n.tasks, &mtask{"is joined by " + fl.l.node, func() bool { return fl.l.acked >= k && fl.l.endReason == "" }, func() {
		n.off.markJoined(fl.l.node, joined)
	}, []any{fl.l.id, k, joined}})
}

// A batch says which list becomes how long by which number: as a value that is replaced,
// what comes again undoes what came after it. A number that is missing below is 0.
func pack(t ring.Token, place int, id uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(t)), uint32(place)), id)
}

func tokenOfBatch(b []byte) ring.Token { return ring.Token(binary.BigEndian.Uint32(b)) }

// takeIn applies a batch.
func (n *mnode) takeIn(b []byte) {
	t := tokenOfBatch(b)
	n.data[t] = taken(n.data[t], b)
}

// taken is a list after a batch.
func taken(list []uint64, b []byte) []uint64 {
	place := int(binary.BigEndian.Uint32(b[4:]))
	list = slices.Clone(list)
	for len(list) < place {
		list = append(list, 0)
	}
	return append(list[:place], binary.BigEndian.Uint64(b[8:]))
}

// serves reports whether clients are let in to a key here.
func (n *mnode) serves(t ring.Token) (*table.Row, bool) {
	row, ok := n.state().Row(t)
	if !ok || !n.off.isOwn(row) || n.held[row.Range] {
		return nil, false
	}
	return row, n.off.serves(row) && n.valid()
}

func (n *mnode) valid() bool { return n.clock() < n.until }

// serving is what clients may do here.
func (n *mnode) serving() []action {
	var all []action
	w := n.w
	for _, t := range modelTokens {
		if !w.looks("write") && !w.looks("read") {
			break
		}
		if _, ok := n.serves(t); !ok {
			continue
		}
		name := w.name("%s %08x", n.id, uint32(t))
		all = append(all, act("write", name, func() {
			w.ids++
			o := &op{token: t, id: w.ids, at: n.id, floor: len(w.past[t].shown), spell: n.spell}
			n.write(o)
		}), act("read", name, func() {
			m := n.newest[t]
			o := &op{read: true, token: t, at: n.id, floor: len(w.past[t].shown), spell: n.spell, list: slices.Clone(n.data[t]), q: m.q, n: m.n}
			if w.out.model.readsAtOnce {
				o.q = nil
			}
			n.ops = append(n.ops, o)
		}))
	}
	for i, o := range n.ops {
		if o.q != nil && o.q.acked < o.n {
			continue
		}
		all = append(all, act("reply", w.name("%s %08x", n.id, uint32(o.token)), func() {
			n.ops = slices.Delete(n.ops, i, i+1)
			if w.out.model.noLeaseCheck || n.valid() && (o.spell == n.spell || w.out.lease.SameInterval) {
				w.answer(o)
			}
		}))
	}
	return all
}

func (n *mnode) write(o *op) {
	batch := pack(o.token, len(n.data[o.token]), o.id)
	n.takeIn(batch)
	o.list = n.data[o.token]
	if q := n.taps[o.token]; q != nil {
		o.q, o.n = q, n.off.lastChange+1
		n.newest[o.token] = mark{q, o.n}
		n.off.addChange(q, o.n, batch, n.real())
	} else {
		delete(n.newest, o.token)
	}
	for _, c := range n.copies {
		if !c.ended && c.row.Range.Contains(o.token) {
			c.queue = append(c.queue, mpiece{batch: batch})
		}
	}
	n.ops = append(n.ops, o)
}

var errModelLost = errors.New("the row is not followed")

// wire is what happens to this node's connections to members.
func (n *mnode) wire() []action {
	var all []action
	w := n.w
	for _, l := range n.linesInOrder() {
		fl := n.lines[l]
		name := w.name("%s to %s", n.id, l.node)
		to := w.node(l.node)
		open := to.awake() && w.linked(n.id, to.id) && w.linked(to.id, n.id)
		if c := fl.conn; c != nil {
			all = append(all, c.actions(name)...)
			if w.looks("break") {
				all = append(all, act("break", name, func() { c.dead = true; fl.conn = nil }))
			}
			if fl.conn != nil && n.awake() && len(fl.frames) > 0 && w.linked(n.id, to.id) {
				if f := fl.frames[len(fl.frames)-1]; c.next <= f.seq && (fl.corked == 0 || c.next <= fl.corked) {
					all = append(all, act("push", name, func() {
						i := slices.IndexFunc(fl.frames, func(f *feedFrame) bool { return f.seq == c.next })
						if i < 0 {
							return
						}
						c.flight = append(c.flight, fl.frames[i])
						c.next++
					}))
				}
			}
			continue
		}
		if open && n.awake() && l.endReason == "" && to.current() {
			all = append(all, act("connect", name, func() { n.connect(fl, to) }))
		}
	}
	// Connections whose primary has ended or given them up: what is in them arrives.
	for _, c := range w.loose {
		if c.from == n {
			all = append(all, c.actions(n.id+" (old) to "+c.to.id)...)
		}
	}
	return all
}

func (n *mnode) linesInOrder() []*session {
	var all []*session
	for l := range n.lines {
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b *session) int {
		if a.node != b.node {
			return map[bool]int{true: -1, false: 1}[a.node < b.node]
		}
		return int(a.id) - int(b.id)
	})
	return all
}

func (n *mnode) connect(fl *mline, to *mnode) {
	if to.start != fl.l.incarnation {
		n.cutLine(fl.l, "another start")
		return
	}
	if m, ok := to.state().Node(n.id); ok && m.Incarnation > n.start {
		n.cutLine(fl.l, "refused: started again")
		return
	}
	key := lease.NodeStart{Node: n.id, Incarnation: n.start}
	s := to.stand(key)
	for _, c := range n.w.loose {
		if c.s == s {
			c.dead = true // a new connection ends the one before
		}
	}
	have, err := s.beginSession(fl.l.id)
	if err != nil {
		n.cutLine(fl.l, err.Error())
		return
	}
	n.heard(fl, have)
	if fl.l.endReason != "" {
		return
	}
	fl.there = true
	fl.conn = &mconn{fl: fl, from: n, start: n.start, to: to, at: to.start, s: s, next: have + 1}
	n.w.loose = append(slices.DeleteFunc(n.w.loose, func(c *mconn) bool { return c.dead && len(c.flight) == 0 }), fl.conn)
}

// stand is the node's standing with one start of another.
func (n *mnode) stand(of lease.NodeStart) *backupState {
	s := n.stands[of]
	if s == nil {
		s = &backupState{node: of.Node, incarnation: of.Incarnation, rules: n.w.out.feed}
		n.stands[of] = s
		n.order = append(n.order, s)
	}
	return s
}

func (n *mnode) heard(fl *mline, k uint64) {
	if _, ok := n.off.handleAck(fl.l, k, n.real()); !ok {
		n.cutLine(fl.l, "a wrong acknowledgement")
		return
	}
	fl.frames = slices.DeleteFunc(fl.frames, func(f *feedFrame) bool { return f.seq <= k })
	n.off.takeSettled()
}

// actions are what may happen to what is in a connection.
func (c *mconn) actions(name string) []action {
	var all []action
	w := c.from.w
	if len(c.flight) > 0 && c.to.awake() && c.to.start == c.at && w.linked(c.from.id, c.to.id) && c.s.session == c.session() {
		all = append(all, act("take", name, func() {
			f := c.flight[0]
			c.flight = c.flight[1:]
			c.take(f)
		}))
	}
	if len(c.back) > 0 && !c.dead && c.from.awake() && c.from.start == c.start && w.linked(c.to.id, c.from.id) {
		all = append(all, act("hear", name, func() {
			r := c.back[0]
			c.back = c.back[1:]
			c.hear(r)
		}))
	}
	return all
}

func (c *mconn) session() uint64 { return c.fl.l.id }

// take is a member's part: see feedSession.
func (c *mconn) take(f *feedFrame) {
	m, s := c.to, c.s
	fail := func(err error) {
		s.endSession(err)
		c.flight = nil
		c.back = append(c.back, mreply{ended: err.Error()})
	}
	s.applyTable(m.state())
	switch f.kind {
	case kindJoin, kindCatchUp:
		worst := accepted
		for i := range f.rows {
			if v := s.checkJoin(m.state(), m.id, &f.rows[i]); v == refused || v == retryLater && worst == accepted {
				worst = v
			}
		}
		switch worst {
		case retryLater:
			if !m.w.plain && m.w.IntN(4) == 0 {
				fail(ErrNotFollowed)
			} else {
				c.flight = append([]*feedFrame{f}, c.flight...)
			}
			return
		case refused:
			fail(ErrNotFollowed)
			return
		}
		m.turn()
		m.off.dropLearnedRows(f.rows)
	}
	if err := s.acceptFrame(f); err != nil {
		fail(err)
		return
	}
	m.w.say("  %s takes from %s %d: kind %d, k %d, n %d, rows %v, %v", m.id, s.node, s.incarnation, f.kind, f.seq, f.change, f.rows, f.body)
	m.w.count[map[frame.Kind]string{kindJoin: "joined", kindCatchUp: "brought", kindBatch: "batch", kindQuestion: "asked"}[f.kind]]++
	switch f.kind {
	case kindJoin, kindCatchUp:
		s.join(f.rows, f.kind == kindJoin)
	case kindBatch:
		t := tokenOfBatch(f.body)
		in := slices.ContainsFunc(s.ranges(), func(r ring.Range) bool { return r.Contains(t) })
		if !in && m.w.out.feed.Enforced(rules.Joined) {
			fail(errModelLost)
			return
		}
		m.takeIn(f.body)
	case kindQuestion:
		c.back = append(c.back, mreply{k: f.seq, answer: m.report(c.fl.asks[f.seq])})
	}
	c.back = append(c.back, mreply{k: f.seq})
}

// hear is the primary's part.
func (c *mconn) hear(r mreply) {
	switch {
	case r.ended != "":
		c.from.cutLine(c.fl.l, r.ended)
	case r.answer != nil:
		c.fl.answer, c.fl.asked = r.answer, r.k
	default:
		c.from.heard(c.fl, r.k)
	}
}

// report is what Engine.answer says.
func (n *mnode) report(q *question) *report {
	r := new(report)
	for i := range q.Origins {
		o := &q.Origins[i]
		one := originReport{Rows: make([]bool, len(o.Rows))}
		if o.Node == n.id && o.Incarnation == n.start {
			one.Last = ^uint64(0)
			for j := range one.Rows {
				one.Rows[j] = true
			}
		} else if s := n.stands[lease.NodeStart{Node: o.Node, Incarnation: o.Incarnation}]; s != nil {
			one, _ = s.report(o, cutModel)
		}
		r.Origins = append(r.Origins, one)
	}
	return r
}
