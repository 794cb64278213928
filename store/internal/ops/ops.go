package ops

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// ErrMalformed says that a batch is malformed, or of another version.
var ErrMalformed = errors.New("malformed batch")

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
	BatchVersion = 1
	HeadSize     = 2
	// Copied: the batch comes from a copy, not from a write.
	Copied  = 1
	sameKey = 0x80
)

const (
	// A header follows, with its length. With a generation of its own, the value
	// keeps the sub entries that it has where it arrives.
	Put = 1 + iota
	// As opPut, but it is a new value without sub entries,
	PutNew
	// or with those that opStage began under this generation.
	PutStaged
	Remove     // the key with all its entries
	PutSub     // sub key and value follow, with their lengths
	RemoveSub  // sub key
	RemoveSubs // delete sub keys from, up to and not including to; an empty to is no bound
	// A generation of 8 B LE follows; the opSub that follow under the same key
	// belong to a value under construction, which is garbage until it is adopted:
	// the first of it,
	Stage
	// or more of it.
	StageMore
	Abandon // a generation: such a value will not be adopted
	// No key but two positions, with their lengths: delete all between them, but
	// not the header of the key that the second lies in.
	Clear
	// No key but a range of tokens, 8 B BE: delete all in it. It is a batch alone.
	Drop
	last = Drop
)

// An Op is one operation of a batch; its slices point into the batch.
type Op struct {
	Kind   byte
	Key    []byte
	Gen    uint64 // of opStage, opMore, opAbandon, and of opSub what was staged
	A, B   []byte
	Tokens ring.Range
}

// A Writer writes a batch.
type Writer struct {
	Buf []byte
	Key []byte // of the last operation, in buf
}

// NewWriter returns the writer of a batch that has room for about so many bytes.
func NewWriter(flags byte, room int) *Writer {
	w := &Writer{Buf: make([]byte, 0, room+HeadSize)}
	w.Begin(flags)
	return w
}

// Begin begins a batch in the room of another.
func (w *Writer) Begin(flags byte) {
	w.Buf, w.Key = append(w.Buf[:0], BatchVersion, flags), nil
}

// Empty reports whether the batch has no operation.
func (w *Writer) Empty() bool { return len(w.Buf) == HeadSize }

// Add appends an operation.
func (w *Writer) Add(o *Op) {
	switch o.Kind {
	case Clear:
		w.Buf = AppendBytes(AppendBytes(append(w.Buf, Clear), o.A), o.B)
		w.Key = nil
		return
	case Drop:
		w.Buf = binary.BigEndian.AppendUint32(append(w.Buf, Drop), uint32(o.Tokens.Start))
		w.Buf = binary.BigEndian.AppendUint32(w.Buf, uint32(o.Tokens.End))
		w.Key = nil
		return
	}
	if w.Key != nil && bytes.Equal(w.Key, o.Key) {
		w.Buf = append(w.Buf, o.Kind|sameKey)
	} else {
		w.Buf = AppendBytes(append(w.Buf, o.Kind), o.Key)
		w.Key = w.Buf[len(w.Buf)-len(o.Key):]
	}
	switch o.Kind {
	case Put, PutNew, PutStaged, RemoveSub:
		w.Buf = AppendBytes(w.Buf, o.A)
	case PutSub, RemoveSubs:
		w.Buf = AppendBytes(AppendBytes(w.Buf, o.A), o.B)
	case Stage, StageMore, Abandon:
		w.Buf = binary.LittleEndian.AppendUint64(w.Buf, o.Gen)
	}
}

// AppendBytes appends b with its length.
func AppendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

// CutBytes reads what AppendBytes writes, and returns what follows it.
func CutBytes(b []byte) (head, rest []byte, ok bool) {
	n, w := binary.Uvarint(b)
	if w <= 0 || n > uint64(len(b)-w) {
		return nil, nil, false
	}
	end := w + int(n)
	return b[w:end:end], b[end:], true
}

// Each calls visit for each operation of a batch, until it returns an error.
func Each(batch []byte, visit func(*Op) error) (flags byte, err error) {
	if len(batch) < HeadSize || batch[0] != BatchVersion || batch[1]&^Copied != 0 {
		return 0, fmt.Errorf("%w: head", ErrMalformed)
	}
	flags = batch[1]
	var o Op
	known := false // o.key is
	staged := uint64(0)
	for rest := batch[HeadSize:]; len(rest) > 0; {
		kind := rest[0] &^ sameKey
		same := rest[0]&sameKey != 0
		rest = rest[1:]
		if kind == 0 || kind > last || same && (!known || kind >= Clear) {
			return 0, fmt.Errorf("%w: operation %d", ErrMalformed, kind)
		}
		o = Op{Kind: kind, Key: o.Key}
		ok := true
		if !same {
			staged = 0
			if known = kind < Clear; known {
				o.Key, rest, ok = CutBytes(rest)
			}
		}
		if ok {
			rest, ok = o.decode(rest)
		}
		if !ok {
			return 0, fmt.Errorf("%w: operation %d is cut off", ErrMalformed, kind)
		}
		switch kind {
		case Stage, StageMore:
			staged = o.Gen
		case PutSub:
			o.Gen = staged
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
func (o *Op) decode(b []byte) (rest []byte, ok bool) {
	switch o.Kind {
	case Put, PutNew, PutStaged, RemoveSub:
		o.A, b, ok = CutBytes(b)
		return b, ok
	case PutSub, RemoveSubs, Clear:
		if o.A, b, ok = CutBytes(b); ok {
			o.B, b, ok = CutBytes(b)
		}
		return b, ok
	case Stage, StageMore, Abandon:
		if len(b) < 8 {
			return nil, false
		}
		o.Gen = binary.LittleEndian.Uint64(b)
		return b[8:], o.Gen != 0
	case Drop:
		if len(b) < 8 {
			return nil, false
		}
		o.Tokens = ring.Range{Start: ring.Token(binary.BigEndian.Uint32(b)), End: ring.Token(binary.BigEndian.Uint32(b[4:]))}
		return b[8:], true
	}
	return b, true
}

// Before returns that part of a batch which lies before a position of a range, for
// a store that has a copy up to there and no more; nil if nothing does. The batch
// must be of that range.
func Before(token ring.TokenFunc, batch []byte, r ring.Range, at layout.Position) ([]byte, error) {
	if err := at.Check(); err != nil {
		return nil, err
	}
	if at.AtEnd() {
		return batch, nil
	}
	if len(at) == 0 {
		return nil, nil
	}
	w := NewWriter(0, len(batch))
	var pos layout.Position
	flags, err := Each(batch, func(o *Op) error {
		switch o.Kind {
		case Drop:
			for _, st := range layout.PiecesOf(o.Tokens) {
				from := layout.PositionOf(st.First)
				own, ok := layout.PieceAt(r, from)
				if !ok || layout.ComparePositions(r, from, at) >= 0 {
					continue
				}
				end := own.After(r)
				if st.Last != own.Last {
					end = layout.PositionOf(st.Last + 1)
				}
				cutClear(w, &Op{Kind: Clear, A: from, B: end}, r, at)
			}
			return nil
		case Clear:
			if layout.ComparePositions(r, o.A, at) < 0 {
				cutClear(w, o, r, at)
			}
			return nil
		case PutSub, RemoveSub:
			pos = layout.EntryPosition(pos[:0], layout.PlaceOf(token, o.Key), o.Key, o.A)
		case RemoveSubs:
			return cutSubRange(token, w, o, r, at)
		default:
			pos = layout.EntryPosition(pos[:0], layout.PlaceOf(token, o.Key), o.Key, nil)
		}
		if layout.ComparePositions(r, pos, at) >= 0 {
			return nil
		}
		w.Add(o)
		return nil
	})
	if err != nil || w.Empty() {
		return nil, err
	}
	w.Buf[1] = flags
	return w.Buf, nil
}

// Within returns that part of a batch of a tap which lies in some ranges, nil if
// nothing does.
func Within(token ring.TokenFunc, batch []byte, ranges ...ring.Range) ([]byte, error) {
	w := NewWriter(0, len(batch))
	all := true
	flags, err := Each(batch, func(o *Op) error {
		switch o.Kind {
		case Clear:
			return fmt.Errorf("%w: a copy is not cut by ranges", ErrMalformed)
		case Drop:
			all = false
			for _, r := range ranges {
				for _, tokens := range layout.Intersect(r, o.Tokens) {
					w.Add(&Op{Kind: Drop, Tokens: tokens})
				}
			}
			return nil
		}
		t := token(o.Key)
		if !slices.ContainsFunc(ranges, func(r ring.Range) bool { return r.Contains(t) }) {
			all = false
			return nil
		}
		w.Add(o)
		return nil
	})
	switch {
	case err != nil || w.Empty():
		return nil, err
	case all:
		return batch, nil
	}
	w.Buf[1] = flags
	return w.Buf, nil
}

// cutClear adds that part of a clearing which lies before a position. A clearing spares
// the key that it ends in, so the one in which it is cut goes by itself.
func cutClear(w *Writer, o *Op, r ring.Range, at layout.Position) {
	c := *o
	cut := layout.ComparePositions(r, o.B, at) > 0
	if cut {
		c.B = at
	}
	w.Add(&c)
	key, sub := at.Split()
	if !cut || len(sub) == 0 {
		return
	}
	if layout.ComparePositions(r, layout.EntryPosition(nil, at.Place(), key, nil), o.A) >= 0 {
		w.Add(&Op{Kind: Remove, Key: key})
	}
}

func cutSubRange(token ring.TokenFunc, w *Writer, o *Op, r ring.Range, at layout.Position) error {
	p := layout.PlaceOf(token, o.Key)
	if layout.ComparePositions(r, layout.EntryPosition(nil, p, o.Key, o.A), at) >= 0 {
		return nil
	}
	c := *o
	if key, sub := at.Split(); at.Place() == p && bytes.Equal(key, o.Key) && (len(o.B) == 0 || bytes.Compare(sub, o.B) < 0) {
		c.B = sub
	}
	w.Add(&c)
	return nil
}
