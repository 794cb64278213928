package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// A batch is what travels from one store to another: a byte of version, a byte of
// flags, then operations, each
//
//	kind 1 B | length of user key, user key | what the kind has
//
// where a kind with sameKey set goes without the key: it is that of the operation
// before. Lengths are uvarints. Keys travel without their place, which the token
// function gives, and sub keys without their generation, which is the receiver's own
// affair: a header names the sender's, as a name for a value under construction only.
const (
	batchVersion = 1
	batchHead    = 2
	// batchCopied: the batch comes from a copy, not from a write.
	batchCopied = 1
	sameKey     = 0x80
)

const (
	// A header follows, with its length. With a generation of its own, the value
	// keeps the sub entries that it has where it arrives.
	opPut = 1 + iota
	// As opPut, but it is a new value without sub entries,
	opFresh
	// or with those that opStage began under this generation.
	opAdopt
	opRemove    // the key with all its entries
	opSub       // sub key and value follow, with their lengths
	opSubDelete // sub key
	opSubRange  // delete sub keys from, up to and not including to; an empty to is no bound
	// A generation of 8 B LE follows; the opSub that follow under the same key
	// belong to a value under construction, which is garbage until it is adopted:
	// the first of it,
	opStage
	// or more of it.
	opMore
	opAbandon // a generation: such a value will not be adopted
	// No key but two positions, with their lengths: delete all between them, but
	// not the header of the key that the second lies in.
	opClear
	// No key but a range of tokens, 8 B BE: delete all in it. It is a batch alone.
	opDrop
	opLast = opDrop
)

// An operation is one operation of a batch; its slices point into the batch.
type operation struct {
	kind   byte
	key    []byte
	gen    uint64 // of opStage, opMore, opAbandon, and of opSub what was staged
	a, b   []byte
	tokens ring.Range
}

type batchWriter struct {
	buf []byte
	key []byte // of the last operation, in buf
}

func newBatch(flags byte, room int) *batchWriter {
	w := &batchWriter{buf: make([]byte, 0, room+batchHead)}
	w.begin(flags)
	return w
}

// begin begins a batch in the room of another.
func (w *batchWriter) begin(flags byte) {
	w.buf, w.key = append(w.buf[:0], batchVersion, flags), nil
}

func (w *batchWriter) empty() bool { return len(w.buf) == batchHead }

func (w *batchWriter) add(o *operation) {
	switch o.kind {
	case opClear:
		w.buf = appendBytes(appendBytes(append(w.buf, opClear), o.a), o.b)
		w.key = nil
		return
	case opDrop:
		w.buf = binary.BigEndian.AppendUint32(append(w.buf, opDrop), uint32(o.tokens.Start))
		w.buf = binary.BigEndian.AppendUint32(w.buf, uint32(o.tokens.End))
		w.key = nil
		return
	}
	if w.key != nil && bytes.Equal(w.key, o.key) {
		w.buf = append(w.buf, o.kind|sameKey)
	} else {
		w.buf = appendBytes(append(w.buf, o.kind), o.key)
		w.key = w.buf[len(w.buf)-len(o.key):]
	}
	switch o.kind {
	case opPut, opFresh, opAdopt, opSubDelete:
		w.buf = appendBytes(w.buf, o.a)
	case opSub, opSubRange:
		w.buf = appendBytes(appendBytes(w.buf, o.a), o.b)
	case opStage, opMore, opAbandon:
		w.buf = binary.LittleEndian.AppendUint64(w.buf, o.gen)
	}
}

func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

func cutBytes(b []byte) (head, rest []byte, ok bool) {
	n, w := binary.Uvarint(b)
	if w <= 0 || n > uint64(len(b)-w) {
		return nil, nil, false
	}
	end := w + int(n)
	return b[w:end:end], b[end:], true
}

// eachOp calls visit for each operation of a batch, until it returns an error.
func eachOp(batch []byte, visit func(*operation) error) (flags byte, err error) {
	if len(batch) < batchHead || batch[0] != batchVersion || batch[1]&^batchCopied != 0 {
		return 0, fmt.Errorf("%w: head", ErrBatch)
	}
	flags = batch[1]
	var o operation
	known := false // o.key is
	staged := uint64(0)
	for rest := batch[batchHead:]; len(rest) > 0; {
		kind := rest[0] &^ sameKey
		same := rest[0]&sameKey != 0
		rest = rest[1:]
		if kind == 0 || kind > opLast || same && (!known || kind >= opClear) {
			return 0, fmt.Errorf("%w: operation %d", ErrBatch, kind)
		}
		o = operation{kind: kind, key: o.key}
		ok := true
		if !same {
			staged = 0
			if known = kind < opClear; known {
				o.key, rest, ok = cutBytes(rest)
			}
		}
		if ok {
			rest, ok = o.decode(rest)
		}
		if !ok {
			return 0, fmt.Errorf("%w: operation %d is cut off", ErrBatch, kind)
		}
		switch kind {
		case opStage, opMore:
			staged = o.gen
		case opSub:
			o.gen = staged
		default:
			staged = 0
		}
		if err := visit(&o); err != nil {
			return 0, err
		}
	}
	return flags, nil
}

// decode reads what an operation has behind its key.
func (o *operation) decode(b []byte) (rest []byte, ok bool) {
	switch o.kind {
	case opPut, opFresh, opAdopt, opSubDelete:
		o.a, b, ok = cutBytes(b)
		return b, ok
	case opSub, opSubRange, opClear:
		if o.a, b, ok = cutBytes(b); ok {
			o.b, b, ok = cutBytes(b)
		}
		return b, ok
	case opStage, opMore, opAbandon:
		if len(b) < 8 {
			return nil, false
		}
		o.gen = binary.LittleEndian.Uint64(b)
		return b[8:], o.gen != 0
	case opDrop:
		if len(b) < 8 {
			return nil, false
		}
		o.tokens = ring.Range{Start: ring.Token(binary.BigEndian.Uint32(b)), End: ring.Token(binary.BigEndian.Uint32(b[4:]))}
		return b[8:], true
	}
	return b, true
}

// CutBatch returns that part of a batch which lies before a position of a range, for
// a store that has a copy up to there and no more; nil if nothing does. The batch
// must be of that range.
func (s *Store) CutBatch(batch []byte, r ring.Range, at Position) ([]byte, error) {
	if err := at.Check(); err != nil {
		return nil, err
	}
	if at.AtEnd() {
		return batch, nil
	}
	if len(at) == 0 {
		return nil, nil
	}
	w := newBatch(0, len(batch))
	var pos Position
	flags, err := eachOp(batch, func(o *operation) error {
		switch o.kind {
		case opDrop:
			for _, st := range layout.PiecesOf(o.tokens) {
				from := layout.PositionOf(st.First)
				own, ok := layout.PieceAt(r, from)
				if !ok || layout.ComparePositions(r, from, at) >= 0 {
					continue
				}
				end := own.After(r)
				if st.Last != own.Last {
					end = layout.PositionOf(st.Last + 1)
				}
				s.cutClear(w, &operation{kind: opClear, a: from, b: end}, r, at)
			}
			return nil
		case opClear:
			if layout.ComparePositions(r, o.a, at) < 0 {
				s.cutClear(w, o, r, at)
			}
			return nil
		case opSub, opSubDelete:
			pos = layout.EntryPosition(pos[:0], PlaceOf(s.token, o.key), o.key, o.a)
		case opSubRange:
			return s.cutSubRange(w, o, r, at)
		default:
			pos = layout.EntryPosition(pos[:0], PlaceOf(s.token, o.key), o.key, nil)
		}
		if layout.ComparePositions(r, pos, at) >= 0 {
			return nil
		}
		w.add(o)
		return nil
	})
	if err != nil || w.empty() {
		return nil, err
	}
	w.buf[1] = flags
	return w.buf, nil
}

// BatchWithin returns that part of a batch of a tap which lies in some ranges, nil if
// nothing does.
func (s *Store) BatchWithin(batch []byte, ranges ...ring.Range) ([]byte, error) {
	w := newBatch(0, len(batch))
	all := true
	flags, err := eachOp(batch, func(o *operation) error {
		switch o.kind {
		case opClear:
			return fmt.Errorf("%w: a copy is not cut by ranges", ErrBatch)
		case opDrop:
			all = false
			for _, r := range ranges {
				for _, tokens := range layout.Intersect(r, o.tokens) {
					w.add(&operation{kind: opDrop, tokens: tokens})
				}
			}
			return nil
		}
		t := s.token(o.key)
		if !slices.ContainsFunc(ranges, func(r ring.Range) bool { return r.Contains(t) }) {
			all = false
			return nil
		}
		w.add(o)
		return nil
	})
	switch {
	case err != nil || w.empty():
		return nil, err
	case all:
		return batch, nil
	}
	w.buf[1] = flags
	return w.buf, nil
}

// cutClear adds that part of a clearing which lies before a position. A clearing spares
// the key that it ends in, so the one in which it is cut goes by itself.
func (s *Store) cutClear(w *batchWriter, o *operation, r ring.Range, at Position) {
	c := *o
	cut := layout.ComparePositions(r, o.b, at) > 0
	if cut {
		c.b = at
	}
	w.add(&c)
	key, sub := at.Split()
	if !cut || len(sub) == 0 {
		return
	}
	if layout.ComparePositions(r, layout.EntryPosition(nil, at.Place(), key, nil), o.a) >= 0 {
		w.add(&operation{kind: opRemove, key: key})
	}
}

func (s *Store) cutSubRange(w *batchWriter, o *operation, r ring.Range, at Position) error {
	p := PlaceOf(s.token, o.key)
	if layout.ComparePositions(r, layout.EntryPosition(nil, p, o.key, o.a), at) >= 0 {
		return nil
	}
	c := *o
	if key, sub := at.Split(); at.Place() == p && bytes.Equal(key, o.key) && (len(o.b) == 0 || bytes.Compare(sub, o.b) < 0) {
		c.b = sub
	}
	w.add(&c)
	return nil
}
