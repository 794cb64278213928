package replica

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// An office is what a node decides as the primary of its rows: whose word a change
// needs, what that word covers, and who has to be released. It has no clock and no
// network and is guarded by whoever uses it: send is called for every frame that a
// member is to get.
//
// Invariants:
//   - A line's frames are numbered 1, 2, 3 … and sent in that order. A frame carries the
//     number of the newest change that its member needs, all of which are in the frames
//     up to it.
//   - A change is acknowledged when each member of the set that it was given to has
//     acknowledged the frame that it came in. Who leaves a set is waited for until the
//     table says that it has left; then what waited is judged by those who remain.
type office struct {
	self        string
	incarnation uint64
	out         rules
	min         int // how many members a set needs, with its primary, to take writes
	send        func(*line, *feedFrame)

	last     uint64           // number of the newest change
	lines    map[string]*line // by member
	sets     map[string]*quorum
	old      []*quorum // that have no rows any more, and changes that are open
	tenures  []*tenure // in the order of their starts
	sessions uint64    // that lines have had
	// learned came here by a stream, and nobody was followed there since.
	learned []ring.Range
}

// A line is what one member is sent, and has acknowledged.
type line struct {
	node        string
	incarnation uint64
	session     uint64
	sent        uint64
	acked       uint64
	open        []openFrame // those between
	changes     int         // of them
	heard       time.Time   // when it acknowledged something last
	pinned      int         // by those who are about to make it count
	// broken says why nothing is sent any more, and stuck what was acknowledged then.
	broken string
	stuck  uint64
}

// An openFrame is one that is not acknowledged.
type openFrame struct {
	below  uint64 // up to what changes are acknowledged if this frame is the first that is not
	change bool
	since  time.Time
	size   int
}

// A quorum is some members whose word the changes of some rows need.
type quorum struct {
	names   string
	members []string
	given   uint64 // number of the newest change
	acked   uint64
	rows    int
	left    []ring.Range // rows that it had before it was retired
	follow  Following
}

// A tenure is this node's term as the primary of a row, as it is by one state of the
// table; its term goes on from state to state.
type tenure struct {
	table.Ref
	backups []string // by the table
	members []string // whose word is needed, in order: the backups and those who count
	set     *quorum  // nil if nobody's is
	*term
}

type term struct {
	counted  []learner
	missing  []string // members that have not joined
	rejected []string // who can only come back as a learner
	// open tells that clients are let in: once all members had joined.
	open    bool
	learned bool // it came by a handoff: everybody had everything
	// before is what was given to other quorums, when the row was of those.
	before []promise
}

// A promise is what a quorum was given up to a number.
type promise struct {
	to     *quorum
	number uint64
}

func (p promise) kept() bool { return p.to.acked >= p.number }

// A learner that counts.
type learner struct {
	node        string
	incarnation uint64
}

func newOffice(self string, incarnation uint64, send func(*line, *feedFrame)) *office {
	return &office{
		self: self, incarnation: incarnation, send: send,
		lines: make(map[string]*line), sets: make(map[string]*quorum),
	}
}

// emit sends a frame on a line.
func (o *office) emit(l *line, f *feedFrame, now time.Time) {
	if l.broken != "" {
		return
	}
	l.sent++
	f.k, f.n, f.high = l.sent, o.last, o.high()
	open := openFrame{below: o.last, since: now, size: len(f.body)}
	if f.kind == feedBatch {
		if !f.single {
			// Nobody has it yet, whoever else is still to be sent it.
			f.high = min(f.high, max(o.last, 1)-1)
		}
		// What is brought may come before the first change of all.
		open.below, open.change = max(o.last, 1)-1, true
		l.changes++
	}
	l.open = append(l.open, open)
	o.send(l, f)
}

// give takes in a change of a quorum's rows. Numbers rise.
func (o *office) give(q *quorum, n uint64, batch []byte, now time.Time) {
	o.last, q.given = n, n
	for _, m := range q.members {
		if l := o.lines[m]; l != nil {
			o.emit(l, &feedFrame{kind: feedBatch, body: batch, single: len(q.members) == 1}, now)
		}
	}
}

// floor is the number up to which a member has all that it was to get.
func (l *line) floor() uint64 {
	switch {
	case l.broken != "":
		return l.stuck
	case len(l.open) > 0:
		return l.open[0].below
	}
	return ^uint64(0)
}

// high is the number up to which all members have everything.
func (o *office) high() uint64 {
	high := o.last
	for _, l := range o.lines {
		high = min(high, l.floor())
	}
	return high
}

// An acked is what a quorum has acknowledged by now.
type acked struct {
	to     Following
	number uint64
}

// heard takes in that a member has everything up to a frame. ok is false if that cannot
// be.
func (o *office) heard(l *line, k uint64, now time.Time) (freed []acked, ok bool) {
	if k < l.acked || k > l.sent {
		return nil, false
	}
	if l.broken != "" || k == l.acked {
		return nil, true
	}
	n := int(k - l.acked)
	for i := range n {
		if l.open[i].change {
			l.changes--
		}
	}
	l.open = l.open[n:]
	l.acked, l.heard = k, now
	return o.freed(), true
}

// freed finds what is acknowledged by now and was not.
func (o *office) freed() (freed []acked) {
	check := func(q *quorum) {
		if upTo := o.covered(q); upTo > q.acked {
			q.acked = upTo
			freed = append(freed, acked{q.follow, upTo})
		}
	}
	for _, q := range o.sets {
		check(q)
	}
	for _, q := range o.old {
		check(q)
	}
	return freed
}

// covered is the number up to which a quorum's changes are acknowledged.
func (o *office) covered(q *quorum) uint64 {
	if o.short(q) {
		return q.acked
	}
	return o.arrived(q)
}

// arrived is the number up to which all members of a quorum have its changes, be they
// enough or not.
func (o *office) arrived(q *quorum) uint64 {
	upTo := q.given
	if !o.out.apply(ruleAll) && len(q.members) > 0 {
		upTo = 0
		for _, m := range q.members {
			upTo = max(upTo, min(q.given, o.lines[m].floor()))
		}
		return upTo
	}
	for _, m := range q.members {
		l := o.lines[m]
		switch {
		case l == nil:
			return q.acked // nobody may leave without a word of the table
		case l.broken != "" && !o.out.apply(ruleRelease):
			continue
		}
		upTo = min(upTo, l.floor())
	}
	return max(upTo, q.acked)
}

// short tells whether a quorum has too few members to acknowledge anything. What it was
// given while it had more is acknowledged once its rows have others.
func (o *office) short(q *quorum) bool {
	if 1+len(q.members) >= o.min {
		return false
	}
	if q.rows > 0 || len(q.left) == 0 {
		return true
	}
	for _, r := range q.left {
		for _, t := range o.overlapping(r) {
			if 1+len(t.backups) < o.min {
				return true
			}
		}
	}
	return false
}

// cut ends a line: its member is to be released from all its sets.
func (o *office) cut(l *line, why string) {
	if l.broken == "" {
		l.stuck = min(l.floor(), o.last)
		l.broken = why
		l.open, l.changes = nil, 0
	}
}

// overdue are the lines of whose frames none has been acknowledged for too long. What is long may
// take a while more to travel.
func (o *office) overdue(now time.Time, patience time.Duration) (late []*line) {
	const pace = 20 << 20 // bytes a second
	for _, l := range o.lines {
		if l.broken != "" || len(l.open) == 0 {
			continue
		}
		first, since := &l.open[0], l.open[0].since
		if since.Before(l.heard) {
			since = l.heard
		}
		more := time.Duration(float64(first.size) / pace * float64(time.Second))
		if now.Sub(since) > patience+more {
			late = append(late, l)
		}
	}
	return late
}

// beat has every member say that it is there.
func (o *office) beat(now time.Time) {
	for _, l := range o.lines {
		if l.broken == "" && (len(l.open) == 0 || l.open[len(l.open)-1].change) {
			o.emit(l, &feedFrame{kind: feedBeat, pending: uint64(l.changes)}, now)
		}
	}
}

// tenureAt finds the tenure that holds a token.
func (o *office) tenureAt(t ring.Token) *tenure {
	i, found := slices.BinarySearchFunc(o.tenures, t, func(x *tenure, t ring.Token) int { return cmp.Compare(x.Range.Start, t) })
	if !found {
		i--
	}
	if i < 0 {
		i = len(o.tenures) - 1
	}
	if i < 0 || !o.tenures[i].Range.Contains(t) {
		return nil
	}
	return o.tenures[i]
}

// serves tells whether a row, as the table has it, is open to clients.
func (o *office) serves(row *table.Row) bool {
	t := o.tenureAt(row.Range.Start)
	return t != nil && t.open && t.Range == row.Range && t.Epoch == row.Epoch && t.Lineage == row.Lineage
}

// overlapping are the tenures that have a part in a range.
func (o *office) overlapping(r ring.Range) (all []*tenure) {
	n := len(o.tenures)
	if n == 0 {
		return nil
	}
	i, found := slices.BinarySearchFunc(o.tenures, r.Start, func(x *tenure, t ring.Token) int { return cmp.Compare(x.Range.Start, t) })
	if !found { // the one before may reach into it
		i += n - 1
	}
	for j := range n {
		t := o.tenures[(i+j)%n]
		switch {
		case touches(t.Range, r):
			all = append(all, t)
		case j > 0 || found:
			return all
		}
	}
	return all
}

func touches(a, b ring.Range) bool { return a.Contains(b.Start) || b.Contains(a.Start) }

// quorumOf returns the quorum of some members, which are in order; nil if what they
// write needs nobody's word.
func (o *office) quorumOf(members []string) *quorum {
	if len(members) == 0 && o.min <= 1 {
		return nil
	}
	names := strings.Join(members, "\x00")
	q := o.sets[names]
	if q == nil {
		q = &quorum{names: names, members: members}
		o.sets[names] = q
	}
	return q
}
