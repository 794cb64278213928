package store

import (
	"encoding/binary"
	"errors"

	"github.com/cespare/xxhash/v2"

	"github.com/ringside-kv/ringside/ring"
)

// FormatVersion is the version of everything in this file and of what lies beside it. A
// store opens directories of version 1 and makes them version 2; it refuses every other
// version. The two differ in Pebble's options: version 1 names the directory of logs by
// its path, version 2 by its place beside the tables.
const (
	FormatVersion    = 2
	oldFormatVersion = 1
)

// The first byte of every key in Pebble.
const (
	kindCount   = 'c' // one entry: counts of keys and bytes (count.go)
	kindData    = 'd' // headers and sub entries
	kindExpiry  = 'e' // index of expiry times (expiry.go)
	kindGarbage = 'g' // generations whose entries are to be removed (garbage.go)
	kindJournal = 'j' // changes of the counts since the last kindCount
	kindMeta    = 'm' // small facts, e.g. the generation ceiling
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

const placeSize = 8

// appendDataPrefix appends the Pebble key of a header: kind, place, length of
// the user key, user key. All sub entries of the key follow it directly: their
// keys are this prefix and a non-empty sub key. The length in front of the user
// key keeps one key's prefix from being a prefix of another's.
func appendDataPrefix(dst []byte, p Place, key []byte) []byte {
	dst = append(dst, kindData)
	return appendPlacedKey(dst, p, key)
}

func appendPlacedKey(dst []byte, p Place, key []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(p))
	dst = binary.AppendUvarint(dst, uint64(len(key)))
	return append(dst, key...)
}

var errLayout = errors.New("malformed store key")

// splitPlacedKey undoes appendPlacedKey; rest is what follows the user key.
func splitPlacedKey(b []byte) (p Place, key, rest []byte, err error) {
	if len(b) < placeSize+1 {
		return 0, nil, nil, errLayout
	}
	p = Place(binary.BigEndian.Uint64(b))
	n, w := binary.Uvarint(b[placeSize:])
	if w <= 0 || n > uint64(len(b)-placeSize-w) {
		return 0, nil, nil, errLayout
	}
	start := placeSize + w
	end := start + int(n)
	return p, b[start:end:end], b[end:], nil
}

// Sub keys start with the generation of the value they belong to, so that the
// entries of a deleted value are told from those of its successor without being
// touched.
const genSize = 8

// appendPieceKey appends the sub key of piece i of a long string.
func appendPieceKey(dst []byte, gen uint64, i uint32) []byte {
	dst = binary.BigEndian.AppendUint64(dst, gen)
	return binary.BigEndian.AppendUint32(dst, i)
}

// prefixEnd returns the first key behind all keys that start with prefix; it
// overwrites prefix.
func prefixEnd(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		prefix[i]++
		if prefix[i] != 0 {
			return prefix[:i+1]
		}
	}
	return nil
}
