package collection

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/ringside-kv/ringside/store"
)

// What rank a member of a large sorted set has is known from counts. On level 1 they are of
// blocks of members that follow each other, on the next one of blocks of those, and so on, as
// in a counted B-tree (Knuth, The Art of Computer Programming 3, 6.2.3). A block lies under
//
//	'c' | level 1 B | rank key of its end
//
// and says how many blocks of the level below it has, or members on level 1, and how many
// members in all, each as a uvarint. It has what is greater than the end of the block before
// and not greater than its own; the last of a level ends at lastEnd. Each end of a level is
// one of the level below, too.
//
// To find and to write a block for each change would take longer than the change. So changes
// go into a log (log.go), and when that is full into the counts: sorted, those of one block
// together. A search for a rank adds what the log says.

const (
	kindCount = 'c'
	// maxLevels is more than any number of members needs.
	maxLevels = 16
)

// A shape is how large what counts are made of may be. It is no part of the format.
type shape struct {
	// maxBlock is from how much on a block is parted, into blocks of fillBlock.
	maxBlock, fillBlock int64
	// countFrom is from how many members on there are counts.
	countFrom int64
	// maxLog is how long the log gets in the header, in bytes.
	maxLog int64
	// The pages of the log get a byte long for so many members, but not longer than maxPages,
	// of which maxLog bytes are at least one, and at most 65,536.
	perByte, maxPages int64
	// maxLeft is how many rank keys are left beyond the ends, at most 4,096.
	maxLeft int64
	// planFrom is how many members a removal finds before it plans how to remove all.
	planFrom int64
}

// With these, of a hundred thousand members as of a million, some six changes of the log share
// a block, if they are anywhere.
var usualShape = shape{maxBlock: 512, fillBlock: 256, countFrom: 1024, maxLog: 512, perByte: 1, maxPages: 128 << 10, maxLeft: maxLeft, planFrom: 1024}

func (z *ZSet) shape() *shape {
	if z.oddShape != nil {
		return z.oddShape
	}
	return &usualShape
}

// lastEnd sorts behind all rank keys.
var lastEnd = []byte{0xff, 0xff}

// A countChange is one of how many members, and blocks, there are somewhere.
type countChange struct {
	at                []byte // a rank key, or the end of a block of the level below
	children, members int64
	// gone: the block of the level below is no more, or ends at to now; whatever ended at the
	// same place has to end there.
	gone bool
	to   []byte
}

// settle sees to it that there are counts if there are many members, and that the log is
// short.
func (z *ZSet) settle() error {
	switch {
	case z.levels == 0 && z.count >= z.shape().countFrom:
		return z.countAll()
	case z.levels == 0 || int64(len(z.log)) <= z.shape().maxLog:
		return nil
	case z.pages.size+int64(len(z.log)) > z.maxLogged():
		return z.fold()
	}
	z.turnPage()
	return nil
}

// maxLogged is how long the log gets in all.
func (z *ZSet) maxLogged() int64 {
	s := z.shape()
	return 2*s.maxLog + min(z.count/s.perByte, s.maxPages)
}

// countAll makes the counts.
func (z *ZSet) countAll() error {
	z.levels = 1
	pieces, err := z.part(1, nil, lastEnd, z.count, z.count)
	z.tops = pieces
	if err != nil {
		return err
	}
	return z.grow()
}

// grow adds levels until the highest has few blocks.
func (z *ZSet) grow() error {
	for z.tops > z.shape().maxBlock {
		z.levels++
		pieces, err := z.part(z.levels, nil, lastEnd, z.tops, z.count)
		if err != nil {
			return err
		}
		z.tops = pieces
	}
	return nil
}

// shrink removes levels of one block, and all counts where few members are left.
func (z *ZSet) shrink() error {
	t := &z.table
	if z.count < z.shape().countFrom/4 {
		t.unit.RemoveElements(t.key, &t.v, []byte{kindCount}, []byte{kindCount + 1})
		z.levels, z.tops = 0, 0
		return nil
	}
	for z.levels > 1 && z.tops == 1 {
		t.sub = appendEnd(t.sub[:0], z.levels, lastEnd)
		value, ok, err := t.unit.Element(t.key, &t.v, t.sub)
		if err != nil || !ok {
			return cmp.Or(err, errZSet)
		}
		if z.tops, _, err = blockOf(value); err != nil {
			return err
		}
		z.table.removeBlock(z.levels, lastEnd)
		z.levels--
	}
	return nil
}

// forgetCounts removes all counts and the log, so that settle makes the counts anew.
func (z *ZSet) forgetCounts() {
	if z.levels == 0 {
		return
	}
	t := &z.table
	t.unit.RemoveElements(t.key, &t.v, []byte{kindCount}, []byte{kindCount + 1})
	z.levels, z.tops = 0, 0
	z.log, z.known, z.grown, z.pages = nil, false, false, pages{}
}

// fold moves the log into the counts.
func (z *ZSet) fold() error {
	log, err := z.runs()
	if err != nil {
		return err
	}
	changes := changesOf(log)
	for level := int64(1); level <= z.levels && len(changes) > 0; level++ {
		if changes, err = z.foldInto(level, changes); err != nil {
			return err
		}
	}
	for _, c := range changes {
		z.tops += c.children
	}
	z.log, z.known, z.grown, z.pages = nil, false, false, pages{}
	if err := z.grow(); err != nil {
		return err
	}
	return z.shrink()
}

// changesOf returns all changes of a log, in order.
func changesOf(log []logRun) []countChange {
	var all logRun
	for _, r := range log {
		all = all.and(r)
	}
	changes := make([]countChange, len(all))
	sum := int64(0)
	for i, l := range all {
		changes[i] = countChange{at: l.at, children: l.sum - sum, members: l.sum - sum}
		sum = l.sum
	}
	return changes
}

// foldInto changes the blocks of a level and returns what that changes for the next.
func (z *ZSet) foldInto(level int64, changes []countChange) (above []countChange, err error) {
	w := blockWalk{z: z, level: level, it: z.table.blocks(level, nil), known: true}
	defer func() { err = cmp.Or(err, w.it.Close()) }()
	for len(changes) > 0 {
		if !w.seek(changes[0].at) {
			return nil, errZSet
		}
		up := countChange{at: slices.Clone(w.it.Sub()[2:])}
		children, members, err := blockOf(w.it.Value())
		if err != nil {
			return nil, err
		}
		end := up.at
		for len(changes) > 0 && bytes.Compare(changes[0].at, up.at) <= 0 {
			c := &changes[0]
			children += c.children
			members += c.members
			up.members += c.members
			if c.gone && bytes.Equal(c.at, up.at) {
				up.gone, up.to, end = true, c.to, c.to
			}
			changes = changes[1:]
		}
		if children < 0 || members < 0 {
			return nil, errZSet
		}
		switch last := bytes.Equal(up.at, lastEnd); {
		case children == 0 && !last:
			z.table.removeBlock(level, up.at)
			up.gone, up.children = true, -1
			if up.to, err = w.endBefore(up.at); err != nil {
				return nil, err
			}
		default:
			if up.gone {
				z.table.removeBlock(level, up.at)
			}
			if children <= z.shape().maxBlock {
				z.table.putBlock(level, end, children, members)
			} else {
				before, err := w.endBefore(end)
				if err != nil {
					return nil, err
				}
				pieces, err := z.part(level, before, end, children, members)
				if err != nil {
					return nil, err
				}
				up.children = pieces - 1
			}
			w.leave(end)
		}
		above = append(above, up)
	}
	return above, nil
}

// part makes of what lies behind one place and up to another, the end of a block, as many
// blocks as it needs, and returns how many.
func (z *ZSet) part(level int64, before, end []byte, children, members int64) (pieces int64, err error) {
	t := &z.table
	var it *store.Elements
	if level > 1 {
		it = z.table.blocks(level-1, before)
	} else {
		lower, upper := z.within()
		if before != nil {
			lower = z.behind(before)
		}
		it = t.unit.Elements(t.key, &t.v, lower, upper, false)
	}
	pieces = 1
	n, m := int64(0), int64(0)
	for children > z.shape().fillBlock+z.shape().fillBlock/2 && it.Next() {
		key, of := it.Sub()[1:], int64(1)
		if level > 1 {
			key = key[1:]
			if _, of, err = blockOf(it.Value()); err != nil {
				break
			}
		}
		n++
		m += of
		if n == z.shape().fillBlock {
			z.table.putBlock(level, key, n, m)
			children, members = children-n, members-m
			n, m = 0, 0
			pieces++
		}
	}
	z.table.putBlock(level, end, children, members)
	return pieces, cmp.Or(err, it.Close())
}

// behind returns the sub key of the first place in the order of scores that is behind a rank key,
// and not before low.
func (z *ZSet) behind(key []byte) []byte {
	if bytes.Compare(key, z.low) < 0 {
		return append([]byte{kindScore}, z.low...)
	}
	return append(append([]byte{kindScore}, key...), 0)
}
