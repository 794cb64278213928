package store

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

// A changedPiece is a piece of a long string that a unit has changed in place. It
// goes into the batch only when the unit is applied: until then further changes,
// and reads, meet it here, which a batch cannot offer.
type changedPiece struct {
	gen   uint64 // no two strings share one
	index int64
	key   []byte // in Pebble
	data  *pieceBuffer
}

type pieceBuffer [pieceSize]byte

// maxChangedPieces is how many changed pieces a unit keeps before they are applied early.
const maxChangedPieces = 64

var (
	pieceBuffers = sync.Pool{New: func() any { return new(pieceBuffer) }}
	zeroPiece    pieceBuffer
)

// changedPieces are the changed pieces of a unit.
type changedPieces struct {
	u    *Unit
	list []changedPiece
}

// pieceIn returns a piece that is among changed ones, or nil.
func pieceIn(changed []changedPiece, gen uint64, index int64) *pieceBuffer {
	for i := range changed {
		if d := &changed[i]; d.gen == gen && d.index == index {
			return d.data
		}
	}
	return nil
}

// addChanged adds a piece of zero bytes; prefix is that of the string's entries.
func (d *changedPieces) addChanged(prefix []byte, gen uint64, index int64) *pieceBuffer {
	data := pieceBuffers.Get().(*pieceBuffer)
	clear(data[:])
	key := layout.AppendPieceKey(bytes.Clone(prefix), gen, uint32(index))
	d.list = append(d.list, changedPiece{gen, index, key, data})
	return data
}

// mayChange reports whether the pieces of the bytes from off up to end may change in a
// unit that stays whole.
func (d *changedPieces) mayChange(gen uint64, off, end int64) bool {
	more := 0
	for i := off / pieceSize; i*pieceSize < end; i++ {
		if pieceIn(d.list, gen, i) == nil {
			more++
		}
	}
	return more == 0 || len(d.list)+more <= maxChangedPieces || d.u.grow(int64(more)*pieceSize)
}

// dropChanged forgets the changed pieces of a generation, or of all with gen 0.
func (d *changedPieces) dropChanged(gen uint64) {
	kept := d.list[:0]
	for _, piece := range d.list {
		if gen != 0 && piece.gen != gen {
			kept = append(kept, piece)
			continue
		}
		pieceBuffers.Put(piece.data)
	}
	clear(d.list[len(kept):])
	d.list = kept
}

// writeChanged moves the changed pieces into the batch.
func (d *changedPieces) writeChanged() {
	for _, piece := range d.list {
		_ = d.u.batch.Set(piece.key, trimZeros(piece.data[:]), nil)
	}
	d.dropChanged(0)
}

// piece returns what there is of a piece; bytes that are missing at its end are
// zero. The caller closes closer, unless it is nil, when it is done with data.
func (u *Unit) piece(prefix, key []byte, v *Value, i int64) (data []byte, closer io.Closer, err error) {
	if d := pieceIn(u.pieces.list, v.gen, i); d != nil {
		return d[:], nil, nil
	}
	pieceKey := layout.AppendPieceKey(prefix, v.gen, uint32(i))
	if r := u.reader(v.place, key); r != nil {
		if !r.iter.SeekGE(pieceKey) || !bytes.Equal(r.iter.Key(), pieceKey) {
			if err := r.iter.Error(); err != nil {
				return nil, nil, u.s.readFailed(err)
			}
			return nil, nil, nil
		}
		if data, err = r.iter.ValueAndErr(); err != nil {
			return nil, nil, u.s.readFailed(err)
		}
		return data, nil, nil
	}
	mayWait(u)
	data, closer, err = u.s.db.Get(pieceKey)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, u.s.readFailed(err)
	}
	return data, closer, nil
}
