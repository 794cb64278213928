package bitmaps

import (
	"bytes"
	"slices"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/store"
)

// A bitWindow is a string as the operations of one BITFIELD see it: what they
// touch is read once, changed in memory, and written when all have succeeded. So
// many operations on one string cost no more than a few, and a failure leaves
// nothing half done.
type bitWindow struct {
	x     *command.Call
	key   []byte
	v     store.Value
	parts map[int64]*bitPart // by number: offset in bytes / bitPartSize
	// differs: a bit was set to something else than it was.
	differs bool
}

// bitPartSize is small, for a call may touch as many parts as it has arguments.
const bitPartSize = 64

type bitPart struct {
	changed bool
	data    []byte
}

// part returns the part that has byte i; behind the string's end it is zero.
func (w *bitWindow) part(i int64) (*bitPart, error) {
	n := i / bitPartSize
	if p := w.parts[n]; p != nil {
		return p, nil
	}
	p := &bitPart{data: make([]byte, bitPartSize)}
	if start := n * bitPartSize; start < w.v.Size {
		_, err := w.x.Unit.ReadRange(w.key, w.v, start, min(bitPartSize, w.v.Size-start), p.data[:0])
		if err != nil {
			return nil, err
		}
	}
	if w.parts == nil {
		w.parts = make(map[int64]*bitPart)
	}
	w.parts[n] = p
	return p, nil
}

// bits returns the n bits from offset off on.
func (w *bitWindow) bits(off int64, n uint) (raw uint64, err error) {
	for n > 0 {
		p, err := w.part(off >> 3)
		if err != nil {
			return 0, err
		}
		c := p.data[off>>3%bitPartSize] << (off & 7) >> (off & 7)
		free := 8 - uint(off&7)
		take := min(free, n)
		raw = raw<<take | uint64(c>>(free-take))
		off += int64(take)
		n -= take
	}
	return raw, nil
}

// setBits sets the n bits from offset off on to the low bits of raw.
func (w *bitWindow) setBits(off int64, n uint, raw uint64) error {
	for n > 0 {
		p, err := w.part(off >> 3)
		if err != nil {
			return err
		}
		c := &p.data[off>>3%bitPartSize]
		free := 8 - uint(off&7)
		take := min(free, n)
		shift := free - take
		mask := byte(0xff) >> (8 - take) << shift
		was := *c
		*c = *c&^mask | byte(raw>>(n-take))<<shift&mask
		w.differs = w.differs || *c != was
		p.changed = p.changed || *c != was || !w.v.Raw // what is written by parts becomes raw, also without a change
		off += int64(take)
		n -= take
	}
	return nil
}

// store makes the string at least size bytes long and writes what has changed.
func (w *bitWindow) store(size int64) error {
	if size > w.v.Size {
		if err := w.write(size-1, []byte{0}); err != nil {
			return err
		}
	}
	changed := w.changed()
	if len(changed) > 0 && w.v.Whole() {
		// It is rewritten in any case: once is enough.
		whole := bytes.Clone(w.v.Inline)
		for _, n := range changed {
			copy(whole[n*bitPartSize:], w.parts[n].data)
		}
		return w.write(0, whole)
	}
	for _, n := range changed {
		start := n * bitPartSize
		if err := w.write(start, w.parts[n].data[:min(bitPartSize, w.v.Size-start)]); err != nil {
			return err
		}
	}
	return nil
}

// changed returns the numbers of the parts that have changed, in order.
func (w *bitWindow) changed() []int64 {
	var nums []int64
	for n, p := range w.parts {
		if p.changed {
			nums = append(nums, n)
		}
	}
	slices.Sort(nums)
	return nums
}

func (w *bitWindow) write(off int64, data []byte) error {
	_, err := w.x.Unit.WriteRange(w.key, w.v, off, data)
	if err == nil {
		w.v, err = w.x.Unit.Get(w.key)
	}
	return err
}
