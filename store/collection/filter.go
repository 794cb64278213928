package collection

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/bloom"
	"github.com/ringside-kv/ringside/store/rdb"
)

// A Filter is a scalable Bloom filter in a store. A small one is whole: the head of its chain, then the bits of all
// filters. Of a large one the header has the head, and there is an element for each block of bits that are not all zero: so
// an item that is added changes as many blocks as it has bits, however large the filter is.
type Filter struct {
	// MaxPacked is up to how many bytes a filter is kept whole.
	MaxPacked int
	// MaxBytes is how many bytes of bits there may be.
	MaxBytes int64
	// Grow is asked for the memory of what changes and of what is kept, unless it is nil.
	Grow func(bytes int64) bool
	// Keep has each block read once: a unit holds all that it has read until it ends, so a command with many items
	// would hold a block for each of their bits.
	Keep bool

	unit  *store.Unit
	key   []byte
	v     store.Value
	chain *bloom.Chain // nil: there is no filter
	bits  []byte       // of a filter that is whole
	sub   []byte       // scratch
	// changed are the blocks that have changed, until they are written, and firstChanged the first filter with some.
	changed      map[blockAt][]byte
	firstChanged uint32
	fresh        int64 // of them: those that the store does not have
	kept         []keptBlocks
	starts       []uint64 // where in bits each filter begins
}

// blockAt says which block of which filter.
type blockAt struct{ link, block uint32 }

// blockLen is how many bytes a block has. It is part of the format.
const blockLen = 256

// blockBytes is about what a block that changes, or is kept, takes in memory.
const blockBytes = 2*blockLen + 64

// ErrNoMemory says that there is no memory for what a command reads or changes of a filter.
var ErrNoMemory = errors.New("no memory for the blocks of the filter")

// Open begins with the filter at a key; v is what GetWhole returned, or Get in a unit that holds the key's latch. The error
// is [ErrType] if there is another value.
func (f *Filter) Open(u *store.Unit, key []byte, v store.Value) error {
	f.unit, f.key, f.v, f.chain, f.bits, f.changed, f.fresh, f.kept, f.starts = u, key, v, nil, nil, nil, 0, nil, nil
	if !v.Exists() {
		return nil
	}
	if v.Type != store.Bloom {
		return ErrType
	}
	chain, rest, err := bloom.ReadHead(v.Inline, 1<<62)
	if err == nil && (v.Whole() && int64(len(rest)) != chain.Bytes() || !v.Whole() && len(rest) > 0) {
		err = bloom.ErrForm
	}
	if err != nil {
		return fmt.Errorf("%w: filter: %w", store.ErrDamaged, err)
	}
	f.chain, f.bits = chain, rest
	return nil
}

// Chain returns what is known of the filter; nil if there is none. The caller does not change it.
func (f *Filter) Chain() *bloom.Chain { return f.chain }

// Create begins a filter where there is none.
func (f *Filter) Create(chain *bloom.Chain) {
	f.chain, f.bits, f.changed = chain, nil, map[blockAt][]byte{}
}

// Contains reports whether an item may have been added.
func (f *Filter) Contains(h bloom.Hash) (bool, error) {
	for i := len(f.chain.Links) - 1; i >= 0; i-- {
		if has, err := f.linkContains(i, h); has || err != nil {
			return has, err
		}
	}
	return false, nil
}

func (f *Filter) linkContains(link int, h bloom.Hash) (bool, error) {
	l := &f.chain.Links[link]
	for i := range l.Hashes {
		bit := l.Bit(h, i)
		block, _, err := f.block(blockAt{uint32(link), uint32(bit / 8 / blockLen)})
		if err != nil || block == nil || block[bit/8%blockLen]&(1<<(bit%8)) == 0 {
			return false, err
		}
	}
	return true, nil
}

// start returns where in bits a filter begins.
func (f *Filter) start(link uint32) (at uint64) {
	if len(f.starts) == 0 {
		f.starts = append(f.starts, 0)
	}
	for i := uint32(len(f.starts)); i <= link; i++ {
		f.starts = append(f.starts, f.starts[i-1]+f.chain.Links[i-1].Bytes())
	}
	return f.starts[link]
}

// size returns how many bytes a block has: the last one of a filter may have fewer than others.
func (f *Filter) size(at blockAt) uint64 {
	return min(blockLen, f.chain.Links[at.link].Bytes()-uint64(at.block)*blockLen)
}

// block returns a block, nil if all of its bits are zero. stored: the store has an element for it.
func (f *Filter) block(at blockAt) (block []byte, stored bool, err error) {
	if len(f.changed) > 0 && at.link >= f.firstChanged {
		if b, ok := f.changed[at]; ok {
			return b, false, nil
		}
	}
	if !f.v.Exists() {
		return nil, false, nil
	}
	if f.v.Whole() {
		from := f.start(at.link) + uint64(at.block)*blockLen
		if from >= uint64(len(f.bits)) { // of a filter that is not written yet
			return nil, false, nil
		}
		return f.bits[from : from+f.size(at)], false, nil
	}
	if f.Keep {
		return f.keptBlock(at)
	}
	return f.storedBlock(at)
}

// storedBlock reads a block.
func (f *Filter) storedBlock(at blockAt) (block []byte, stored bool, err error) {
	b, ok, err := f.unit.Element(f.key, &f.v, f.subKey(at))
	if err != nil || !ok {
		return nil, false, err
	}
	if uint64(len(b)) != f.size(at) {
		return nil, true, fmt.Errorf("%w: block of a filter", store.ErrDamaged)
	}
	return b, true, nil
}

// subKey returns the sub key of a block, in scratch.
func (f *Filter) subKey(at blockAt) []byte {
	f.sub = append(f.sub[:0], store.FieldKind)
	f.sub = binary.BigEndian.AppendUint16(f.sub, uint16(at.link))
	f.sub = binary.BigEndian.AppendUint32(f.sub, at.block)
	return f.sub
}

// change returns a block that may be changed.
func (f *Filter) change(at blockAt) ([]byte, error) {
	if b, ok := f.changed[at]; ok {
		return b, nil
	}
	old, stored, err := f.block(at)
	if err != nil {
		return nil, err
	}
	if f.Grow != nil && !f.Grow(blockBytes) {
		return nil, ErrNoMemory
	}
	b := make([]byte, f.size(at))
	copy(b, old)
	if len(f.changed) == 0 {
		f.changed, f.firstChanged = map[blockAt][]byte{}, at.link
	}
	f.changed[at], f.firstChanged = b, min(f.firstChanged, at.link)
	if !stored {
		f.fresh++
	}
	return b, nil
}

// Add adds an item unless it may be there, and reports whether it has. The filter grows as needed; the errors are those of
// [bloom.Chain.Grow], [ErrNoMemory], and those of reads. Save writes what was added before an error, too.
func (f *Filter) Add(h bloom.Hash) (bool, error) {
	has, err := f.Contains(h)
	if has || err != nil {
		return false, err
	}
	if err := f.chain.Grow(f.MaxBytes); err != nil {
		return false, err
	}
	link := len(f.chain.Links) - 1
	l := &f.chain.Links[link]
	for i := range l.Hashes {
		bit := l.Bit(h, i)
		block, err := f.change(blockAt{uint32(link), uint32(bit / 8 / blockLen)})
		if err != nil {
			return false, err
		}
		block[bit/8%blockLen] |= 1 << (bit % 8)
	}
	l.Size++
	f.chain.Size++
	return true, nil
}

// Write sets bytes of the bits of all filters, as BF.LOADCHUNK has them, from a place on. They must lie within one filter.
func (f *Filter) Write(link int, from uint64, data []byte) error {
	for len(data) > 0 {
		at := blockAt{uint32(link), uint32(from / blockLen)}
		block, err := f.change(at)
		if err != nil {
			return err
		}
		n := copy(block[from%blockLen:], data)
		data, from = data[n:], from+uint64(n)
	}
	return nil
}

// Append appends bytes of a filter, from a place on.
func (f *Filter) Append(dst []byte, link int, from, n uint64) ([]byte, error) {
	for n > 0 {
		at := blockAt{uint32(link), uint32(from / blockLen)}
		block, _, err := f.block(at)
		if err != nil {
			return dst, err
		}
		part := min(n, f.size(at)-from%blockLen)
		if block == nil {
			dst = append(dst, make([]byte, part)...)
		} else {
			dst = append(dst, block[from%blockLen:from%blockLen+part]...)
		}
		n, from = n-part, from+part
	}
	return dst, nil
}

// Save writes what has changed. The unit must hold the key's latch. The expiry of the key stays.
func (f *Filter) Save() error {
	total := int64(f.chain.HeadLen()) + f.chain.Bytes()
	if (!f.v.Exists() || f.v.Whole()) && total <= int64(f.MaxPacked) {
		all, err := f.whole()
		if err == nil {
			f.unit.PutWhole(f.key, &f.v, store.Bloom, all)
		}
		return err
	}
	count := f.v.Count
	if !f.v.Exists() || f.v.Whole() {
		if err := f.spread(); err != nil {
			return err
		}
		count = 0
		if err := f.unit.Split(f.key, &f.v, store.Bloom); err != nil {
			return err
		}
		f.fresh = int64(len(f.changed))
	}
	for at, block := range f.changed {
		f.unit.SetElement(f.key, &f.v, f.subKey(at), block)
	}
	f.unit.PutHead(f.key, &f.v, count+f.fresh, total, f.chain.AppendHead(nil))
	f.changed, f.fresh = nil, 0
	return nil
}

// whole returns the form of a filter that is kept whole.
func (f *Filter) whole() (all []byte, err error) {
	all = f.chain.AppendHead(nil)
	for i := range f.chain.Links {
		if all, err = f.Append(all, i, 0, f.chain.Links[i].Bytes()); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// spread has all blocks of a filter that is whole change.
func (f *Filter) spread() error {
	if !f.v.Exists() {
		return nil
	}
	written := uint64(len(f.bits))
	for i := range f.chain.Links {
		if f.start(uint32(i)) >= written {
			return nil
		}
		for n := range (f.chain.Links[i].Bytes() + blockLen - 1) / blockLen {
			if _, err := f.change(blockAt{uint32(i), uint32(n)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// Restore makes the filter what a payload holds, whatever was there. The expiry goes. With an error nothing was changed.
func (f *Filter) Restore(u *store.Unit, key []byte, old store.Value, payload *rdb.Value) (store.Value, error) {
	chain, bits, err := bloom.ReadPayload(payload, f.MaxBytes)
	if err != nil {
		return old, err
	}
	total := int64(chain.HeadLen()) + chain.Bytes()
	head := chain.AppendHead(nil)
	v := old
	if total <= int64(f.MaxPacked) {
		for _, b := range bits {
			head = append(head, b...)
		}
		u.PutWhole(key, &v, store.Bloom, head)
		return v, nil
	}
	err = u.Construct(key, &v, store.Bloom, head, func(set func(sub, value []byte) error) (count, size int64, err error) {
		for i, b := range bits {
			for n := 0; len(b) > 0; n++ {
				block := b[:min(blockLen, len(b))]
				b = b[len(block):]
				if isZero(block) {
					continue
				}
				count++
				if err := set(f.subKey(blockAt{uint32(i), uint32(n)}), block); err != nil {
					return 0, 0, err
				}
			}
		}
		return count, total, nil
	})
	return v, err
}

func isZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// appendFilter appends the payload of DUMP for a filter.
func appendFilter(dst []byte, u *store.Unit, key []byte, v store.Value) ([]byte, error) {
	var f Filter
	if err := f.Open(u, key, v); err != nil {
		return dst, err
	}
	return f.chain.AppendPayload(dst, func(dst []byte, link int) ([]byte, error) {
		return f.Append(dst, link, 0, f.chain.Links[link].Bytes())
	})
}
