package digest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/ringside-kv/ringside/internal/background"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/ops"
	"github.com/ringside-kv/ringside/store/internal/walk"
)

// groupSize is how many entries one digest of the first level stands for: so many
// that the digests are a small part of what they stand for, so few that one
// difference does not cost much.
const groupSize = 8

// A Group is the digest of some entries that follow one another: those from Start up
// to the Start of the group behind it, or the end of the digests.
type Group struct {
	Start layout.Position
	// Count is how many entries there are. The digest of none is known without
	// asking for more.
	Count int
	// Sum is a hash of the positions and contents of all of them: equal entries
	// have equal sums on every store, whatever their generations.
	Sum uint64
	// Entries is the second level, once it has been asked for.
	Entries []EntryDigest
	// Detailed reports whether it has.
	Detailed bool
}

// An EntryDigest stands for one entry.
type EntryDigest struct {
	At  layout.Position
	Sum uint64
}

// Digests say what a store holds of a range between two positions.
type Digests struct {
	Groups []Group
	From   layout.Position // Start of the first group; there always is one
	End    layout.Position // where the last group ends
}

// EntrySum hashes an entry. Of a header's generation it says only whether there is
// one: the numbers are each store's own.
func EntrySum(w *walk.Walk, pos layout.Position, buf []byte) (uint64, []byte) {
	buf = ops.AppendBytes(buf[:0], pos)
	if w.IsHeader() {
		h := w.Head
		if h.Gen != 0 {
			h.Gen = 1
		}
		buf = h.Append(buf)
	} else {
		buf = append(buf, w.Value...)
	}
	return xxhash.Sum64(buf), buf
}

// A groupSum makes one sum of the sums of entries.
type groupSum struct{ x xxhash.Digest }

func (g *groupSum) reset() { g.x.Reset() }

func (g *groupSum) add(sum uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], sum)
	_, _ = g.x.Write(b[:])
}

// New returns digests of what the store holds of a range from a position on, of up
// to n entries. Keys that have expired but are not removed are entries, too: they are
// to be removed where the range is copied from has none.
func New(src walk.Source, r ring.Range, from layout.Position, n int) (*Digests, error) {
	if err := from.Check(); err != nil {
		return nil, err
	}
	st, ok := layout.PieceAt(r, from)
	if !ok {
		return nil, fmt.Errorf("digest of %v: %w: outside of it", r, layout.ErrPosition)
	}
	if from = bytes.Clone(from); len(from) == 0 {
		from = layout.PositionOf(st.First)
	}
	w, err := walk.New(src, st, from)
	if err != nil {
		return nil, err
	}
	d := &Digests{From: from}
	g := Group{Start: from}
	var sum groupSum
	sum.reset()
	var pos, last layout.Position
	var buf []byte
	var pace background.Pacer
	left := max(n, 1)
	for ; left >= 0 && w.Next(); left-- {
		pos = w.AppendPosition(pos[:0])
		if left == 0 {
			break // the position of the first that was not taken is the end
		}
		if g.Count == groupSize {
			g.Sum = sum.x.Sum64()
			d.Groups = append(d.Groups, g)
			g = Group{Start: between(last, pos)}
			sum.reset()
		}
		var e uint64
		e, buf = EntrySum(w, pos, buf)
		sum.add(e)
		pace.Step()
		g.Count++
		last = append(last[:0], pos...)
	}
	more := left == 0 && w.Err == nil && w.Iter.Valid()
	if err := w.Close(); err != nil {
		return nil, err
	}
	g.Sum = sum.x.Sum64()
	d.Groups = append(d.Groups, g)
	if d.End = st.After(r); more {
		d.End = pos
	}
	return d, nil
}

// between returns a position behind one and not behind the next that is short when it
// travels: a place with as many zeros at its end as can be, if they are of two places.
func between(last, next layout.Position) layout.Position {
	a, b := last.Place(), next.Place()
	if a == b {
		return append(layout.Position(nil), next...)
	}
	// Where the two part, b has a one.
	zeros := bits.Len64(uint64(a^b)) - 1
	return layout.PositionOf(b >> zeros << zeros)
}

// Entries returns the digest of each entry from a position up to another, both of
// which Digests have named, up to n: nil and false if there are more.
func Entries(src walk.Source, r ring.Range, from, to layout.Position, n int) (entries []EntryDigest, all bool, err error) {
	if from.Check() != nil || to.Check() != nil {
		return nil, false, layout.ErrPosition
	}
	st, ok := layout.PieceAt(r, from)
	if !ok {
		return nil, false, fmt.Errorf("digest of %v: %w: outside of it", r, layout.ErrPosition)
	}
	w, err := walk.New(src, st, from)
	if err != nil {
		return nil, false, err
	}
	var buf []byte
	all = true
	for w.Next() {
		pos := w.AppendPosition(nil)
		if layout.ComparePositions(r, pos, to) >= 0 {
			break
		}
		if len(entries) == n {
			entries, all = nil, false
			break
		}
		var sum uint64
		sum, buf = EntrySum(w, pos, buf)
		entries = append(entries, EntryDigest{pos, sum})
	}
	return entries, all, w.Close()
}

// GroupEnd returns where group i ends.
func (d *Digests) GroupEnd(i int) layout.Position {
	if i+1 < len(d.Groups) {
		return d.Groups[i+1].Start
	}
	return d.End
}

// Check returns an error unless the digests are of the range and in order.
func (d *Digests) Check(r ring.Range) error {
	if d.From.Check() != nil || d.End.Check() != nil || len(d.Groups) == 0 {
		return fmt.Errorf("%w: digests", ops.ErrMalformed)
	}
	for i := range d.Groups {
		g := &d.Groups[i]
		if g.Start.Check() != nil || len(g.Start) < layout.PlaceSize || layout.ComparePositions(r, g.Start, d.GroupEnd(i)) >= 0 ||
			i == 0 && string(g.Start) != string(d.From) {
			return fmt.Errorf("%w: digests", ops.ErrMalformed)
		}
		last := g.Start
		for j := range g.Entries {
			at := g.Entries[j].At
			if key, _ := at.Split(); key == nil || layout.ComparePositions(r, at, d.GroupEnd(i)) >= 0 ||
				layout.ComparePositions(r, last, at) > 0 || j > 0 && string(last) == string(at) {
				return fmt.Errorf("%w: digests", ops.ErrMalformed)
			}
			last = at
		}
	}
	return nil
}

// At returns the number of the group that a position lies in, which is not before From.
func (d *Digests) At(r ring.Range, p layout.Position) int {
	i := len(d.Groups) - 1
	for i > 0 && layout.ComparePositions(r, d.Groups[i].Start, p) > 0 {
		i--
	}
	return i
}

// IsDetailed reports whether all entries of the group are known one by one.
func (g *Group) IsDetailed() bool { return g.Detailed || g.Count == 0 }

// Differing returns the numbers of those groups of another store's digests in whose place this
// one does not hold the same entries. It passes over groups that skip picks, and keys that have
// expired at a time, in ms since 1970.
func Differing(src walk.Source, r ring.Range, d *Digests, now int64, skip func(*Group) bool) (groups []int, err error) {
	if err := d.Check(r); err != nil {
		return nil, err
	}
	m := Matcher{now: now}
	for i := range d.Groups {
		g := &d.Groups[i]
		if skip(g) {
			continue
		}
		same, err := m.Matches(src, r, g, d.GroupEnd(i))
		if err != nil {
			return nil, errors.Join(err, m.Close())
		}
		if !same {
			groups = append(groups, i)
		}
	}
	return groups, m.Close()
}

// A Matcher compares groups, each behind the one before, with what a store holds.
type Matcher struct {
	w   *walk.Walk
	pos layout.Position // of the walk's entry; nil: there is none
	buf []byte
	sum groupSum
	now int64 // by which keys are passed over
}

// Matches reports whether the store holds in a group's place what the group says. If so
// the matcher stands at the first entry behind the group.
func (m *Matcher) Matches(src walk.Source, r ring.Range, g *Group, end layout.Position) (bool, error) {
	if m.w == nil || m.pos != nil && layout.ComparePositions(r, m.pos, g.Start) < 0 {
		if err := m.moveTo(src, r, g.Start); err != nil {
			return false, err
		}
	}
	m.sum.reset()
	count := 0
	for ; m.pos != nil && layout.ComparePositions(r, m.pos, end) < 0; m.next() {
		if count == g.Count {
			return false, m.w.Err
		}
		var e uint64
		e, m.buf = EntrySum(m.w, m.pos, m.buf)
		m.sum.add(e)
		count++
	}
	return count == g.Count && m.sum.x.Sum64() == g.Sum, m.w.Err
}

func (m *Matcher) next() {
	for m.w.Next() {
		if m.w.IsDead(m.now) {
			m.w.SkipKey()
			continue
		}
		m.pos = m.w.AppendPosition(m.pos[:0])
		return
	}
	m.pos = nil
}

func (m *Matcher) moveTo(src walk.Source, r ring.Range, at layout.Position) error {
	if err := m.Close(); err != nil {
		return err
	}
	st, ok := layout.PieceAt(r, at)
	if !ok {
		return fmt.Errorf("digests of %v: %w: outside of it", r, layout.ErrPosition)
	}
	var err error
	if m.w, err = walk.New(src, st, at); err != nil {
		return err
	}
	m.next()
	return nil
}

// Close ends the walk under way, if there is one.
func (m *Matcher) Close() error {
	w := m.w
	m.w, m.pos = nil, nil
	if w == nil {
		return nil
	}
	return w.Close()
}

// Cut drops groups from the end until the digests take less than about so many bytes, but
// for the first.
func (d *Digests) Cut(size int) {
	for i := range d.Groups {
		if size -= len(d.Groups[i].Start) + 2*layout.PlaceSize; size < 0 && i > 0 {
			d.End, d.Groups = d.Groups[i].Start, d.Groups[:i]
			return
		}
	}
}

// A Span is the entries of a range from a position up to another.
type Span struct{ From, To layout.Position }

// Tokens returns those that the entries of a span of a range can have.
func (sp Span) Tokens(r ring.Range) (ring.Range, error) {
	st, ok := layout.PieceAt(r, sp.From)
	if !ok || sp.From.Check() != nil || sp.To.Check() != nil || layout.ComparePositions(r, sp.From, sp.To) >= 0 {
		return ring.Range{}, fmt.Errorf("part of %v: %w", r, layout.ErrPosition)
	}
	return ring.Range{Start: st.First.Token(), End: st.UpTo(sp.To).Token() + 1}, nil
}

// mostLive bounds the entries of a span that LiveSum looks at: a span of one store's group
// may have grown in another.
const mostLive = 1 << 12

// LiveSum returns a hash of the keys and contents of a span that have not expired at some
// moment: on every store the same if they are, whether expired keys were removed or not. Of
// more entries than a few thousand only the first count.
func LiveSum(src walk.Source, r ring.Range, sp Span, at time.Time) (uint64, error) {
	if _, err := sp.Tokens(r); err != nil {
		return 0, err
	}
	st, _ := layout.PieceAt(r, sp.From)
	w, err := walk.New(src, st, sp.From)
	if err != nil {
		return 0, err
	}
	var sum groupSum
	sum.reset()
	var pos layout.Position
	var buf []byte
	now := at.UnixMilli()
	var pace background.Pacer
	for n := 0; n < mostLive && w.Next(); n++ {
		pace.Step()
		if w.Head.Expired(now) { // also within a key
			w.SkipKey()
			continue
		}
		pos = w.AppendPosition(pos[:0])
		if layout.ComparePositions(r, pos, sp.To) >= 0 {
			break
		}
		var e uint64
		e, buf = EntrySum(w, pos, buf)
		sum.add(e)
	}
	return sum.x.Sum64(), w.Close()
}

// SpanOf returns the span of a group.
func (d *Digests) SpanOf(i int) Span { return Span{d.Groups[i].Start, d.GroupEnd(i)} }

// SetNow says by what time expired keys are passed over, in ms since 1970.
func (m *Matcher) SetNow(now int64) { m.now = now }
