package collection

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/ringside-kv/ringside/store"
)

// appendEnd appends the sub key of a block.
func appendEnd(dst []byte, level int64, end []byte) []byte {
	return append(append(dst, kindCount, byte(level)), end...)
}

func blockOf(value []byte) (children, members int64, err error) {
	c, w := binary.Uvarint(value)
	if w <= 0 {
		return 0, 0, errZSet
	}
	m, w := binary.Uvarint(value[w:])
	if w <= 0 {
		return 0, 0, errZSet
	}
	return int64(c), int64(m), nil
}

func (t *Table) putBlock(level int64, end []byte, children, members int64) {
	t.sub = appendEnd(t.sub[:0], level, end)
	t.form = binary.AppendUvarint(binary.AppendUvarint(t.form[:0], uint64(children)), uint64(members))
	t.unit.SetElement(t.key, &t.v, t.sub, t.form)
}

func (t *Table) removeBlock(level int64, end []byte) {
	t.sub = appendEnd(t.sub[:0], level, end)
	t.unit.RemoveElement(t.key, &t.v, t.sub)
}

// blocks goes over the blocks of a level that end behind a place.
func (t *Table) blocks(level int64, behind []byte) *store.Elements {
	from := appendEnd(nil, level, behind)
	if behind != nil {
		from = append(from, 0)
	}
	return t.unit.Elements(t.key, &t.v, from, []byte{kindCount, byte(level) + 1}, false)
}

// A blockWalk goes over the blocks of a level, forward, for whoever changes them on the way.
type blockWalk struct {
	z     *ZSet
	level int64
	it    *store.Elements
	// before is where the last block ends that is before the current one, with what was
	// changed on the way; nil if there is none. It may not be known.
	before []byte
	known  bool
}

// fewBlocks are passed over one by one sooner than by a search.
const fewBlocks = 4

// seek goes to the first block that ends at a place or behind it, which is behind the current
// one.
func (w *blockWalk) seek(at []byte) bool {
	for range fewBlocks {
		if !w.it.Next() {
			return false
		}
		if bytes.Compare(w.it.Sub()[2:], at) >= 0 {
			return true
		}
		w.leave(w.it.Sub()[2:])
	}
	w.known = false
	return w.it.Seek(appendEnd(nil, w.level, at))
}

// leave notes that the current block stays, and ends somewhere. Who removes it does not call it.
func (w *blockWalk) leave(end []byte) { w.before, w.known = append(w.before[:0], end...), true }

// endBefore returns where the block ends before the current one, which ends somewhere; nil if
// there is none.
func (w *blockWalk) endBefore(end []byte) ([]byte, error) {
	var err error
	if !w.known {
		t := &w.z.table
		it := t.unit.Elements(t.key, &t.v, appendEnd(nil, w.level, nil), appendEnd(nil, w.level, end), true)
		w.before, w.known = w.before[:0], true
		if it.Next() {
			w.before = append(w.before, it.Sub()[2:]...)
		}
		err = it.Close()
	}
	if len(w.before) == 0 {
		return nil, err
	}
	return slices.Clone(w.before), err
}
