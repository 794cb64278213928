package feed

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ringside-kv/ringside/replica/internal/rules"
	"github.com/ringside-kv/ringside/replica/internal/spans"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// backupState is the pure state of a backup of one start of a primary: which frames it accepts,
// which rows it follows, and what it can report about them. It outlives connections. The caller
// locks it.
//
// Invariant: the accepted frames are a prefix of those sent in the session. In the rows that it has
// joined, the backup has every change of the primary up to lastChange, and no other.
type backupState struct {
	node        string
	incarnation uint64
	rules       rules.Set

	session    uint64 // the newest
	lastFrame  uint64 // last accepted frame of the session
	lastChange uint64 // newest change received
	highWater  uint64
	pending    uint64 // by the primary's last heartbeat
	ended      error  // why no further frame of the session is accepted
	rows       []followedRow
	retained   []retainedChange // changes above highWater, in order
	copyMarks  []copyMark
}

// A copyMark is the newest frame at the time when a copy of a range began here. A join at or before
// that frame is older than the copy and is refused.
type copyMark struct {
	ring.Range
	session, frame uint64
}

// A followedRow is a row whose changes are accepted.
type followedRow struct {
	table.Ref
	// joined reports that this node has all acknowledged changes of the row. Before that it is
	// catching up.
	joined bool
	// copiedUpTo is the number of the last change that may have come by a copy. Such changes are
	// not retained.
	copiedUpTo uint64
	// ended reports that the term is over: no further change is accepted, but the past ones can
	// still be reported.
	ended bool
}

// A retainedChange is a change that some member may lack.
type retainedChange struct {
	number uint64
	body   []byte
}

// Errors that end a session.
var (
	// ErrSession says that a session has ended or is older than the present one.
	ErrSession = errors.New("the session has ended")
	// ErrOutOfOrder says that a frame does not follow the last one.
	ErrOutOfOrder = errors.New("a frame does not follow the last one")
	// ErrNotFollowed says that this node does not follow a row, by its own state of the table.
	ErrNotFollowed = errors.New("the row is not followed here")
)

// beginSession starts or continues a session. have is the last frame accepted.
func (b *backupState) beginSession(session uint64) (have uint64, err error) {
	switch {
	case session < b.session:
		return 0, fmt.Errorf("%w: %d, now it is %d", ErrSession, session, b.session)
	case session > b.session:
		// Before a primary begins a new session, it has this node released from all rows.
		b.session, b.lastFrame, b.ended = session, 0, nil
		b.rows, b.retained = nil, nil
	case b.ended != nil && b.rules.Enforced(rules.Fence):
		return 0, b.ended
	}
	return b.lastFrame, nil
}

// endSession rejects all further frames of the session.
func (b *backupState) endSession(err error) {
	if b.ended == nil {
		b.ended = err
	}
}

// acceptFrame checks the order of a frame and records what all frames carry.
func (b *backupState) acceptFrame(f *feedFrame) error {
	switch {
	case b.ended != nil && b.rules.Enforced(rules.Fence):
		return b.ended
	case f.seq != b.lastFrame+1 && b.rules.Enforced(rules.Order), f.change < b.lastChange && b.rules.Enforced(rules.Order), f.highWater > f.change:
		err := fmt.Errorf("%w: %d (change %d) after %d (change %d)", ErrOutOfOrder, f.seq, f.change, b.lastFrame, b.lastChange)
		b.endSession(err)
		return err
	}
	b.lastFrame, b.lastChange = f.seq, f.change
	if len(b.copyMarks) > 0 {
		b.copyMarks = slices.DeleteFunc(b.copyMarks, func(m copyMark) bool { return !m.covers(b.session, b.lastFrame+1) })
	}
	b.highWater = max(b.highWater, f.highWater)
	n := 0
	for n < len(b.retained) && b.retained[n].number <= b.highWater {
		b.retained[n] = retainedChange{}
		n++
	}
	b.retained = b.retained[n:]
	if f.kind == kindHeartbeat {
		b.pending = f.pending
	}
	if f.kind == kindBatch && f.change > b.highWater && b.rules.Enforced(rules.Keep) {
		b.retained = append(b.retained, retainedChange{f.change, f.body})
	}
	return nil
}

// A verdict is the answer of a backup to a row that it is to join.
type verdict int

const (
	accepted verdict = iota
	refused
	// retryLater: by its own, older state of the table, this node is the primary of the row.
	retryLater
)

// checkJoin decides by this node's state of the table whether a row may be joined.
func (b *backupState) checkJoin(st *table.State, self string, j *joinRow) verdict {
	if b.rules.Enforced(rules.CopyMark) && slices.ContainsFunc(b.copyMarks, func(m copyMark) bool {
		return m.covers(b.session, b.lastFrame+1) && spans.Overlap(m.Range, j.Range)
	}) {
		return refused
	}
	for row := range spans.Rows(st, j.Range) {
		if row.Version < j.Version || row.Range != j.Range && row.Epoch < j.Epoch {
			// The primary knows a newer table.
			if row.Primary == self {
				return retryLater
			}
			continue
		}
		if row.Range != j.Range || row.Lineage != j.Lineage || row.Epoch != j.Epoch || row.Primary != b.node {
			return refused
		}
		if !row.Holds(self) && !slices.Contains(row.Learners, self) {
			return refused
		}
	}
	return accepted
}

// covers reports whether a frame is not newer than the mark.
func (m copyMark) covers(session, k uint64) bool {
	return session < m.session || session == m.session && k <= m.frame
}

// markCopied records that a copy of ranges begins here, sent by a node whose newest frame has the
// given number. It leaves all rows that were joined there.
func (b *backupState) markCopied(ranges []ring.Range, session, k uint64) (changed bool) {
	all := spans.New(ranges)
	b.copyMarks = slices.DeleteFunc(b.copyMarks, func(m copyMark) bool { return all.Overlap(m.Range) })
	for _, r := range ranges {
		b.copyMarks = append(b.copyMarks, copyMark{r, session, k})
	}
	return b.leave(ranges)
}

// join follows rows, in place of all rows that overlap them. The caller has checked them.
func (b *backupState) join(rows []joinRow, joined bool) {
	ranges := make([]ring.Range, 0, len(rows))
	for i := range rows {
		ranges = append(ranges, rows[i].Range)
	}
	b.leave(ranges)
	for i := range rows {
		f := followedRow{Ref: rows[i].Ref, joined: joined}
		if rows[i].learner {
			f.copiedUpTo = b.lastChange
		}
		b.rows = append(b.rows, f)
	}
}

// leave stops following all rows that overlap ranges. It reports whether there were any.
func (b *backupState) leave(ranges []ring.Range) bool {
	n, all := len(b.rows), spans.New(ranges)
	b.rows = slices.DeleteFunc(b.rows, func(f followedRow) bool { return all.Overlap(f.Range) })
	return len(b.rows) < n
}

// applyTable ends rows that have a newer epoch or another primary in the table. It reports whether
// any ended. A backup that the table no longer names continues until the primary knows it, too.
func (b *backupState) applyTable(st *table.State) (changed bool) {
	if !b.rules.Enforced(rules.Epoch) {
		return false
	}
	for i := range b.rows {
		f := &b.rows[i]
		if f.ended {
			continue
		}
		for row := range spans.Rows(st, f.Range) {
			if row.Epoch > f.Epoch || row.Epoch == f.Epoch && (row.Primary != b.node || row.Lineage != f.Lineage) {
				f.ended, changed = true, true
				break
			}
		}
	}
	return changed
}

// endTerms ends rows that overlap a range and whose epoch is below the given one. It reports
// whether any ended. Rows of a later term stay: the caller may have asked about an old one.
func (b *backupState) endTerms(r ring.Range, epoch uint64) (changed bool) {
	for i := range b.rows {
		if f := &b.rows[i]; !f.ended && f.Epoch < epoch && spans.Overlap(f.Range, r) {
			f.ended, changed = true, true
		}
	}
	return changed
}

// isFollowing reports whether any change is still accepted.
func (b *backupState) isFollowing() bool {
	return slices.ContainsFunc(b.rows, func(f followedRow) bool { return !f.ended })
}

// dropEnded forgets what is known of rows that have ended.
func (b *backupState) dropEnded() {
	b.retained = nil
	b.rows = slices.DeleteFunc(b.rows, func(f followedRow) bool { return f.ended })
}

// ranges returns the ranges in which changes are accepted.
func (b *backupState) ranges() []ring.Range {
	if !b.rules.Enforced(rules.Joined) {
		return []ring.Range{ring.Whole}
	}
	all := make([]ring.Range, 0, len(b.rows))
	for _, f := range b.rows {
		if !f.ended {
			all = append(all, f.Range)
		}
	}
	return all
}

// fence ends the session for good and returns how far this node has followed it.
func (b *backupState) fence() Position {
	if b.rules.Enforced(rules.Fence) {
		b.endSession(fmt.Errorf("%w: it was told how far it came", ErrSession))
	}
	return b.position()
}

func (b *backupState) position() Position {
	return Position{
		Node: b.node, Incarnation: b.incarnation, Known: b.session > 0, Last: b.lastChange, High: b.highWater,
		Fenced: b.ended != nil, Rows: len(b.rows),
	}
}

// hasFollowed reports whether a range lies in rows that were joined in the epoch before the given
// one. Then this node knows the term between the two from its beginning to its end.
func (b *backupState) hasFollowed(r ring.Range, epoch uint64) bool {
	covered := uint64(0)
	for _, f := range b.rows {
		switch {
		case !f.joined || f.Epoch+1 != epoch || !spans.Overlap(f.Range, r):
		case spans.Within(r, f.Range):
			return true
		case spans.Within(f.Range, r):
			covered += f.Range.Len()
		}
	}
	return covered == r.Len()
}

// copiedUpTo returns the number up to which changes of a range, in the term before epoch, may have
// come by a copy. A member that has less cannot be brought up to date from here.
func (b *backupState) copiedUpTo(r ring.Range, epoch uint64) (upTo uint64) {
	if !b.rules.Enforced(rules.Copied) {
		return 0
	}
	for _, f := range b.rows {
		if f.Epoch+1 == epoch && spans.Overlap(f.Range, r) {
			upTo = max(upTo, f.copiedUpTo)
		}
	}
	return upTo
}

// origin returns what other members can compare with.
func (b *backupState) origin() origin {
	return origin{Node: b.node, Incarnation: b.incarnation, Last: b.lastChange}
}

// A batchCutter returns the part of a batch that lies in ranges; nil if there is none.
type batchCutter func(batch []byte, to []ring.Range) ([]byte, error)

// report answers a question about rows whose primary is now another node. It ends these rows here;
// changed reports whether any was still followed.
func (b *backupState) report(o *origin, in batchCutter) (r originReport, changed bool) {
	r = originReport{Last: b.lastChange, Rows: make([]bool, len(o.Rows))}
	for _, row := range o.Rows {
		changed = b.endTerms(row.Range, row.Epoch) || changed
	}
	for i, row := range o.Rows {
		if !b.hasFollowed(row.Range, row.Epoch) {
			continue
		}
		more := false
		for _, c := range b.retainedAfter(o.Last) {
			batch, err := in(c.body, []ring.Range{row.Range})
			more = more || batch != nil || err != nil
		}
		r.Rows[i] = !more
	}
	return r, changed
}

// tailAfter returns the changes that a member lacks which has all up to a number. ok reports for
// each row whether this node can tell: it may have lost what it knew since it asked, by a new
// session of the same primary or by time.
func (b *backupState) tailAfter(upTo uint64, rows []originRow, in batchCutter) (ok []bool, tail [][]byte, err error) {
	ok = make([]bool, len(rows))
	var to []ring.Range
	for i, row := range rows {
		known := b.hasFollowed(row.Range, row.Epoch) || !b.rules.Enforced(rules.Known)
		if ok[i] = known && upTo >= b.copiedUpTo(row.Range, row.Epoch); ok[i] {
			to = append(to, row.Range)
		}
	}
	if len(to) == 0 {
		return ok, nil, nil
	}
	for _, c := range b.retainedAfter(upTo) {
		batch, err := in(c.body, to)
		if err != nil {
			return nil, nil, err
		}
		if batch != nil {
			tail = append(tail, batch)
		}
	}
	return ok, tail, nil
}

// retainedAfter returns the retained changes above a number.
func (b *backupState) retainedAfter(n uint64) []retainedChange {
	i, _ := slices.BinarySearchFunc(b.retained, n, func(c retainedChange, n uint64) int {
		if c.number <= n {
			return -1
		}
		return 1
	})
	return b.retained[i:]
}
