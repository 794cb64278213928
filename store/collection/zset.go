package collection

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/ringside-kv/ringside/store"
)

// A ZSet is members in the order of their scores and, where these are equal, of their bytes.
// It is for the commands of one unit, as a [Table] is. Call Flush after changes.
//
// For reads of members and their scores, in no order, it is a Table of type store.ZSet,
// whose values [ScoreOf] understands.
//
// Small ones are packed in order. Of large ones the header knows
//
//	levels uvarint | tops uvarint | low, high: each behind its length as a uvarint | log
//
// levels and tops are of the counts by which members are found by rank (counts.go), log is what
// they do not contain yet, or its newest part (log.go): then levels has hasPages in it, and
// behind tops there are
//
//	pages uvarint | their bytes uvarint | stamp 8 B BE
//
// No member lies before low, a rank key, and none at high or behind it; an empty high is no
// bound (ends.go).
//
// Nor need it be removed from the order of scores at once: who pops one member after the other
// leaves it there, beyond low or high, until it is much and goes in one deletion of all. Then
// levels has hasLeft in it, and before low there is how much that is at most, a uvarint. Where an end
// had to give way for a new member, as in a queue with priorities, levels has hasGiven in it: nothing is
// left then, for a while.
type ZSet struct {
	table Table

	// As the header is going to be, of one that is not whole.
	count, size  int64
	levels, tops int64
	low, high    []byte
	log          []byte
	pages        pages
	left         int64
	given        bool
	changed      bool
	// stale: Flush looks for the first and the last member, to move low and high to them.
	stale bool

	rank    []byte // scratch
	ourLow  []byte // scratch, that low lies in once it has been moved; ourHigh, too
	ourHigh []byte
	ours    []byte // scratch, that log lies in once it has grown
	grown   bool
	pending logRun
	known   bool // pending is what log says
	ahead   ahead
	// oddShape is nil but in tests.
	oddShape *shape
}

var errZSet = errors.New("malformed sorted set")

// Flags beside the number of levels.
const (
	hasPages = 2 * maxLevels
	hasLeft  = 4 * maxLevels
	hasGiven = 8 * maxLevels
)

// maxEnd is how long a rank key is kept as one end of a sorted set.
const maxEnd = 128

// Limit sets up to how many bytes a sorted set that is changed is kept whole.
func (z *ZSet) Limit(packed int) { z.table.MaxPacked = packed }

// Open makes z the sorted set at a key, for whoever changes it, with the key's latch held, or
// looks at one member. A key that does not exist is an empty one.
func (z *ZSet) Open(u *store.Unit, key []byte) error {
	if err := z.table.Open(u, key, store.ZSet); err != nil {
		return err
	}
	return z.readHead()
}

// OpenWhole is Open for whoever looks at more than one member: all is of one moment.
func (z *ZSet) OpenWhole(u *store.Unit, key []byte) error {
	if err := z.table.OpenWhole(u, key, store.ZSet); err != nil {
		return err
	}
	return z.readHead()
}

// Over makes z the sorted set at a key that is going to be replaced, whatever v, what Get
// returned, is.
func (z *ZSet) Over(u *store.Unit, key []byte, v store.Value) {
	z.table.Over(u, key, store.ZSet, v)
	z.forget()
}

func (z *ZSet) forget() {
	z.count, z.size, z.levels, z.tops, z.left = 0, 0, 0, 0, 0
	z.low, z.high, z.log, z.changed, z.stale, z.given = nil, nil, nil, false, false, false
	z.pages, z.pending, z.known, z.grown = pages{}, z.pending[:0], false, false
}

func (z *ZSet) readHead() error {
	z.forget()
	v := &z.table.v
	if v.Whole() {
		return nil
	}
	z.count, z.size = v.Count, v.Size
	levels, w := binary.Uvarint(v.Inline)
	paged, left := levels&hasPages != 0, levels&hasLeft != 0
	z.given = levels&hasGiven != 0
	if levels &^= hasPages | hasLeft | hasGiven; w <= 0 || levels > maxLevels {
		return errZSet
	}
	b := v.Inline[w:]
	tops, w := binary.Uvarint(b)
	if w <= 0 {
		return errZSet
	}
	z.levels, z.tops = int64(levels), int64(tops)
	b, ok := b[w:], true
	if paged {
		if b, ok = z.pages.cut(b); !ok {
			return errZSet
		}
	}
	if left {
		n, w := binary.Uvarint(b)
		if w <= 0 || n == 0 || n > maxLeft {
			return errZSet
		}
		z.left, b = int64(n), b[w:]
	}
	if z.low, b, ok = cut(b); ok {
		z.high, z.log, ok = cut(b)
	}
	if !ok {
		return errZSet
	}
	z.log = slices.Clip(z.log)
	return nil
}

// Value returns what the store says of the key; of the number of members, what it was before
// the changes since Flush.
func (z *ZSet) Value() *store.Value { return &z.table.v }

// Len returns the number of members.
func (z *ZSet) Len() int64 {
	if z.table.v.Whole() {
		return z.table.Len()
	}
	return z.count
}

// MarkLarge is that of a [Table]; Flush follows.
func (z *ZSet) MarkLarge() {
	v := &z.table.v
	switch {
	case v.Raw || !v.Exists():
	case v.Whole():
		z.table.MarkLarge()
	default:
		v.Raw, z.changed = true, true
	}
}

// Score returns the score of a member.
func (z *ZSet) Score(member []byte) (score float64, ok bool, err error) {
	value, ok, err := z.table.Get(member)
	return ScoreOf(value), ok, err
}

// Set gives a member a score, which is a number.
func (z *ZSet) Set(member []byte, score float64) error {
	return z.Update(member, func(float64, bool) (float64, bool) { return score, true })
}

// Update gives a member the score, a number, that decide makes of the one that it has, if it
// has one, unless it returns false.
func (z *ZSet) Update(member []byte, decide func(old float64, had bool) (score float64, set bool)) error {
	t := &z.table
	t.sub = appendSubKey(t.sub[:0], member)
	var old []byte
	var had bool
	var err error
	if t.v.Whole() {
		_, _, old, had, err = t.packed().find(member)
	} else {
		old, had, err = t.unit.Element(t.key, &t.v, t.sub)
	}
	if err == nil && had && len(old) != scoreSize {
		err = errZSet
	}
	if err != nil {
		return err
	}
	score, set := decide(ScoreOf(old), had)
	if !set || had && score == ScoreOf(old) {
		return nil
	}
	z.rank = RankKey(z.rank[:0], score, member)
	if t.v.Whole() {
		if fits, err := z.setPacked(member); err != nil || fits {
			return err
		}
		if err := z.split(); err != nil {
			return err
		}
		z.rank = RankKey(z.rank[:0], score, member)
	}
	if had {
		z.dropRank(old, member)
	} else {
		z.count++
		z.size += int64(len(member)) + scoreSize
	}
	t.sub = appendSubKey(t.sub[:0], member)
	t.unit.SetElement(t.key, &t.v, t.sub, z.rank[:scoreSize])
	z.addRank(z.rank)
	return nil
}

// Delete removes a member and reports whether it was there. With its last one the key goes.
func (z *ZSet) Delete(member []byte) (bool, error) {
	t := &z.table
	if t.v.Whole() {
		return t.Delete(member)
	}
	t.sub = appendSubKey(t.sub[:0], member)
	old, found, err := t.unit.Element(t.key, &t.v, t.sub)
	if err != nil || !found {
		return false, err
	}
	if len(old) != scoreSize {
		return false, errZSet
	}
	t.unit.RemoveElement(t.key, &t.v, t.sub)
	z.count--
	z.size -= int64(len(member)) + scoreSize
	z.dropRank(old, member)
	return true, nil
}

// addRank puts a member into the order of scores.
func (z *ZSet) addRank(key []byte) {
	t := &z.table
	z.widen(key)
	t.sub = append(append(t.sub[:0], kindScore), key...)
	t.unit.SetElement(t.key, &t.v, t.sub, nil)
	z.note(key, false)
}

// dropRank takes one out of it.
func (z *ZSet) dropRank(score, member []byte) {
	t := &z.table
	t.sub = append(append(append(t.sub[:0], kindScore), score...), member...)
	t.unit.RemoveElement(t.key, &t.v, t.sub)
	z.dropped(t.sub[1:])
	z.note(t.sub[1:], true)
}

// setPacked gives a member of a sorted set that is whole its place by z.rank; false if it is
// too large to be whole then.
func (z *ZSet) setPacked(member []byte) (fits bool, err error) {
	t := &z.table
	p, n := t.packed(), t.Len()+1
	form := make([]byte, 0, 2*t.MaxPacked)
	entry := appendEntry(nil, member, z.rank[:scoreSize], true)
	placed := false
	r := p.reader()
	for r.next() {
		if string(r.field) == string(member) {
			n--
			continue
		}
		if !placed && compareEntry(r.value, r.field, z.rank) > 0 {
			form, placed = append(form, entry...), true
		}
		form = append(form, p.buf[r.at:r.size-len(r.rest)]...)
	}
	if r.err != nil {
		return false, r.err
	}
	if !placed {
		form = append(form, entry...)
	}
	if len(form)+1 > t.MaxPacked {
		return false, nil
	}
	t.form = append(binary.AppendUvarint(t.form[:0], uint64(n)), form...)
	t.unit.PutWhole(t.key, &t.v, store.ZSet, t.form)
	return true, nil
}

// compareEntry compares an entry of a packed sorted set with a rank key.
func compareEntry(score, member, key []byte) int {
	n := min(len(key), scoreSize)
	if c := bytes.Compare(score, key[:n]); c != 0 {
		return c
	}
	return bytes.Compare(member, key[n:])
}

// split makes of a sorted set that is whole one of elements.
func (z *ZSet) split() error {
	t := &z.table
	p := t.packed()
	if err := t.unit.Split(t.key, &t.v, store.ZSet); err != nil {
		return err
	}
	z.forget()
	key := []byte(nil)
	r := p.reader()
	for r.next() {
		if len(r.value) != scoreSize {
			return errZSet
		}
		t.sub = appendSubKey(t.sub[:0], r.field)
		t.unit.SetElement(t.key, &t.v, t.sub, r.value)
		key = append(append(key[:0], r.value...), r.field...)
		z.addRank(key)
		z.count++
		z.size += int64(len(r.field)) + scoreSize
	}
	z.changed = true
	return r.err
}

// Flush ends changes of a sorted set: it notes what the header knows. With the last member
// the key goes. An error fails the unit, since changes are in it.
func (z *ZSet) Flush() error {
	if !z.changed {
		return nil
	}
	z.changed = false
	if z.count == 0 {
		z.table.Clear()
		z.forget()
		return nil
	}
	u := z.table.unit
	stays := z.ahead.unit == u && z.ahead.changes == u.ElementChanges()
	stamp := z.pages.stamp
	err := z.findEnds()
	if err == nil {
		err = z.settle()
	}
	if err != nil {
		u.Fail(err)
		return err
	}
	if stays { // counts are no members
		z.ahead.changes = u.ElementChanges()
		if z.pages.stamp != stamp {
			z.ahead.note(z)
		}
	}
	z.putHead()
	return nil
}

func (z *ZSet) putHead() {
	t := &z.table
	z.high = shortHigh(z.high)
	z.low = z.low[:min(len(z.low), maxEnd)]
	head := z.appendHead(t.form[:0])
	t.form = head
	t.unit.PutHead(t.key, &t.v, z.count, z.size, head)
}

func (z *ZSet) appendHead(dst []byte) []byte {
	levels := z.levels
	if z.pages.n > 0 {
		levels |= hasPages
	}
	if z.left > 0 {
		levels |= hasLeft
	}
	if z.given {
		levels |= hasGiven
	}
	dst = binary.AppendUvarint(dst, uint64(levels))
	dst = binary.AppendUvarint(dst, uint64(z.tops))
	if p := &z.pages; p.n > 0 {
		dst = binary.AppendUvarint(dst, uint64(p.n))
		dst = binary.AppendUvarint(dst, uint64(p.size))
		dst = binary.BigEndian.AppendUint64(dst, p.stamp)
	}
	if z.left > 0 {
		dst = binary.AppendUvarint(dst, uint64(z.left))
	}
	dst = append(binary.AppendUvarint(dst, uint64(len(z.low))), z.low...)
	dst = append(binary.AppendUvarint(dst, uint64(len(z.high))), z.high...)
	return append(dst, z.log...)
}
