package collection

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
)

// A packed collection is how many entries it has, as a uvarint, then each of them in the
// order in which they came: its field and, if it has one, its value, each behind its
// length as a uvarint.
type packed struct {
	buf   []byte
	pairs bool // entries have values
	timed bool // entries have expiries: see field_expiry_form.go
}

var errPacked = errors.New("malformed collection")

// len returns how many entries there are.
func (p packed) len() int64 {
	n, w := binary.Uvarint(p.buf)
	if w <= 0 || n > uint64(len(p.buf)) {
		return 0
	}
	return int64(n)
}

// A packedReader goes over the entries of a packed collection.
type packedReader struct {
	rest         []byte
	pairs, timed bool
	field, value []byte
	expiry       int64
	// at is where the entry begins, in what the reader was made for.
	at, size int
	err      error
}

func (p packed) reader() packedReader {
	if len(p.buf) == 0 {
		return packedReader{}
	}
	_, w := binary.Uvarint(p.buf)
	if w <= 0 {
		return packedReader{err: errPacked}
	}
	return p.readerFrom(w)
}

// readerFrom goes over the entries from a byte on.
func (p packed) readerFrom(at int) packedReader {
	return packedReader{rest: p.buf[at:], pairs: p.pairs, timed: p.timed, size: len(p.buf)}
}

// next goes to the next entry; false at the end, or with err set.
func (r *packedReader) next() bool {
	if len(r.rest) == 0 || r.err != nil {
		return false
	}
	r.at = r.size - len(r.rest)
	ok := false
	if r.field, r.rest, ok = cut(r.rest); ok && r.pairs {
		r.value, r.rest, ok = cut(r.rest)
	}
	if ok && r.timed {
		ok = r.cutExpiry()
	}
	if !ok {
		r.err = errPacked
	}
	return ok
}

func (r *packedReader) cutExpiry() bool {
	n, w := binary.Uvarint(r.rest)
	if w <= 0 || n > math.MaxInt64 {
		return false
	}
	r.expiry, r.rest = int64(n), r.rest[w:]
	return true
}

func cut(b []byte) (head, rest []byte, ok bool) {
	n, w := binary.Uvarint(b)
	if w <= 0 || n > uint64(len(b)-w) {
		return nil, nil, false
	}
	end := w + int(n)
	return b[w:end:end], b[end:], true
}

// begin is where the first entry lies.
func (p packed) begin() int {
	if len(p.buf) == 0 {
		return 0
	}
	_, w := binary.Uvarint(p.buf)
	return max(w, 0)
}

// find returns where the entry with a field lies, and its value.
func (p packed) find(field []byte) (at, end int, value []byte, ok bool, err error) {
	return p.reader().find(field)
}

func (r packedReader) find(field []byte) (at, end int, value []byte, ok bool, err error) {
	for r.next() {
		if bytes.Equal(r.field, field) {
			return r.at, r.size - len(r.rest), r.value, true, nil
		}
	}
	return 0, 0, nil, false, r.err
}

// splice appends to dst the collection with the bytes from at to end, entries or none,
// replaced by an entry, or removed; n is how many entries there are then.
func (p packed) splice(dst []byte, n int64, at, end int, entry []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(n))
	if len(p.buf) == 0 {
		return append(dst, entry...)
	}
	_, w := binary.Uvarint(p.buf)
	dst = append(dst, p.buf[w:at]...)
	dst = append(dst, entry...)
	return append(dst, p.buf[end:]...)
}

// appendEntry appends an entry.
func appendEntry(dst, field, value []byte, pairs bool) []byte {
	dst = append(binary.AppendUvarint(dst, uint64(len(field))), field...)
	if pairs {
		dst = append(binary.AppendUvarint(dst, uint64(len(value))), value...)
	}
	return dst
}
