package layout

import (
	"encoding/binary"
	"errors"

	"github.com/cespare/xxhash/v2"

	"github.com/ringside-kv/ringside/ring"
)

// The first byte of every key in Pebble.
const (
	KindCount   = 'c' // one entry: counts of keys and bytes (count.go)
	KindData    = 'd' // headers and sub entries
	KindExpiry  = 'e' // index of expiry times (expiry.go)
	KindGarbage = 'g' // generations whose entries are to be removed (garbage.go)
	KindJournal = 'j' // changes of the counts since the last kindCount
	KindMeta    = 'm' // small facts, e.g. the generation ceiling
)

// A Place is where a key lies among all keys of a store: its token, then 32 bits
// of a hash of the whole key. The second half gives the many keys that one hash
// tag or slot puts on the same token an order of their own; it is fixed by the
// format and independent of the token's hash.
type Place uint64

// PlaceOf returns the place of a key under a token function.
func PlaceOf(token ring.TokenFunc, key []byte) Place {
	return Place(uint64(token(key))<<32 | xxhash.Sum64(key)>>32)
}

// Token returns the token of the place.
func (p Place) Token() ring.Token { return ring.Token(p >> 32) }

// PlaceSize is how many bytes a place takes in a key.
const PlaceSize = 8

// AppendDataPrefix appends the Pebble key of a header: kind, place, length of
// the user key, user key. All sub entries of the key follow it directly: their
// keys are this prefix and a non-empty sub key. The length in front of the user
// key keeps one key's prefix from being a prefix of another's.
func AppendDataPrefix(dst []byte, p Place, key []byte) []byte {
	dst = append(dst, KindData)
	return AppendPlacedKey(dst, p, key)
}

// AppendPlacedKey appends a place and a user key with its length.
func AppendPlacedKey(dst []byte, p Place, key []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(p))
	dst = binary.AppendUvarint(dst, uint64(len(key)))
	return append(dst, key...)
}

// ErrKey says that a key in Pebble is none of this layout.
var ErrKey = errors.New("malformed store key")

// SplitPlacedKey undoes appendPlacedKey; rest is what follows the user key.
func SplitPlacedKey(b []byte) (p Place, key, rest []byte, err error) {
	if len(b) < PlaceSize+1 {
		return 0, nil, nil, ErrKey
	}
	p = Place(binary.BigEndian.Uint64(b))
	n, w := binary.Uvarint(b[PlaceSize:])
	if w <= 0 || n > uint64(len(b)-PlaceSize-w) {
		return 0, nil, nil, ErrKey
	}
	start := PlaceSize + w
	end := start + int(n)
	return p, b[start:end:end], b[end:], nil
}

// GenSize is the length of the generation with which sub keys start. It is that of the value
// that an entry belongs to: so the entries of a deleted value are told from those of its
// successor without being touched.
const GenSize = 8

// AppendPieceKey appends the sub key of piece i of a long string.
func AppendPieceKey(dst []byte, gen uint64, i uint32) []byte {
	dst = binary.BigEndian.AppendUint64(dst, gen)
	return binary.BigEndian.AppendUint32(dst, i)
}

// PrefixEnd returns the first key behind all keys that start with prefix; it
// overwrites prefix.
func PrefixEnd(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		prefix[i]++
		if prefix[i] != 0 {
			return prefix[:i+1]
		}
	}
	return nil
}

// PlaceIn returns the place in a key of Pebble.
func PlaceIn(key []byte) Place { return Place(binary.BigEndian.Uint64(key[1:])) }

// Kinds of sub keys, their first byte, whose elements have lines in the cache.
const (
	FieldKind = 'f' // a field of a hash, a member of a set
	TimedKind = 't' // a field of a hash that expires
	ItemKind  = 'l' // an element of a list, or a chunk of elements
)

const (
	// ChunkKind ends the sub key of a chunk of elements of a list, which begins as that of its first one. The value is
	// the elements, each behind its length as a uvarint.
	ChunkKind = 'c'
	// ChunkItems is how many elements are in a chunk. The number of the first one is a multiple of it.
	ChunkItems = 8
)

// IsChunk reports whether a sub key is that of a chunk of elements.
func IsChunk(sub []byte) bool {
	const size = 1 + 8 + 1 // ItemKind, number, ChunkKind
	return len(sub) == size && sub[0] == ItemKind && sub[size-1] == ChunkKind
}

// Mix spreads numbers over shards and slots.
func Mix(n uint64) uint64 {
	h := n * 0x9e3779b97f4a7c15
	return h ^ h>>32
}
