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

// A backupState is what a node decides as a member of the sets of one start of a primary.
// It outlives connections, and is guarded by whoever uses it.
//
// Invariant: what has been taken in is a beginning of what was sent in the session. Of
// the rows that it has joined, the member has every change up to last that the primary
// has made, and no other.
type backupState struct {
	node        string
	incarnation uint64
	rules       rules.Set

	session    uint64 // the newest
	lastFrame  uint64 // of the last frame of it that was taken in
	lastChange uint64 // of the newest change
	highWater  uint64
	pending    uint64 // what the primary told last
	ended      error  // why nothing more of the session is taken in
	rows       []followedRow
	retained   []retainedChange // above high, in order
	copyMarks  []copyMark
}

// A copyMark says what was the newest frame when a range began to be copied here anew: what
// is joined there by it, or one before, is older than the copy.
type copyMark struct {
	ring.Range
	session, frame uint64
}

// A followedRow is a row whose changes are taken in.
type followedRow struct {
	table.Ref
	// joined tells that this node has all that the primary acknowledged. Before that it
	// is being brought there.
	joined bool
	// copiedUpTo is the number up to which changes came by a copy, if any: they were never kept.
	copiedUpTo uint64
	// ended tells that the table says so: no change is taken in any more, but what has
	// been is still known.
	ended bool
}

// A retainedChange is one that perhaps not all members have.
type retainedChange struct {
	number uint64
	body   []byte
}

// Errors that end a session.
var (
	// ErrSession says that a session has ended, or comes after a later one.
	ErrSession = errors.New("the session has ended")
	// ErrOutOfOrder says that a frame does not follow the last one.
	ErrOutOfOrder = errors.New("a frame does not follow the last one")
	// ErrNotFollowed says that a row is not followed here, by this node's table.
	ErrNotFollowed = errors.New("the row is not followed here")
)

// hello begins a session, or goes on with it: have is the last frame of it that was
// taken in.
func (b *backupState) beginSession(session uint64) (have uint64, err error) {
	switch {
	case session < b.session:
		return 0, fmt.Errorf("%w: %d, now it is %d", ErrSession, session, b.session)
	case session > b.session:
		// Who begins anew has had this node released from whatever it had joined.
		b.session, b.lastFrame, b.ended = session, 0, nil
		b.rows, b.retained = nil, nil
	case b.ended != nil && b.rules.Enforced(rules.Fence):
		return 0, b.ended
	}
	return b.lastFrame, nil
}

// end takes in nothing more of the session.
func (b *backupState) endSession(err error) {
	if b.ended == nil {
		b.ended = err
	}
}

// frame takes in what all frames have in common.
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

// A verdict is what a member says to a row that it is to follow.
type verdict int

const (
	accepted verdict = iota
	refused
	// retryLater: this node serves the row by its own state, which is older.
	retryLater
)

// judge says whether a row may be followed by this node's state of the table.
func (b *backupState) checkJoin(st *table.State, self string, j *joinRow) verdict {
	if b.rules.Enforced(rules.CopyMark) && slices.ContainsFunc(b.copyMarks, func(m copyMark) bool {
		return m.covers(b.session, b.lastFrame+1) && spans.Overlap(m.Range, j.Range)
	}) {
		return refused
	}
	for row := range spans.Rows(st, j.Range) {
		if row.Version < j.Version || row.Range != j.Range && row.Epoch < j.Epoch {
			// The primary knows more.
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

// covers tells whether a frame is not newer than the mark.
func (m copyMark) covers(session, k uint64) bool {
	return session < m.session || session == m.session && k <= m.frame
}

// copies notes that ranges are copied here anew, by a node whose newest frame is k of a
// session. Whatever was joined there is left.
func (b *backupState) markCopied(ranges []ring.Range, session, k uint64) (changed bool) {
	all := spans.New(ranges)
	b.copyMarks = slices.DeleteFunc(b.copyMarks, func(m copyMark) bool { return all.Overlap(m.Range) })
	for _, r := range ranges {
		b.copyMarks = append(b.copyMarks, copyMark{r, session, k})
	}
	return b.leave(ranges)
}

// join follows rows that were judged; in place of whatever was followed there.
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

// leave follows nothing any more that has a part in ranges, and tells whether there was
// such.
func (b *backupState) leave(ranges []ring.Range) bool {
	n, all := len(b.rows), spans.New(ranges)
	b.rows = slices.DeleteFunc(b.rows, func(f followedRow) bool { return all.Overlap(f.Range) })
	return len(b.rows) < n
}

// applyTable ends what a state of the table says is over, and tells whether anything was. Who
// is merely not named any more goes on until the primary knows it, too.
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

// endTerms takes in no change any more of rows that have a part in a range and are of terms
// before an epoch, and tells whether any could have come. What is of a later term is not
// the business of whoever asks, whose question may be an old one.
func (b *backupState) endTerms(r ring.Range, epoch uint64) (changed bool) {
	for i := range b.rows {
		if f := &b.rows[i]; !f.ended && f.Epoch < epoch && spans.Overlap(f.Range, r) {
			f.ended, changed = true, true
		}
	}
	return changed
}

// isFollowing tells whether any change is taken in.
func (b *backupState) isFollowing() bool {
	return slices.ContainsFunc(b.rows, func(f followedRow) bool { return !f.ended })
}

// dropEnded lets go of what is known of rows that are over.
func (b *backupState) dropEnded() {
	b.retained = nil
	b.rows = slices.DeleteFunc(b.rows, func(f followedRow) bool { return f.ended })
}

// ranges are those in which changes may lie.
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

// fence ends the session for good.
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

// hasFollowed tells whether a range is part of rows that were joined in the epoch before
// one: the term in between those two is known from its beginning to its end.
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

// copied is the number up to which a range's changes of the term before an epoch may have
// come by a copy. Who has less cannot be brought to where this node is.
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

// known is what there is to compare with others.
func (b *backupState) origin() origin {
	return origin{Node: b.node, Incarnation: b.incarnation, Last: b.lastChange}
}

// A batchCutter takes out of a batch what lies in ranges: nil if that is nothing.
type batchCutter func(batch []byte, to []ring.Range) ([]byte, error)

// report answers a question about rows that another node is the primary of now. What this
// standing takes in of them ends with that; changed tells whether any could have come.
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

// brings says what a member lacks that has everything up to a number, and of which rows
// that is known: what this node knew may be lost since it asked, by a new session of the
// same primary or by time.
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

// above are the changes that were kept and come after a number.
func (b *backupState) retainedAfter(n uint64) []retainedChange {
	i, _ := slices.BinarySearchFunc(b.retained, n, func(c retainedChange, n uint64) int {
		if c.number <= n {
			return -1
		}
		return 1
	})
	return b.retained[i:]
}
