package feed

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/replica/internal/rules"
	"github.com/ringside-kv/ringside/replica/internal/spans"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// A primaryState is what a node decides as the primary of its rows: whose word a change
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
type primaryState struct {
	self        string
	incarnation uint64
	rules       rules.Set
	minInSync   int // how many members a set needs, with its primary, to take writes
	output      func(*session, *feedFrame)

	lastChange  uint64              // number of the newest change
	sessions    map[string]*session // by member
	quorums     map[string]*quorum
	retired     []*quorum  // that have no rows any more, and changes that are open
	terms       []*rowTerm // in the order of their starts
	lastSession uint64     // that lines have had
	// learned came here by a stream, and nobody was followed there since.
	learned []ring.Range
}

// A session is what one member is sent, and has acknowledged.
type session struct {
	node           string
	incarnation    uint64
	id             uint64
	sent           uint64
	acked          uint64
	unacked        []unackedFrame // those between
	unackedChanges int            // of them
	lastAck        time.Time      // when it acknowledged something last
	pins           int            // by those who are about to make it count
	// endReason says why nothing is sent any more, and stuck what was acknowledged then.
	endReason  string
	ackedAtEnd uint64
}

// An unackedFrame is one that is not acknowledged.
type unackedFrame struct {
	receivedBelow uint64 // up to what changes are acknowledged if this frame is the first that is not
	change        bool
	sentAt        time.Time
	size          int
}

// A quorum is some members whose word the changes of some rows need.
type quorum struct {
	key          string
	members      []string
	lastChange   uint64 // number of the newest change
	acked        uint64
	rows         int
	formerRanges []ring.Range // rows that it had before it was retired
	tap          Tap
}

// A rowTerm is this node's term as the primary of a row, as it is by one state of the
// table; its term goes on from state to state.
type rowTerm struct {
	table.Ref
	backups []string // by the table
	members []string // whose word is needed, in order: the backups and those who count
	quorum  *quorum  // nil if nobody's is
	*termState
}

type termState struct {
	counted   []learner
	notJoined []string // members that have not joined
	rejected  []string // who can only come back as a learner
	// open tells that clients are let in: once all members had joined.
	open    bool
	learned bool // it came by a handoff: everybody had everything
	// obligations is what was given to other quorums, when the row was of those.
	obligations []obligation
}

// An obligation is what a quorum was given up to a number.
type obligation struct {
	quorum *quorum
	number uint64
}

func (p obligation) isMet() bool { return p.quorum.acked >= p.number }

// A learner that counts.
type learner struct {
	node        string
	incarnation uint64
}

func newPrimaryState(self string, incarnation uint64, send func(*session, *feedFrame)) *primaryState {
	return &primaryState{
		self: self, incarnation: incarnation, output: send,
		sessions: make(map[string]*session), quorums: make(map[string]*quorum),
	}
}

// emit sends a frame on a line.
func (p *primaryState) send(l *session, f *feedFrame, now time.Time) {
	if l.endReason != "" {
		return
	}
	l.sent++
	f.seq, f.change, f.highWater = l.sent, p.lastChange, p.highWater()
	open := unackedFrame{receivedBelow: p.lastChange, sentAt: now, size: len(f.body)}
	if f.kind == kindBatch {
		if !f.soleMember {
			// Nobody has it yet, whoever else is still to be sent it.
			f.highWater = min(f.highWater, max(p.lastChange, 1)-1)
		}
		// What is brought may come before the first change of all.
		open.receivedBelow, open.change = max(p.lastChange, 1)-1, true
		l.unackedChanges++
	}
	l.unacked = append(l.unacked, open)
	p.output(l, f)
}

// give takes in a change of a quorum's rows. Numbers rise.
func (p *primaryState) addChange(q *quorum, n uint64, batch []byte, now time.Time) {
	p.lastChange, q.lastChange = n, n
	for _, m := range q.members {
		if l := p.sessions[m]; l != nil {
			p.send(l, &feedFrame{kind: kindBatch, body: batch, soleMember: len(q.members) == 1}, now)
		}
	}
}

// floor is the number up to which a member has all that it was to get.
func (s *session) receivedUpTo() uint64 {
	switch {
	case s.endReason != "":
		return s.ackedAtEnd
	case len(s.unacked) > 0:
		return s.unacked[0].receivedBelow
	}
	return ^uint64(0)
}

// highWater is the number up to which all members have everything.
func (p *primaryState) highWater() uint64 {
	high := p.lastChange
	for _, l := range p.sessions {
		high = min(high, l.receivedUpTo())
	}
	return high
}

// An ackAdvance is what a quorum has acknowledged by now.
type ackAdvance struct {
	tap    Tap
	number uint64
}

// heard takes in that a member has everything up to a frame. ok is false if that cannot
// be.
func (p *primaryState) handleAck(l *session, k uint64, now time.Time) (freed []ackAdvance, ok bool) {
	if k < l.acked || k > l.sent {
		return nil, false
	}
	if l.endReason != "" || k == l.acked {
		return nil, true
	}
	n := int(k - l.acked)
	for i := range n {
		if l.unacked[i].change {
			l.unackedChanges--
		}
	}
	l.unacked = l.unacked[n:]
	l.acked, l.lastAck = k, now
	return p.collectAcked(), true
}

// collectAcked finds what is acknowledged by now and was not.
func (p *primaryState) collectAcked() (freed []ackAdvance) {
	check := func(q *quorum) {
		if upTo := p.ackedUpTo(q); upTo > q.acked {
			q.acked = upTo
			freed = append(freed, ackAdvance{q.tap, upTo})
		}
	}
	for _, q := range p.quorums {
		check(q)
	}
	for _, q := range p.retired {
		check(q)
	}
	return freed
}

// ackedUpTo is the number up to which a quorum's changes are acknowledged.
func (p *primaryState) ackedUpTo(q *quorum) uint64 {
	if p.lacksMembers(q) {
		return q.acked
	}
	return p.receivedUpTo(q)
}

// receivedUpTo is the number up to which all members of a quorum have its changes, be they
// enough or not.
func (p *primaryState) receivedUpTo(q *quorum) uint64 {
	upTo := q.lastChange
	if !p.rules.Enforced(rules.All) && len(q.members) > 0 {
		upTo = 0
		for _, m := range q.members {
			upTo = max(upTo, min(q.lastChange, p.sessions[m].receivedUpTo()))
		}
		return upTo
	}
	for _, m := range q.members {
		l := p.sessions[m]
		switch {
		case l == nil:
			return q.acked // nobody may leave without a word of the table
		case l.endReason != "" && !p.rules.Enforced(rules.Release):
			continue
		}
		upTo = min(upTo, l.receivedUpTo())
	}
	return max(upTo, q.acked)
}

// short tells whether a quorum has too few members to acknowledge anything. What it was
// given while it had more is acknowledged once its rows have others.
func (p *primaryState) lacksMembers(q *quorum) bool {
	if 1+len(q.members) >= p.minInSync {
		return false
	}
	if q.rows > 0 || len(q.formerRanges) == 0 {
		return true
	}
	for _, r := range q.formerRanges {
		for _, t := range p.overlapping(r) {
			if 1+len(t.backups) < p.minInSync {
				return true
			}
		}
	}
	return false
}

// endSession ends a line: its member is to be released from all its sets.
func (p *primaryState) endSession(l *session, why string) {
	if l.endReason == "" {
		l.ackedAtEnd = min(l.receivedUpTo(), p.lastChange)
		l.endReason = why
		l.unacked, l.unackedChanges = nil, 0
	}
}

// overdue are the lines of whose frames none has been acknowledged for too long. What is long may
// take a while more to travel.
func (p *primaryState) overdueSessions(now time.Time, patience time.Duration) (late []*session) {
	const pace = 20 << 20 // bytes a second
	for _, l := range p.sessions {
		if l.endReason != "" || len(l.unacked) == 0 {
			continue
		}
		first, since := &l.unacked[0], l.unacked[0].sentAt
		if since.Before(l.lastAck) {
			since = l.lastAck
		}
		more := time.Duration(float64(first.size) / pace * float64(time.Second))
		if now.Sub(since) > patience+more {
			late = append(late, l)
		}
	}
	return late
}

// beat has every member say that it is there.
func (p *primaryState) sendHeartbeats(now time.Time) {
	for _, l := range p.sessions {
		if l.endReason == "" && (len(l.unacked) == 0 || l.unacked[len(l.unacked)-1].change) {
			p.send(l, &feedFrame{kind: kindHeartbeat, pending: uint64(l.unackedChanges)}, now)
		}
	}
}

// termAt finds the tenure that holds a token.
func (p *primaryState) termAt(t ring.Token) *rowTerm {
	i, found := slices.BinarySearchFunc(p.terms, t, func(x *rowTerm, t ring.Token) int { return cmp.Compare(x.Range.Start, t) })
	if !found {
		i--
	}
	if i < 0 {
		i = len(p.terms) - 1
	}
	if i < 0 || !p.terms[i].Range.Contains(t) {
		return nil
	}
	return p.terms[i]
}

// serves tells whether a row, as the table has it, is open to clients.
func (p *primaryState) serves(row *table.Row) bool {
	t := p.termAt(row.Range.Start)
	return t != nil && t.open && t.Range == row.Range && t.Epoch == row.Epoch && t.Lineage == row.Lineage
}

// overlapping are the tenures that have a part in a range.
func (p *primaryState) overlapping(r ring.Range) (all []*rowTerm) {
	n := len(p.terms)
	if n == 0 {
		return nil
	}
	i, found := slices.BinarySearchFunc(p.terms, r.Start, func(x *rowTerm, t ring.Token) int { return cmp.Compare(x.Range.Start, t) })
	if !found { // the one before may reach into it
		i += n - 1
	}
	for j := range n {
		t := p.terms[(i+j)%n]
		switch {
		case spans.Overlap(t.Range, r):
			all = append(all, t)
		case j > 0 || found:
			return all
		}
	}
	return all
}

// quorumOf returns the quorum of some members, which are in order; nil if what they
// write needs nobody's word.
func (p *primaryState) quorumOf(members []string) *quorum {
	if len(members) == 0 && p.minInSync <= 1 {
		return nil
	}
	names := strings.Join(members, "\x00")
	q := p.quorums[names]
	if q == nil {
		q = &quorum{key: names, members: members}
		p.quorums[names] = q
	}
	return q
}
