package replica

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// A standing is what a node decides as a member of the sets of one start of a primary.
// It outlives connections, and is guarded by whoever uses it.
//
// Invariant: what has been taken in is a beginning of what was sent in the session. Of
// the rows that it has joined, the member has every change up to last that the primary
// has made, and no other.
type standing struct {
	node        string
	incarnation uint64
	out         rules

	session uint64 // the newest
	k       uint64 // of the last frame of it that was taken in
	last    uint64 // of the newest change
	high    uint64
	pending uint64 // what the primary told last
	ended   error  // why nothing more of the session is taken in
	rows    []following
	kept    []keptChange // above high, in order
	anew    []copyMark
}

// A copyMark says what was the newest frame when a range began to be copied here anew: what
// is joined there by it, or one before, is older than the copy.
type copyMark struct {
	ring.Range
	session, k uint64
}

// A following is a row whose changes are taken in.
type following struct {
	table.Ref
	// joined tells that this node has all that the primary acknowledged. Before that it
	// is being brought there.
	joined bool
	// copied is the number up to which changes came by a copy, if any: they were never kept.
	copied uint64
	// over tells that the table says so: no change is taken in any more, but what has
	// been is still known.
	over bool
}

// A keptChange is one that perhaps not all members have.
type keptChange struct {
	n    uint64
	body []byte
}

// Errors that end a session.
var (
	// ErrSession says that a session has ended, or comes after a later one.
	ErrSession = errors.New("the session has ended")
	// ErrFollows says that a frame does not follow the last one.
	ErrFollows = errors.New("a frame does not follow the last one")
	// ErrLostRow says that a row is not followed here, by this node's table.
	ErrLostRow = errors.New("the row is not followed here")
)

// hello begins a session, or goes on with it: have is the last frame of it that was
// taken in.
func (s *standing) hello(session uint64) (have uint64, err error) {
	switch {
	case session < s.session:
		return 0, fmt.Errorf("%w: %d, now it is %d", ErrSession, session, s.session)
	case session > s.session:
		// Who begins anew has had this node released from whatever it had joined.
		s.session, s.k, s.ended = session, 0, nil
		s.rows, s.kept = nil, nil
	case s.ended != nil && s.out.apply(ruleFence):
		return 0, s.ended
	}
	return s.k, nil
}

// end takes in nothing more of the session.
func (s *standing) end(err error) {
	if s.ended == nil {
		s.ended = err
	}
}

// frame takes in what all frames have in common.
func (s *standing) frame(f *feedFrame) error {
	switch {
	case s.ended != nil && s.out.apply(ruleFence):
		return s.ended
	case f.k != s.k+1 && s.out.apply(ruleOrder), f.n < s.last && s.out.apply(ruleOrder), f.high > f.n:
		err := fmt.Errorf("%w: %d (change %d) after %d (change %d)", ErrFollows, f.k, f.n, s.k, s.last)
		s.end(err)
		return err
	}
	s.k, s.last = f.k, f.n
	if len(s.anew) > 0 {
		s.anew = slices.DeleteFunc(s.anew, func(m copyMark) bool { return !m.before(s.session, s.k+1) })
	}
	s.high = max(s.high, f.high)
	n := 0
	for n < len(s.kept) && s.kept[n].n <= s.high {
		s.kept[n] = keptChange{}
		n++
	}
	s.kept = s.kept[n:]
	if f.kind == feedBeat {
		s.pending = f.pending
	}
	if f.kind == feedBatch && f.n > s.high && s.out.apply(ruleKeep) {
		s.kept = append(s.kept, keptChange{f.n, f.body})
	}
	return nil
}

// A verdict is what a member says to a row that it is to follow.
type verdict int

const (
	accepted verdict = iota
	refused
	// later: this node serves the row by its own state, which is older.
	later
)

// judge says whether a row may be followed by this node's state of the table.
func (s *standing) judge(st *table.State, self string, j *joinRow) verdict {
	if s.out.apply(ruleFresh) && slices.ContainsFunc(s.anew, func(m copyMark) bool {
		return m.before(s.session, s.k+1) && touches(m.Range, j.Range)
	}) {
		return refused
	}
	for row := range overlappingRows(st, j.Range) {
		if row.Version < j.Version || row.Range != j.Range && row.Epoch < j.Epoch {
			// The primary knows more.
			if row.Primary == self {
				return later
			}
			continue
		}
		if row.Range != j.Range || row.Lineage != j.Lineage || row.Epoch != j.Epoch || row.Primary != s.node {
			return refused
		}
		if !row.Holds(self) && !slices.Contains(row.Learners, self) {
			return refused
		}
	}
	return accepted
}

// before tells whether a frame is not newer than the mark.
func (m copyMark) before(session, k uint64) bool {
	return session < m.session || session == m.session && k <= m.k
}

// copies notes that ranges are copied here anew, by a node whose newest frame is k of a
// session. Whatever was joined there is left.
func (s *standing) copies(ranges []ring.Range, session, k uint64) (changed bool) {
	all := newSpans(ranges)
	s.anew = slices.DeleteFunc(s.anew, func(m copyMark) bool { return all.touch(m.Range) })
	for _, r := range ranges {
		s.anew = append(s.anew, copyMark{r, session, k})
	}
	return s.leave(ranges)
}

// overlappingRows goes over the rows that have a part in a range.
func overlappingRows(st *table.State, r ring.Range) iter.Seq[*table.Row] {
	return func(yield func(*table.Row) bool) {
		passed := uint64(0) // tokens of the range
		for {
			row, ok := st.Row(r.Start + ring.Token(passed))
			if !ok || !yield(row) {
				return
			}
			next := uint64(row.Range.End - r.Start)
			if next <= passed || next >= r.Len() {
				return
			}
			passed = next
		}
	}
}

// join follows rows that were judged; in place of whatever was followed there.
func (s *standing) join(rows []joinRow, joined bool) {
	ranges := make([]ring.Range, 0, len(rows))
	for i := range rows {
		ranges = append(ranges, rows[i].Range)
	}
	s.leave(ranges)
	for i := range rows {
		f := following{Ref: rows[i].Ref, joined: joined}
		if rows[i].learner {
			f.copied = s.last
		}
		s.rows = append(s.rows, f)
	}
}

// leave follows nothing any more that has a part in ranges, and tells whether there was
// such.
func (s *standing) leave(ranges []ring.Range) bool {
	n, all := len(s.rows), newSpans(ranges)
	s.rows = slices.DeleteFunc(s.rows, func(f following) bool { return all.touch(f.Range) })
	return len(s.rows) < n
}

// look ends what a state of the table says is over, and tells whether anything was. Who
// is merely not named any more goes on until the primary knows it, too.
func (s *standing) look(st *table.State) (changed bool) {
	if !s.out.apply(ruleEpoch) {
		return false
	}
	for i := range s.rows {
		f := &s.rows[i]
		if f.over {
			continue
		}
		for row := range overlappingRows(st, f.Range) {
			if row.Epoch > f.Epoch || row.Epoch == f.Epoch && (row.Primary != s.node || row.Lineage != f.Lineage) {
				f.over, changed = true, true
				break
			}
		}
	}
	return changed
}

// finish takes in no change any more of rows that have a part in a range and are of terms
// before an epoch, and tells whether any could have come. What is of a later term is not
// the business of whoever asks, whose question may be an old one.
func (s *standing) finish(r ring.Range, epoch uint64) (changed bool) {
	for i := range s.rows {
		if f := &s.rows[i]; !f.over && f.Epoch < epoch && touches(f.Range, r) {
			f.over, changed = true, true
		}
	}
	return changed
}

// follows tells whether any change is taken in.
func (s *standing) follows() bool {
	return slices.ContainsFunc(s.rows, func(f following) bool { return !f.over })
}

// forget lets go of what is known of rows that are over.
func (s *standing) forget() {
	s.kept = nil
	s.rows = slices.DeleteFunc(s.rows, func(f following) bool { return f.over })
}

// ranges are those in which changes may lie.
func (s *standing) ranges() []ring.Range {
	if !s.out.apply(ruleJoined) {
		return []ring.Range{ring.Whole}
	}
	all := make([]ring.Range, 0, len(s.rows))
	for _, f := range s.rows {
		if !f.over {
			all = append(all, f.Range)
		}
	}
	return all
}

// fence ends the session for good.
func (s *standing) fence() Position {
	if s.out.apply(ruleFence) {
		s.end(fmt.Errorf("%w: it was told how far it came", ErrSession))
	}
	return s.position()
}

func (s *standing) position() Position {
	return Position{
		Node: s.node, Incarnation: s.incarnation, Known: s.session > 0, Last: s.last, High: s.high,
		Fenced: s.ended != nil, Rows: len(s.rows),
	}
}

// followed tells whether a range is part of rows that were joined in the epoch before
// one: the term in between those two is known from its beginning to its end.
func (s *standing) followed(r ring.Range, epoch uint64) bool {
	covered := uint64(0)
	for _, f := range s.rows {
		switch {
		case !f.joined || f.Epoch+1 != epoch || !touches(f.Range, r):
		case within(r, f.Range):
			return true
		case within(f.Range, r):
			covered += f.Range.Len()
		}
	}
	return covered == r.Len()
}

// copied is the number up to which a range's changes of the term before an epoch may have
// come by a copy. Who has less cannot be brought to where this node is.
func (s *standing) copied(r ring.Range, epoch uint64) (upTo uint64) {
	if !s.out.apply(ruleCopied) {
		return 0
	}
	for _, f := range s.rows {
		if f.Epoch+1 == epoch && touches(f.Range, r) {
			upTo = max(upTo, f.copied)
		}
	}
	return upTo
}

// known is what there is to compare with others.
func (s *standing) known() origin {
	return origin{Node: s.node, Incarnation: s.incarnation, Last: s.last}
}

// A cut takes out of a batch what lies in ranges: nil if that is nothing.
type cut func(batch []byte, to []ring.Range) ([]byte, error)

// tells answers a question about rows that another node is the primary of now. What this
// standing takes in of them ends with that; changed tells whether any could have come.
func (s *standing) tells(o *origin, in cut) (r originReport, changed bool) {
	r = originReport{Last: s.last, Rows: make([]bool, len(o.Rows))}
	for _, row := range o.Rows {
		changed = s.finish(row.Range, row.Epoch) || changed
	}
	for i, row := range o.Rows {
		if !s.followed(row.Range, row.Epoch) {
			continue
		}
		more := false
		for _, c := range s.above(o.Last) {
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
func (s *standing) brings(upTo uint64, rows []originRow, in cut) (ok []bool, tail [][]byte, err error) {
	ok = make([]bool, len(rows))
	var to []ring.Range
	for i, row := range rows {
		known := s.followed(row.Range, row.Epoch) || !s.out.apply(ruleKnown)
		if ok[i] = known && upTo >= s.copied(row.Range, row.Epoch); ok[i] {
			to = append(to, row.Range)
		}
	}
	if len(to) == 0 {
		return ok, nil, nil
	}
	for _, c := range s.above(upTo) {
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
func (s *standing) above(n uint64) []keptChange {
	i, _ := slices.BinarySearchFunc(s.kept, n, func(c keptChange, n uint64) int {
		if c.n <= n {
			return -1
		}
		return 1
	})
	return s.kept[i:]
}
