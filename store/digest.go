package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/cespare/xxhash/v2"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// groupSize is how many entries one digest of the first level stands for: so many
// that the digests are a small part of what they stand for, so few that one
// difference does not cost much.
const groupSize = 8

// A Group is the digest of some entries that follow one another: those from Start up
// to the Start of the group behind it, or the end of the digests.
type Group struct {
	Start Position
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
	At  Position
	Sum uint64
}

// Digests say what a store holds of a range between two positions.
type Digests struct {
	Groups []Group
	From   Position // Start of the first group; there always is one
	End    Position // where the last group ends
}

// entrySum hashes an entry. Of a header's generation it says only whether there is
// one: the numbers are each store's own.
func (w *walk) entrySum(pos Position, buf []byte) (uint64, []byte) {
	buf = appendBytes(buf[:0], pos)
	if w.isHeader() {
		h := w.head
		if h.Gen != 0 {
			h.Gen = 1
		}
		buf = h.Append(buf)
	} else {
		buf = append(buf, w.value...)
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

// Digest returns digests of what the store holds of a range from a position on, of up
// to n entries. Keys that have expired but are not removed are entries, too: they are
// to be removed where the range is copied from has none.
func (s *Store) Digest(r ring.Range, from Position, n int) (*Digests, error) {
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
	w, err := s.walk(st, from)
	if err != nil {
		return nil, err
	}
	d := &Digests{From: from}
	g := Group{Start: from}
	var sum groupSum
	sum.reset()
	var pos, last Position
	var buf []byte
	left := max(n, 1)
	for ; left >= 0 && w.next(); left-- {
		pos = w.appendPosition(pos[:0])
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
		e, buf = w.entrySum(pos, buf)
		sum.add(e)
		g.Count++
		last = append(last[:0], pos...)
	}
	more := left == 0 && w.err == nil && w.iter.Valid()
	if err := w.close(); err != nil {
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
func between(last, next Position) Position {
	a, b := last.Place(), next.Place()
	if a == b {
		return append(Position(nil), next...)
	}
	// Where the two part, b has a one.
	zeros := bits.Len64(uint64(a^b)) - 1
	return layout.PositionOf(b >> zeros << zeros)
}

// DigestEntries returns the digest of each entry from a position up to another, both of
// which Digests have named, up to n: nil and false if there are more.
func (s *Store) DigestEntries(r ring.Range, from, to Position, n int) (entries []EntryDigest, all bool, err error) {
	if from.Check() != nil || to.Check() != nil {
		return nil, false, layout.ErrPosition
	}
	st, ok := layout.PieceAt(r, from)
	if !ok {
		return nil, false, fmt.Errorf("digest of %v: %w: outside of it", r, layout.ErrPosition)
	}
	w, err := s.walk(st, from)
	if err != nil {
		return nil, false, err
	}
	var buf []byte
	all = true
	for w.next() {
		pos := w.appendPosition(nil)
		if layout.ComparePositions(r, pos, to) >= 0 {
			break
		}
		if len(entries) == n {
			entries, all = nil, false
			break
		}
		var sum uint64
		sum, buf = w.entrySum(pos, buf)
		entries = append(entries, EntryDigest{pos, sum})
	}
	return entries, all, w.close()
}

// end returns where group i ends.
func (d *Digests) end(i int) Position {
	if i+1 < len(d.Groups) {
		return d.Groups[i+1].Start
	}
	return d.End
}

// check returns an error unless the digests are of the range and in order.
func (d *Digests) check(r ring.Range) error {
	if d.From.Check() != nil || d.End.Check() != nil || len(d.Groups) == 0 {
		return fmt.Errorf("%w: digests", ErrBatch)
	}
	for i := range d.Groups {
		g := &d.Groups[i]
		if g.Start.Check() != nil || len(g.Start) < layout.PlaceSize || layout.ComparePositions(r, g.Start, d.end(i)) >= 0 ||
			i == 0 && string(g.Start) != string(d.From) {
			return fmt.Errorf("%w: digests", ErrBatch)
		}
		last := g.Start
		for j := range g.Entries {
			at := g.Entries[j].At
			if key, _ := at.Split(); key == nil || layout.ComparePositions(r, at, d.end(i)) >= 0 ||
				layout.ComparePositions(r, last, at) > 0 || j > 0 && string(last) == string(at) {
				return fmt.Errorf("%w: digests", ErrBatch)
			}
			last = at
		}
	}
	return nil
}

// at returns the number of the group that a position lies in, which is not before From.
func (d *Digests) at(r ring.Range, p Position) int {
	i := len(d.Groups) - 1
	for i > 0 && layout.ComparePositions(r, d.Groups[i].Start, p) > 0 {
		i--
	}
	return i
}

// detailed reports whether all entries of the group are known one by one.
func (g *Group) detailed() bool { return g.Detailed || g.Count == 0 }

// Differing returns the numbers of those groups of another store's digests whose second
// level is worth asking for: this one holds other entries there. Nothing is latched;
// what changes meanwhile Chunk finds out.
func (s *Store) Differing(r ring.Range, d *Digests) (groups []int, err error) {
	return s.differing(r, d, (*Group).detailed)
}

// differing passes over the groups that skip picks.
func (s *Store) differing(r ring.Range, d *Digests, skip func(*Group) bool) (groups []int, err error) {
	if err := d.check(r); err != nil {
		return nil, err
	}
	m := matcher{now: s.deathTime(s.now())}
	for i := range d.Groups {
		g := &d.Groups[i]
		if skip(g) {
			continue
		}
		same, err := m.matches(s, r, g, d.end(i))
		if err != nil {
			return nil, errors.Join(err, m.close())
		}
		if !same {
			groups = append(groups, i)
		}
	}
	return groups, m.close()
}

// A matcher compares groups, each behind the one before, with what a store holds.
type matcher struct {
	w   *walk
	pos Position // of the walk's entry; nil: there is none
	buf []byte
	sum groupSum
	now int64 // by which keys are passed over
}

// matches reports whether the store holds in a group's place what the group says. If so
// the matcher stands at the first entry behind the group.
func (m *matcher) matches(s *Store, r ring.Range, g *Group, end Position) (bool, error) {
	if m.w == nil || m.pos != nil && layout.ComparePositions(r, m.pos, g.Start) < 0 {
		if err := m.moveTo(s, r, g.Start); err != nil {
			return false, err
		}
	}
	m.sum.reset()
	count := 0
	for ; m.pos != nil && layout.ComparePositions(r, m.pos, end) < 0; m.next() {
		if count == g.Count {
			return false, m.w.err
		}
		var e uint64
		e, m.buf = m.w.entrySum(m.pos, m.buf)
		m.sum.add(e)
		count++
	}
	return count == g.Count && m.sum.x.Sum64() == g.Sum, m.w.err
}

func (m *matcher) next() {
	for m.w.next() {
		if m.w.isDead(m.now) {
			m.w.skipKey()
			continue
		}
		m.pos = m.w.appendPosition(m.pos[:0])
		return
	}
	m.pos = nil
}

func (m *matcher) moveTo(s *Store, r ring.Range, at Position) error {
	if err := m.close(); err != nil {
		return err
	}
	st, ok := layout.PieceAt(r, at)
	if !ok {
		return fmt.Errorf("digests of %v: %w: outside of it", r, layout.ErrPosition)
	}
	var err error
	if m.w, err = s.walk(st, at); err != nil {
		return err
	}
	m.next()
	return nil
}

func (m *matcher) close() error {
	w := m.w
	m.w, m.pos = nil, nil
	if w == nil {
		return nil
	}
	return w.close()
}
