package layout

import (
	"encoding/binary"
	"errors"
	"math"
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
	JSON   Type = 7 // text
	Bloom  Type = 8 // a filter
)

// lastType is the largest of them.
const lastType = Bloom

// IsBytes reports whether a value of the type is kept as bytes, as a string is: in the header, or in pieces.
func (t Type) IsBytes() bool { return t == String || t == JSON }

// IsOfModule reports whether Redis has values of the type in a module only.
func (t Type) IsOfModule() bool { return t == JSON || t == Bloom }

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
	case JSON:
		return "ReJSON-RL"
	case Bloom:
		return "MBbloom--"
	}
	return "none"
}

const (
	flagExpiry   = 1 << 0 // an expiry follows
	flagChildren = 1 << 1 // generation and count follow; sub entries may exist
	FlagRaw      = 1 << 2 // see Value.Raw
	flagFields   = 1 << 3 // the first expiry of fields follows
	FlagChunks   = 1 << 4 // see Value.Chunks
	flagsKnown   = flagExpiry | flagChildren | FlagRaw | flagFields | FlagChunks
)

// A Header is the entry of a key with the empty sub key:
//
//	type 1 B | flags 1 B | expiry 8 B LE, ms since 1970, if flagged |
//	expiry of fields 8 B LE, ms since 1970, of a hash, if flagged |
//	generation 8 B LE and count uvarint, if flagged |
//	bytes uvarint, of a collection with a generation | value
//
// The value is the string itself for values kept as bytes, of at most pieceSize bytes, and all of a
// small collection. For longer ones the entries lie under sub keys that start with the
// generation; count is the length of the string in bytes, or the number of elements, and
// bytes what those hold. The value is what else the type of a collection wants to know.
type Header struct {
	Type   Type
	Flags  uint8
	Expiry int64 // ms since 1970; 0: none
	// FieldExpiry is the time before which no field expires, in ms since 1970; 0 or NeverExpires: none ever does.
	FieldExpiry int64
	Gen         uint64 // 0: no sub entries
	Count       uint64
	Bytes       uint64
	Value       []byte
}

// NeverExpires is the FieldExpiry of a hash that has room for expiries of fields, and none. It is later than any expiry.
const NeverExpires = math.MaxInt64

// MaxHead is how many bytes a header has before its value at most.
const MaxHead = 2 + 8 + 8 + 8 + 2*binary.MaxVarintLen64

// ErrHeader says that the bytes are no header.
var ErrHeader = errors.New("malformed header")

// Append appends the header as it lies on disk.
func (h *Header) Append(dst []byte) []byte {
	flags := h.Flags & (FlagRaw | FlagChunks)
	if h.Expiry != 0 {
		flags |= flagExpiry
	}
	if h.FieldExpiry != 0 {
		flags |= flagFields
	}
	if h.Gen != 0 {
		flags |= flagChildren
	}
	dst = append(dst, byte(h.Type), flags)
	if h.Expiry != 0 {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(h.Expiry))
	}
	if h.FieldExpiry != 0 {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(h.FieldExpiry))
	}
	if h.Gen != 0 {
		dst = binary.LittleEndian.AppendUint64(dst, h.Gen)
		dst = binary.AppendUvarint(dst, h.Count)
		if !h.Type.IsBytes() {
			dst = binary.AppendUvarint(dst, h.Bytes)
		}
	}
	return append(dst, h.Value...)
}

// Parse fills h from b; h.value points into b.
func (h *Header) Parse(b []byte) error {
	if len(b) < 2 || b[0] == 0 || b[0] > byte(lastType) || b[1]&^flagsKnown != 0 {
		return ErrHeader
	}
	*h = Header{Type: Type(b[0]), Flags: b[1]}
	b = b[2:]
	if h.Flags&flagExpiry != 0 {
		if len(b) < 8 {
			return ErrHeader
		}
		h.Expiry = int64(binary.LittleEndian.Uint64(b))
		if h.Expiry == 0 {
			return ErrHeader
		}
		b = b[8:]
	}
	if h.Flags&flagFields != 0 {
		if len(b) < 8 || h.Type != Hash {
			return ErrHeader
		}
		h.FieldExpiry = int64(binary.LittleEndian.Uint64(b))
		if h.FieldExpiry == 0 {
			return ErrHeader
		}
		b = b[8:]
	}
	if h.Flags&flagChildren != 0 {
		if len(b) < 8 {
			return ErrHeader
		}
		h.Gen = binary.LittleEndian.Uint64(b)
		n, w := binary.Uvarint(b[8:])
		if h.Gen == 0 || w <= 0 {
			return ErrHeader
		}
		h.Count = n
		b = b[8+w:]
		if !h.Type.IsBytes() {
			if h.Bytes, w = binary.Uvarint(b); w <= 0 {
				return ErrHeader
			}
			b = b[w:]
		}
	}
	h.Value = b
	return nil
}

// InlineString returns how many bytes at the end of an encoded header are the string itself: 0
// where the value is of another type, or lies under sub keys.
func InlineString(b []byte) int {
	if len(b) < 2 || !Type(b[0]).IsBytes() || b[1]&flagChildren != 0 {
		return 0
	}
	return max(len(b)-StringHead(b), 0)
}

// StringHead returns how many bytes come before the string in an encoded header that has one.
func StringHead(b []byte) int {
	if b[1]&flagExpiry != 0 {
		return 2 + 8
	}
	return 2
}

// Size is what the value counts in bytes: DBSIZE's companion for a range.
func (h *Header) Size() int64 {
	switch {
	case h.Gen == 0:
		return int64(len(h.Value))
	case h.Type.IsBytes():
		return int64(h.Count)
	}
	return int64(h.Bytes)
}

// Expired reports whether the time of the key has come by now, in ms since 1970.
func (h *Header) Expired(now int64) bool { return h.Expiry != 0 && h.Expiry <= now }

// HasTimedFields reports whether some field expires, due or not.
func (h *Header) HasTimedFields() bool { return h.FieldExpiry != 0 && h.FieldExpiry != NeverExpires }

// HasDueFields reports whether the time of a field may have come by now, in ms since 1970.
func (h *Header) HasDueFields(now int64) bool { return h.FieldExpiry != 0 && h.FieldExpiry <= now }
