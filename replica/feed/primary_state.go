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

// primaryState is the pure state of a primary: which members must acknowledge each change, which
// changes they have acknowledged, and which members must be released. A member of a row is a backup
// of its in-sync set, or a learner that counts already. The state has no clock and does no I/O; the
// caller locks it. output is called for each frame that a member is to receive.
//
// Invariants:
//   - The frames of a session are numbered 1, 2, 3 … and sent in that order. A frame carries the
//     number of the newest change that its member needs; all of these changes are in the frames
//     up to it.
//   - A change is acknowledged when each member of its quorum has acknowledged the frame that
//     carried it. A member that leaves the set is waited for until the table confirms the
//     release; the remaining members then decide about the open changes.
type primaryState struct {
	self        string
	incarnation uint64
	rules       rules.Set
	minInSync   int // size that a set needs to acknowledge writes, the primary included
	output      func(*session, *feedFrame)

	lastChange  uint64              // number of the newest change
	sessions    map[string]*session // by member
	quorums     map[string]*quorum
	retired     []*quorum  // without rows, but with open changes
	terms       []*rowTerm // ordered by the start of their ranges
	lastSession uint64     // id of the newest session
	// learned are ranges that this node received by a copy and has not followed since.
	learned []ring.Range
}

// A session is the numbered stream of frames to one member, and what the member has acknowledged.
type session struct {
	node           string
	incarnation    uint64
	id             uint64
	sent           uint64
	acked          uint64
	unacked        []unackedFrame // frames sent and not acknowledged, in order
	unackedChanges int            // frames among unacked that carry a change
	lastAck        time.Time      // time of the newest acknowledgement
	recentAcks     recentAcks
	pins           int // callers that keep the session although no row needs it
	// endReason is why no frame is sent any more; empty while the session lasts. ackedAtEnd is the
	// change up to which all was acknowledged then.
	endReason  string
	ackedAtEnd uint64
}

// An unackedFrame is a frame that its member has not acknowledged.
type unackedFrame struct {
	receivedBelow uint64 // newest change received if this frame is the first one missing
	change        bool
	sentAt        time.Time
	size          int
}

// A quorum is a set of members that must all acknowledge the changes of some rows. It has one tap
// of the store.
type quorum struct {
	key          string
	members      []string
	lastChange   uint64 // number of its newest change
	acked        uint64
	rows         int
	formerRanges []ring.Range // ranges of its rows before it was retired
	tap          Tap
}

// A rowTerm is the term of this node as primary of a row, by one state of the table. The embedded
// termState is shared by all rowTerms of the same term.
type rowTerm struct {
	table.Ref
	backups []string // by the table
	members []string // that must acknowledge, sorted: the backups and the learners that count
	quorum  *quorum  // nil if no member must acknowledge
	*termState
}

type termState struct {
	counted   []learner
	notJoined []string // members that have not joined the row
	rejected  []string // members that may only return as learners
	// open reports that clients are let in. The row opens once all members have joined it.
	open    bool
	learned bool // the row came by a handoff, when all members had all changes
	// obligations are changes given to other quorums while the row belonged to them.
	obligations []obligation
}

// An obligation is the changes of a quorum up to a number, all of which must be acknowledged.
type obligation struct {
	quorum *quorum
	number uint64
}

func (p obligation) isMet() bool { return p.quorum.acked >= p.number }

// A learner is a node that receives a copy of a row. Writes wait for it once it counts.
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

// send numbers a frame and passes it to the session of a member.
func (p *primaryState) send(l *session, f *feedFrame, now time.Time) {
	if l.endReason != "" {
		return
	}
	l.sent++
	f.seq, f.change, f.highWater = l.sent, p.lastChange, p.highWater()
	open := unackedFrame{receivedBelow: p.lastChange, sentAt: now, size: len(f.body)}
	if f.kind == kindBatch {
		if !f.soleMember {
			// No member has this change yet, whatever the order in which they are sent it.
			f.highWater = min(f.highWater, max(p.lastChange, 1)-1)
		}
		// A tail may be sent before the first change of all.
		open.receivedBelow, open.change = max(p.lastChange, 1)-1, true
		l.unackedChanges++
	}
	l.unacked = append(l.unacked, open)
	p.output(l, f)
}

// addChange passes a change of a quorum's rows to all its members. Numbers rise from call to call.
func (p *primaryState) addChange(q *quorum, n uint64, batch []byte, now time.Time) {
	p.lastChange, q.lastChange = n, n
	for _, m := range q.members {
		if l := p.sessions[m]; l != nil {
			p.send(l, &feedFrame{kind: kindBatch, body: batch, soleMember: len(q.members) == 1}, now)
		}
	}
}

// receivedUpTo returns the number up to which the member has all changes that it needs.
func (s *session) receivedUpTo() uint64 {
	switch {
	case s.endReason != "":
		return s.ackedAtEnd
	case len(s.unacked) > 0:
		return s.unacked[0].receivedBelow
	}
	return ^uint64(0)
}

// highWater returns the number up to which all members have all their changes.
func (p *primaryState) highWater() uint64 {
	high := p.lastChange
	for _, l := range p.sessions {
		high = min(high, l.receivedUpTo())
	}
	return high
}

// An ackAdvance is the number up to which the changes of a tap are now acknowledged.
type ackAdvance struct {
	tap    Tap
	number uint64
}

// handleAck records that a member has all frames up to seq. ok is false if the member cannot have
// them.
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
	l.recentAcks.add(min(l.receivedUpTo(), p.lastChange), now)
	return p.collectAcked(), true
}

// collectAcked returns the quorums whose acknowledged number has risen since the last call.
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

// ackedUpTo returns the number up to which the changes of a quorum are acknowledged.
func (p *primaryState) ackedUpTo(q *quorum) uint64 {
	if p.lacksMembers(q) {
		return q.acked
	}
	return p.receivedUpTo(q)
}

// receivedUpTo returns the number up to which all members of a quorum have its changes, whether or
// not the quorum is large enough.
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
			return q.acked // no member leaves before the table says so
		case l.endReason != "" && !p.rules.Enforced(rules.Release):
			continue
		}
		upTo = min(upTo, l.receivedUpTo())
	}
	return max(upTo, q.acked)
}

// lacksMembers reports whether a quorum is smaller than minInSync, so that it acknowledges nothing.
// The changes of a retired quorum are acknowledged once its former rows have enough backups again.
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

// endSession ends a session. Its member must be released from all its sets.
func (p *primaryState) endSession(l *session, why string) {
	if l.endReason == "" {
		l.ackedAtEnd = min(l.receivedUpTo(), p.lastChange)
		l.endReason = why
		l.unacked, l.unackedChanges = nil, 0
	}
}

// overdueSessions returns the sessions whose oldest frame has waited for longer than patience, plus
// the time that a long frame takes to travel.
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

// sendHeartbeats sends a heartbeat on each session whose last frame is acknowledged or carries a
// change. The member acknowledges it.
func (p *primaryState) sendHeartbeats(now time.Time) {
	for _, l := range p.sessions {
		if l.endReason == "" && (len(l.unacked) == 0 || l.unacked[len(l.unacked)-1].change) {
			p.send(l, &feedFrame{kind: kindHeartbeat, pending: uint64(l.unackedChanges)}, now)
		}
	}
}

// termAt returns the term of the row that holds a token; nil if this node does not serve it.
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

// serves reports whether a row, as the table has it, is open to clients.
func (p *primaryState) serves(row *table.Row) bool {
	t := p.termAt(row.Range.Start)
	return t != nil && t.serves(row)
}

func (t *rowTerm) serves(row *table.Row) bool {
	return t.open && t.Range == row.Range && t.Epoch == row.Epoch && t.Lineage == row.Lineage
}

// overlapping returns the terms whose rows overlap a range.
func (p *primaryState) overlapping(r ring.Range) (all []*rowTerm) {
	n := len(p.terms)
	if n == 0 {
		return nil
	}
	i, found := slices.BinarySearchFunc(p.terms, r.Start, func(x *rowTerm, t ring.Token) int { return cmp.Compare(x.Range.Start, t) })
	if !found { // the term before it may reach into the range
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

// quorumOf returns the quorum of sorted members; nil if their writes need no acknowledgement.
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
