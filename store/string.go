package store

import (
	"bytes"
	"encoding/binary"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/store/internal/latch"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// pieceSize is the largest string that lies in its header, and the size of the
// pieces of longer ones, in bytes. It is part of the format. A piece that is
// missing, or shorter than its place, is filled up with zero bytes.
const pieceSize = 64 << 10

// byteValues writes values that are kept as bytes.
type byteValues struct{ u *Unit }

// PutString makes value the string at key, with an expiry in ms since 1970 or 0;
// v is what Get returned. The unit must hold the key's latch.
func (b *byteValues) PutString(key []byte, v Value, value []byte, expiry int64, raw bool) error {
	return b.PutBytes(key, v, String, value, expiry, raw)
}

// PutBytes is PutString for any type of values that are kept as bytes.
func (b *byteValues) PutBytes(key []byte, v Value, typ Type, value []byte, expiry int64, raw bool) error {
	u, old := b.u, v.header()
	h := layout.Header{Type: typ, Expiry: expiry, Value: value}
	if raw {
		h.Flags = layout.FlagRaw
	}
	if len(value) > pieceSize {
		return u.putPieces(key, v.place, &old, h, int64(len(value)), func(i int64) ([]byte, error) {
			return value[i*pieceSize : min((i+1)*pieceSize, int64(len(value)))], nil
		})
	}
	u.put(v.place, key, &old, &h)
	return nil
}

// putPieces writes a long string of size bytes as a new generation; piece gives
// its pieces.
func (u *Unit) putPieces(key []byte, p Place, old *layout.Header, h layout.Header, size int64, piece func(int64) ([]byte, error)) error {
	var sub []byte
	gen, err := u.long.buildValue(key, p, func(c *valueBuilder) error {
		for i := int64(0); i*pieceSize < size; i++ {
			data, err := piece(i)
			if err != nil {
				return err
			}
			if data = trimZeros(data); len(data) > 0 {
				sub = binary.BigEndian.AppendUint32(sub[:0], uint32(i))
				if err := c.set(sub, data); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	h.Gen, h.Count, h.Value = gen, uint64(size), nil
	u.put(p, key, old, &h)
	return nil
}

func trimZeros(b []byte) []byte { return bytes.TrimRight(b, "\x00") }

// BuildString makes a string of size bytes the value of key, as PutString does, and
// lets fill write its parts, in order, each from offset off on. What fill is given
// holds anything, and it must fill it whole. It may read other strings of the unit,
// and the one that is being replaced.
func (b *byteValues) BuildString(key []byte, v Value, size, expiry int64, raw bool, fill func(off int64, part []byte) error) error {
	u := b.u
	buf := pieceBuffers.Get().(*pieceBuffer)
	defer pieceBuffers.Put(buf)
	if size <= pieceSize {
		if err := fill(0, buf[:size]); err != nil {
			return err
		}
		return u.PutString(key, v, buf[:size], expiry, raw)
	}
	old := v.header()
	h := layout.Header{Type: String, Expiry: expiry}
	if raw {
		h.Flags = layout.FlagRaw
	}
	return u.putPieces(key, v.place, &old, h, size, func(i int64) ([]byte, error) {
		part := buf[:min(pieceSize, size-i*pieceSize)]
		return part, fill(i*pieceSize, part)
	})
}

// WriteRange overwrites the string at key from offset off on, filling up with
// zero bytes if it is shorter, and returns its new size in bytes. The key's expiry
// and type stay; a key without a value gets a string. v is what Get returned, and no longer right afterwards; the unit must hold
// the key's latch. With an error nothing has been changed.
func (u *Unit) WriteRange(key []byte, v Value, off int64, data []byte) (int64, error) {
	end := off + int64(len(data))
	size := max(v.Size, end)
	old := v.header()
	if v.gen != 0 {
		return size, u.overwrite(key, v, &old, off, data)
	}
	h := layout.Header{Type: max(v.Type, String), Expiry: v.Expiry, Flags: layout.FlagRaw}
	buf := pieceBuffers.Get().(*pieceBuffer)
	defer pieceBuffers.Put(buf)
	if size <= pieceSize {
		n := copy(buf[:], v.Inline)
		clear(buf[n:size])
		copy(buf[off:], data)
		h.Value = buf[:size]
		u.put(v.place, key, &old, &h)
		return size, nil
	}
	return size, u.putPieces(key, v.place, &old, h, size, func(i int64) ([]byte, error) {
		start := i * pieceSize
		if start >= v.Size && (start >= end || start+pieceSize <= off) {
			return nil, nil
		}
		clear(buf[:])
		if i == 0 {
			copy(buf[:], v.Inline)
		}
		copyOverlap(buf[:], start, off, data)
		return buf[:], nil
	})
}

// copyOverlap copies that part of data, which starts at off, into the piece that starts
// at start.
func copyOverlap(piece []byte, start, off int64, data []byte) {
	from, to := max(start, off), min(start+int64(len(piece)), off+int64(len(data)))
	if from < to {
		copy(piece[from-start:], data[from-off:to-off])
	}
}

// overwrite changes the pieces of a long string in place.
func (u *Unit) overwrite(key []byte, v Value, old *layout.Header, off int64, data []byte) error {
	end := off + int64(len(data))
	// More than fits is not kept but goes into the batch at once, and then on.
	many := int64(len(data)) > maxChangedPieces*pieceSize && u.grow == nil
	switch {
	case u.grow != nil:
		if !u.pieces.mayChange(v.gen, off, end) {
			return ErrNotWhole
		}
	case len(u.pieces.list) > maxChangedPieces:
		if err := u.Flush(); err != nil {
			return err
		}
	}
	prefix := layout.AppendDataPrefix(nil, v.place, key)
	// All reads come before the first change, in case one fails.
	for _, i := range [2]int64{off / pieceSize, max(end-1, off) / pieceSize} {
		if i*pieceSize < off || i*pieceSize+pieceSize > end {
			if err := u.loadDirty(prefix, key, &v, i); err != nil {
				return err
			}
		}
	}
	known := u.pieces.list
	for i := off / pieceSize; i*pieceSize < end; i++ {
		start := i * pieceSize
		piece := pieceIn(known, v.gen, i)
		switch {
		case piece != nil:
			copyOverlap(piece[:], start, off, data)
		case many:
			whole := data[start-off : start-off+pieceSize]
			_ = u.ensureBatch().Set(layout.AppendPieceKey(prefix, v.gen, uint32(i)), trimZeros(whole), nil)
		default:
			copyOverlap(u.pieces.addChanged(prefix, v.gen, i)[:], start, off, data)
		}
	}
	u.ensureBatch()
	u.touch(key)
	if end > v.Size || !v.Raw {
		h := *old
		h.Count = uint64(max(v.Size, end))
		h.Flags |= layout.FlagRaw
		u.put(v.place, key, old, &h)
	}
	if many {
		return u.Flush()
	}
	return nil
}

// loadDirty makes a piece a dirty one, with what it holds.
func (u *Unit) loadDirty(prefix, key []byte, v *Value, i int64) error {
	if pieceIn(u.pieces.list, v.gen, i) != nil {
		return nil
	}
	if i*pieceSize >= v.Size {
		u.pieces.addChanged(prefix, v.gen, i)
		return nil
	}
	data, closer, err := u.piece(prefix, key, v, i)
	if err != nil {
		return err
	}
	copy(u.pieces.addChanged(prefix, v.gen, i)[:], data)
	if closer != nil {
		_ = closer.Close()
	}
	return nil
}

// ReadRange appends bytes off to off+n of the string at key to dst; the range must
// lie within v.Size. v is what Get returned.
func (u *Unit) ReadRange(key []byte, v Value, off, n int64, dst []byte) ([]byte, error) {
	if v.gen == 0 {
		return append(dst, v.Inline[off:off+n]...), nil
	}
	prefix := layout.AppendDataPrefix(nil, v.place, key)
	for i := off / pieceSize; i*pieceSize < off+n; i++ {
		start := i * pieceSize
		data, closer, err := u.piece(prefix, key, &v, i)
		if err != nil {
			return dst, err
		}
		from, to := max(off-start, 0), min(off+n-start, pieceSize)
		stored := min(to, max(from, int64(len(data))))
		if from < stored {
			dst = append(dst, data[from:stored]...)
		}
		dst = append(dst, zeroPiece[stored:to]...)
		if closer != nil {
			_ = closer.Close()
		}
	}
	return dst, nil
}

// Bytes returns the whole string; it may be long.
func (u *Unit) Bytes(key []byte, v Value) ([]byte, error) {
	if v.gen == 0 {
		return v.Inline, nil
	}
	return u.ReadRange(key, v, 0, v.Size, make([]byte, 0, v.Size))
}

// A pieceReader is an iterator over one long string: a state of its own, so that a
// unit without latches sees the header and the pieces of the same moment.
type pieceReader struct {
	place Place
	key   []byte
	iter  *pebble.Iterator
}

func (u *Unit) reader(p Place, key []byte) *pieceReader {
	for i := range u.readers {
		if r := &u.readers[i]; r.place == p && bytes.Equal(r.key, key) {
			return r
		}
	}
	return nil
}

// openReader opens a reader for a key and returns the header that it sees.
func (u *Unit) openReader(p Place, key []byte) (h layout.Header, err error) {
	l := &u.s.latches[latch.Of(p)]
	r := u.reader(p, key)
	if r == nil {
		prefix := layout.AppendDataPrefix(nil, p, key)
		open := func() (*pebble.Iterator, error) {
			mayWait(u)
			return u.s.db.NewIter(&pebble.IterOptions{
				LowerBound: prefix,
				UpperBound: layout.PrefixEnd(append([]byte(nil), prefix...)),
			})
		}
		iter, err := open()
		if err == nil && l.IsCommitting() {
			_ = iter.Close()
			l.Lock()
			iter, err = open()
			u.noteRead(l, p)
			l.Unlock()
		}
		if err != nil {
			return h, u.s.readFailed(err)
		}
		u.noteRead(l, p)
		u.readers = append(u.readers, pieceReader{p, key, iter})
		r = &u.readers[len(u.readers)-1]
	}
	if !r.iter.First() {
		return h, r.iter.Error()
	}
	value, err := r.iter.ValueAndErr()
	if err != nil {
		return h, u.s.readFailed(err)
	}
	start := len(u.lines)
	u.lines = append(u.lines, value...)
	if len(r.iter.Key()) != len(layout.AppendDataPrefix(u.pbuf[:0], p, key)) {
		return layout.Header{}, nil // entries without a header: deleted, not yet collected
	}
	if err := h.Parse(u.lines[start:len(u.lines):len(u.lines)]); err != nil || h.Expired(u.now) {
		return layout.Header{}, err
	}
	return h, nil
}
