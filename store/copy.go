package store

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/ringside-kv/ringside/internal/background"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/digest"
	"github.com/ringside-kv/ringside/store/internal/latch"
	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/ops"
	"github.com/ringside-kv/ringside/store/internal/walk"
)

// A Copy goes over a range once and says, chunk by chunk, what another store lacks to
// be equal. It belongs to one goroutine.
//
// The order of things makes the copy and the live changes one: a chunk is read, emitted
// and passed by the cursor with the latches of its places held. So a change of anything
// in it is handed to a Tap before, and is in the chunk, or after, and is before the
// cursor then. What [Store.CutBatch] takes away is never missed.
type Copy struct {
	s  *Store
	r  ring.Range
	at Position
	// gen is the generation of the value that at lies within, 0 if it does not or
	// is not known: if it has another one by the time of the next chunk, what the
	// other store had of the value behind at is gone there.
	gen uint64
	// void tells that this was so at an earlier chunk that ended within the value, too:
	// digests may be from before.
	void bool
	u    *Unit
	m    digest.Matcher

	keys, bytes int64
}

// ChunkSize is the usual limit of a chunk, in bytes.
const ChunkSize = 256 << 10

// entryOverhead is about what an entry costs beside its key and value, in bytes.
const entryOverhead = 32

// NewCopy returns a copy of a range from a position on: nil, or where another has
// got to.
func (s *Store) NewCopy(r ring.Range, from Position) (*Copy, error) {
	if err := from.Check(); err != nil {
		return nil, err
	}
	c := &Copy{s: s, r: r, at: bytes.Clone(from), u: s.NewUnit()}
	if len(from) == 0 {
		c.at = layout.PositionOf(layout.PiecesOf(r)[0].First)
	} else if _, ok := layout.PieceAt(r, from); !ok && !from.AtEnd() {
		return nil, fmt.Errorf("copy %v: %w: outside of it", r, layout.ErrPosition)
	}
	c.u.peeking = true
	return c, nil
}

// Position returns the cursor: what lies before it has been copied.
func (c *Copy) Position() Position { return c.at }

// Done reports whether the copy is at the end of its range.
func (c *Copy) Done() bool { return c.at.AtEnd() }

// Passed returns how many keys, and bytes of entries, the cursor has passed. An entry is
// a key and a value, here with a share of what it costs beside them.
func (c *Copy) Passed() (keys, bytes int64) { return c.keys, c.bytes }

// Chunk goes on by up to about limit bytes of what the range holds here: a chunk
// is whole entries, so by one at least.
//
// theirs is what the other store holds from the cursor on, with the second level or
// without; nothing behind its End is touched. With nil everything is sent, and what
// the other store had is removed there.
//
// emit is given the batch, nil if nothing differs, and the new cursor, while the
// latches of the chunk's places are held: it puts the batch on the stream that the
// tap's sink writes to, and must not block. With an error emit was not called and the
// cursor stays.
//
// Keys whose time has come are removed, which a tap is told of, not copied.
//
// ErrLatched says that a unit holds a latch of the chunk for long. The copy can go on later.
func (c *Copy) Chunk(limit int, theirs *Digests, emit func(batch []byte, next Position)) error {
	if c.Done() {
		return nil
	}
	if theirs != nil {
		if err := theirs.Check(c.r); err != nil {
			return err
		}
		if layout.ComparePositions(c.r, theirs.From, c.at) > 0 || layout.ComparePositions(c.r, theirs.End, c.at) <= 0 {
			return fmt.Errorf("copy %v: %w: digests do not begin at the cursor", c.r, ErrGap)
		}
	}
	st, _ := layout.PieceAt(c.r, c.at)
	end := st.After(c.r)
	last, size := c.s.chunkEnd(st, limit)
	if theirs != nil {
		// A group is compared whole.
		if i := theirs.At(c.r, c.at); !theirs.Groups[i].IsDetailed() {
			last = max(last, st.UpTo(theirs.GroupEnd(i)))
		}
	}
	if last != st.Last {
		st.Last = last
		end = layout.PositionOf(last + 1)
	}
	if theirs != nil && layout.ComparePositions(c.r, theirs.End, end) < 0 {
		end = theirs.End
	}
	background.Yield()
	c.s.pins.Await()
	latched, ok := c.s.latches.LockWithin(latch.AppendOf(c.u.latched[:0], st))
	c.u.latched = nil
	if !ok {
		return fmt.Errorf("copy %v: %w", c.r, ErrLatched)
	}
	c.u.begin(c.s.now())
	c.u.latched = latched
	ch := chunk{Copy: c, room: int(max(0, min(size, int64(limit)))), st: st, end: end, limit: limit, out: ops.NewWriter(ops.Copied, 0), now: c.s.deathTime(c.u.now)}
	c.m.SetNow(ch.now)
	next, gen, err := ch.read(theirs)
	if err == nil {
		err = c.u.Flush()
	}
	if err != nil {
		c.u.Abort()
		return fmt.Errorf("copy %v: %w", c.r, err)
	}
	batch := ch.out.Buf
	if ch.out.Empty() {
		batch = nil
	}
	c.at, c.gen, c.void = next, gen, ch.isVoid(next)
	emit(batch, next)
	_, err = c.u.Commit(nil)
	return err
}

// chunkEnd returns the last place of a chunk that begins where the interval does: as
// many slices as hold about limit bytes, but one at least. The interval is latched
// before anything in it is read.
func (s *Store) chunkEnd(st layout.Interval, limit int) (last Place, sum int64) {
	for slice := int(layout.SliceOf(st.First)); slice <= int(layout.SliceOf(st.Last)); slice++ {
		n := s.counts.Of(uint16(slice))
		size := n.Bytes + entryOverhead*n.Keys
		if sum > 0 && sum+size > int64(limit) {
			return Place(slice)<<48 - 1, sum
		}
		sum += size
	}
	return st.Last, sum
}

// A chunk is one on its way.
type chunk struct {
	*Copy
	st     layout.Interval
	end    Position // where it ends at the latest
	limit  int
	room   int // for the entries of the places, as far as limit allows
	out    *ops.Writer
	walked int
	w      *walk.Walk
	pos    Position // of the walk's entry; nil: there is none before end
	void   []byte   // key whose entries at the other store are not as digests say
	gone   []byte   // the last key that was removed, since its time had come
	now    int64    // by which keys are removed
}

// read fills the batch. It returns the new cursor, and the generation of the value
// that it lies within.
func (ch *chunk) read(theirs *Digests) (next Position, gen uint64, err error) {
	if ch.w, err = ch.s.walk(ch.st, ch.at); err != nil {
		return nil, 0, err
	}
	if key, sub := ch.at.Split(); len(sub) > 0 && (ch.Copy.void || ch.gen == 0 || ch.gen != ch.w.Head.Gen) {
		ch.void = key
		if ch.w.Head.Gen != 0 {
			ch.out.Add(&ops.Op{Kind: ops.RemoveSubs, Key: key, A: sub})
		}
	}
	ch.step()
	if theirs == nil {
		next = ch.replace(ch.at, ch.end)
	} else {
		next, err = ch.groups(theirs)
	}
	if key, sub := next.Split(); len(sub) > 0 && bytes.Equal(key, ch.w.Key) {
		gen = ch.w.Head.Gen
	}
	return slices.Clone(next), gen, errors.Join(err, ch.m.Close(), ch.w.Close())
}

// groups goes through the other store's digests and returns how far it got.
func (ch *chunk) groups(theirs *Digests) (at Position, err error) {
	at = ch.at
	for i := theirs.At(ch.r, ch.at); i < len(theirs.Groups) && layout.ComparePositions(ch.r, at, ch.end) < 0; i++ {
		if ch.isFull() && layout.ComparePositions(ch.r, at, ch.at) > 0 {
			break
		}
		g, end := &theirs.Groups[i], theirs.GroupEnd(i)
		if layout.ComparePositions(ch.r, ch.end, end) < 0 {
			if !g.IsDetailed() && layout.ComparePositions(ch.r, at, ch.at) > 0 {
				break // it is compared as a whole, or sent
			}
			end = ch.end
		}
		if at, err = ch.group(g, at, end, theirs.GroupEnd(i)); err != nil || layout.ComparePositions(ch.r, at, end) < 0 {
			break
		}
	}
	return at, err
}

// isFull reports whether the chunk is large enough; never before the first entry.
func (ch *chunk) isFull() bool {
	return ch.walked > 0 && (len(ch.out.Buf) >= ch.limit || ch.walked >= 4*ch.limit)
}

// step goes to the next entry before the chunk's end. Keys whose time has come go.
func (ch *chunk) step() {
	if ch.pos != nil {
		ch.walked += len(ch.w.Key) + len(ch.w.Value) + entryOverhead
		if ch.w.IsHeader() {
			ch.keys++
		}
		ch.bytes += int64(len(ch.w.Key) + len(ch.w.Value) + entryOverhead)
	}
	for ch.w.Next() {
		if ch.w.IsDead(ch.now) {
			ch.gone = bytes.Clone(ch.w.Key)
			ch.u.remove(ch.w.Place, ch.gone, &ch.w.Head)
			ch.u.Note(EventExpired, "expired", ch.gone)
			ch.s.expirer.expired.Add(1)
			ch.walked += len(ch.w.Key) + entryOverhead
			ch.w.SkipKey()
			continue
		}
		ch.pos = ch.w.AppendPosition(ch.pos[:0])
		if layout.ComparePositions(ch.r, ch.pos, ch.end) < 0 {
			return
		}
		break
	}
	ch.pos = nil
}

// isBefore reports whether the entry lies before a position.
func (ch *chunk) isBefore(end Position) bool {
	return ch.pos != nil && layout.ComparePositions(ch.r, ch.pos, end) < 0
}

// group brings what lies between two positions, all of a group or part of it, into line,
// and returns how far it got. groupEnd is where the group itself ends.
func (ch *chunk) group(g *Group, from, end, groupEnd Position) (Position, error) {
	if g.IsDetailed() {
		return ch.merge(g, from, end), nil
	}
	if bytes.Equal(from, g.Start) && bytes.Equal(end, groupEnd) && !ch.isVoid(from) {
		same, err := ch.m.Matches(source{ch.s}, ch.r, g, end)
		if err != nil {
			return from, err
		}
		if same {
			for ch.isBefore(end) {
				ch.step()
			}
			return end, nil
		}
	}
	return ch.replace(from, end), nil
}

func (ch *chunk) isVoid(at Position) bool {
	key, sub := at.Split()
	return ch.void != nil && len(sub) > 0 && bytes.Equal(key, ch.void)
}

// sendEntry adds the entry to the batch.
func (ch *chunk) sendEntry(out *ops.Writer) {
	if ch.w.IsHeader() {
		out.Add(&ops.Op{Kind: ops.Put, Key: ch.w.Key, A: ch.w.Value})
		return
	}
	out.Add(&ops.Op{Kind: ops.PutSub, Key: ch.w.Key, A: ch.w.Sub, B: ch.w.Value})
}

// replace sends all entries between two positions, and has all others there removed. It
// returns how far it got.
func (ch *chunk) replace(from, end Position) Position {
	body := ops.NewWriter(0, ch.room)
	for ch.isBefore(end) && !ch.isFull() {
		ch.sendEntry(body)
		ch.step()
		if len(ch.out.Buf)+len(body.Buf) >= ch.limit {
			break
		}
	}
	if ch.isBefore(end) {
		end = slices.Clone(ch.pos)
	}
	ch.out.Add(&ops.Op{Kind: ops.Clear, A: from, B: end})
	if key, sub := end.Split(); len(sub) > 0 && (!bytes.Equal(key, ch.w.Key) || bytes.Equal(key, ch.gone)) {
		// The clearing spares the key that it ends in, which may be theirs alone.
		header := layout.EntryPosition(nil, end.Place(), key, nil)
		if layout.ComparePositions(ch.r, header, from) >= 0 {
			ch.out.Add(&ops.Op{Kind: ops.Remove, Key: key})
		}
	}
	ch.out.Buf = append(ch.out.Buf, body.Buf[ops.HeadSize:]...)
	ch.out.Key = nil
	return end
}

// merge compares the entries between two positions one by one, and returns how far it
// got.
func (ch *chunk) merge(g *Group, from, end Position) Position {
	theirs := g.Entries
	for len(theirs) > 0 && layout.ComparePositions(ch.r, theirs[0].At, from) < 0 {
		theirs = theirs[1:]
	}
	var buf, removed []byte
	remove := func() {
		at := theirs[0].At
		theirs = theirs[1:]
		key, sub := at.Split()
		switch {
		case len(sub) == 0:
			ch.out.Add(&ops.Op{Kind: ops.Remove, Key: key})
			removed = at
		case !ch.isVoid(at) && (removed == nil || !bytes.HasPrefix(at, removed)):
			ch.out.Add(&ops.Op{Kind: ops.RemoveSub, Key: key, A: sub})
		}
	}
	for !ch.isFull() || !ch.isBefore(end) {
		theirsLeft := len(theirs) > 0 && layout.ComparePositions(ch.r, theirs[0].At, end) < 0
		switch {
		case !ch.isBefore(end):
			if !theirsLeft {
				return end
			}
			remove()
		case theirsLeft && layout.ComparePositions(ch.r, theirs[0].At, ch.pos) < 0:
			remove()
		case theirsLeft && bytes.Equal(ch.pos, theirs[0].At) && !ch.isVoid(ch.pos):
			var sum uint64
			if sum, buf = digest.EntrySum(ch.w, ch.pos, buf); sum != theirs[0].Sum {
				ch.sendEntry(ch.out)
			}
			theirs = theirs[1:]
			ch.step()
		default:
			ch.sendEntry(ch.out)
			if theirsLeft && bytes.Equal(ch.pos, theirs[0].At) {
				theirs = theirs[1:]
			}
			ch.step()
		}
	}
	for len(theirs) > 0 && layout.ComparePositions(ch.r, theirs[0].At, ch.pos) < 0 {
		remove()
	}
	return ch.pos
}
