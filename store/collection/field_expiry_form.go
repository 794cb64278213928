package collection

import (
	"encoding/binary"

	"github.com/ringside-kv/ringside/store"
)

// Fields of a hash may expire, each at a time of its own. A hash that has such fields has a
// store.Value.FieldExpiry. In the packed form, each of its entries has its expiry, as a uvarint,
// behind its value: 0 for none. In the large form, a field that expires lies, in place of its
// element, under
//
//	't' | order 4 B BE | field
//
// with its expiry, 8 B BE, before its value; and, with how long the value is as a uvarint, under
//
//	'x' | expiry 8 B BE | order 4 B BE | field
//
// so that those that are due are found without the others. The head of such a hash is how many of
// them there are, as a uvarint, and an order, 4 B BE: under 'x' nothing lies before FieldExpiry and
// that. So the tombstones of what has expired before are not passed again.
//
// A small hash keeps the form when its last field that expires is gone, as in Redis: its FieldExpiry is store.NeverExpires then.
//
// All expiries are in ms since 1970.
const (
	kindTimed  = 't'
	kindByTime = 'x'
	expirySize = 8
	byTimeAt   = 1 + expirySize + orderSize
)

// fieldKinds are the kinds of elements that a field may have one of.
var fieldKinds = [2]byte{kindField, kindTimed}

// appendTimedKey appends the sub key of a field that expires.
func appendTimedKey(dst, field []byte) []byte {
	return append(appendKindOrder(dst, kindTimed, orderOf(field)), field...)
}

// appendKindOrder appends what the sub keys of a kind begin with for all fields with an order.
func appendKindOrder(dst []byte, kind byte, order uint32) []byte {
	return binary.BigEndian.AppendUint32(append(dst, kind), order)
}

// appendTimedValue appends the value of a field that expires, as its element has it.
func appendTimedValue(dst []byte, expiry int64, value []byte) []byte {
	return append(binary.BigEndian.AppendUint64(dst, uint64(expiry)), value...)
}

func splitTimedValue(b []byte) (expiry int64, value []byte, ok bool) {
	if len(b) < expirySize {
		return 0, nil, false
	}
	return int64(binary.BigEndian.Uint64(b)), b[expirySize:], true
}

// appendTimePlace appends what the sub keys of the index begin with for an expiry and an order.
func appendTimePlace(dst []byte, expiry int64, order uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(append(dst, kindByTime), uint64(expiry)), order)
}

// appendTimeKey appends the sub key of a field in the index.
func appendTimeKey(dst []byte, expiry int64, field []byte) []byte {
	return append(appendTimePlace(dst, expiry, orderOf(field)), field...)
}

func splitTimeKey(sub []byte) (expiry int64, order uint32, field []byte, ok bool) {
	if len(sub) < byTimeAt || sub[0] != kindByTime {
		return 0, 0, nil, false
	}
	return int64(binary.BigEndian.Uint64(sub[1:])), binary.BigEndian.Uint32(sub[1+expirySize:]), sub[byTimeAt:], true
}

// appendLength appends the value that the index has for a field whose value is so long.
func appendLength(dst []byte, n int) []byte { return binary.AppendUvarint(dst, uint64(n)) }

// A timedHead is the head of a large hash with fields that expire.
type timedHead struct {
	fields int64  // how many of them there are
	first  int64  // no field expires before: the hash's FieldExpiry
	order  uint32 // nor at that time one with a lower order
}

func (h *timedHead) append(dst []byte) []byte {
	return binary.BigEndian.AppendUint32(binary.AppendUvarint(dst, uint64(h.fields)), h.order)
}

// headOf reads the head of a large hash.
func headOf(v *store.Value) (timedHead, error) {
	h := timedHead{first: v.FieldExpiry}
	if h.first == 0 {
		return h, nil
	}
	n, w := binary.Uvarint(v.Inline)
	if w <= 0 || n == 0 || int64(n) > v.Count || int64(n) < 0 || len(v.Inline) != w+orderSize {
		return h, errPacked
	}
	h.fields, h.order = int64(n), binary.BigEndian.Uint32(v.Inline[w:])
	return h, nil
}

// lower notes that a field expires at some time.
func (h *timedHead) lower(expiry int64, order uint32) {
	if h.first == 0 || expiry < h.first || expiry == h.first && order < h.order {
		h.first, h.order = expiry, order
	}
}

// A timedPacker makes the packed form of a hash whose fields may expire.
type timedPacker struct {
	entries []byte
	n       int64
	timed   bool  // entries have expiries
	first   int64 // of these; 0: there are none
}

func (p *timedPacker) add(field, value []byte, expiry int64) {
	p.entries = appendEntry(p.entries, field, value, true)
	if p.timed {
		p.entries = binary.AppendUvarint(p.entries, uint64(expiry))
	}
	if expiry != 0 && (p.first == 0 || expiry < p.first) {
		p.first = expiry
	}
	p.n++
}

// bound is the FieldExpiry of the hash.
func (p *timedPacker) bound() int64 {
	if p.timed && p.first == 0 {
		return store.NeverExpires
	}
	return p.first
}

// form appends the packed form to dst.
func (p *timedPacker) form(dst []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(p.n)), p.entries...)
}
