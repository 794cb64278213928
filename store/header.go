package store

import (
	"encoding/binary"
	"errors"
)

// Type is the type of a value. The numbers are part of the format.
type Type uint8

// The types of values.
const (
	None   Type = 0
	String Type = 1
	Hash   Type = 2
	List   Type = 3
	Set    Type = 4
	ZSet   Type = 5
	Stream Type = 6
)

// String returns the name that TYPE gives.
func (t Type) String() string {
	switch t {
	case String:
		return "string"
	case Hash:
		return "hash"
	case List:
		return "list"
	case Set:
		return "set"
	case ZSet:
		return "zset"
	case Stream:
		return "stream"
	}
	return "none"
}

const (
	headExpiry   = 1 << 0 // an expiry follows
	headChildren = 1 << 1 // generation and count follow; sub entries may exist
	headRaw      = 1 << 2 // see Value.Raw
	headKnown    = headExpiry | headChildren | headRaw
)

// A header is the entry of a key with the empty sub key:
//
//	type 1 B | flags 1 B | expiry 8 B LE, ms since 1970, if flagged |
//	generation 8 B LE and count uvarint, if flagged |
//	bytes uvarint, of a collection with a generation | value
//
// The value is the string itself for strings of at most pieceSize bytes, and all of a
// small collection. For longer ones the entries lie under sub keys that start with the
// generation; count is the length of the string in bytes, or the number of elements, and
// bytes what those hold. The value is what else the type of a collection wants to know.
type header struct {
	typ    Type
	flags  uint8
	expiry int64  // ms since 1970; 0: none
	gen    uint64 // 0: no sub entries
	count  uint64
	bytes  uint64
	value  []byte
}

var errHeader = errors.New("malformed header")

func (h *header) append(dst []byte) []byte {
	flags := h.flags & headRaw
	if h.expiry != 0 {
		flags |= headExpiry
	}
	if h.gen != 0 {
		flags |= headChildren
	}
	dst = append(dst, byte(h.typ), flags)
	if h.expiry != 0 {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(h.expiry))
	}
	if h.gen != 0 {
		dst = binary.LittleEndian.AppendUint64(dst, h.gen)
		dst = binary.AppendUvarint(dst, h.count)
		if h.typ != String {
			dst = binary.AppendUvarint(dst, h.bytes)
		}
	}
	return append(dst, h.value...)
}

// parse fills h from b; h.value points into b.
func (h *header) parse(b []byte) error {
	if len(b) < 2 || b[0] == 0 || b[0] > byte(Stream) || b[1]&^headKnown != 0 {
		return errHeader
	}
	*h = header{typ: Type(b[0]), flags: b[1]}
	b = b[2:]
	if h.flags&headExpiry != 0 {
		if len(b) < 8 {
			return errHeader
		}
		h.expiry = int64(binary.LittleEndian.Uint64(b))
		if h.expiry == 0 {
			return errHeader
		}
		b = b[8:]
	}
	if h.flags&headChildren != 0 {
		if len(b) < 8 {
			return errHeader
		}
		h.gen = binary.LittleEndian.Uint64(b)
		n, w := binary.Uvarint(b[8:])
		if h.gen == 0 || w <= 0 {
			return errHeader
		}
		h.count = n
		b = b[8+w:]
		if h.typ != String {
			if h.bytes, w = binary.Uvarint(b); w <= 0 {
				return errHeader
			}
			b = b[w:]
		}
	}
	h.value = b
	return nil
}

// size is what the value counts in bytes: DBSIZE's companion for a range.
func (h *header) size() int64 {
	switch {
	case h.gen == 0:
		return int64(len(h.value))
	case h.typ == String:
		return int64(h.count)
	}
	return int64(h.bytes)
}

func (h *header) expired(now int64) bool { return h.expiry != 0 && h.expiry <= now }
