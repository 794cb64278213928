package database

import "encoding/binary"

// Limit is one more than the highest number of a database.
const Limit = 1 << numberBits

// Default is how many databases a cluster has unless its founder says otherwise, as in Redis.
const Default = 16

// mark begins each stored key that has a head. No text in UTF-8 has its first byte, and 2⁻⁴⁸ of all
// random keys begin with it.
const mark = "\xf5\xdbRSn\xf5"

// HeadSize is how many bytes the mark and the head take.
const HeadSize = len(mark) + 2

// A Head stands in a stored key: the number of a database in the low bits, and where its keys lie. A head
// without anything but the number is that of a database that is spread.
type Head uint16

const (
	numberBits = 10
	spotBits   = 5
	together   = 1 << 15
)

// Spots is in how many places a database that is kept together may lie.
const Spots = 1 << spotBits

// TogetherHead returns the head of the keys of database n, kept together at one of the [Spots].
func TogetherHead(n, spot int) Head { return Head(together | spot<<numberBits | n) }

// Number returns the database.
func (h Head) Number() int { return int(h % Limit) }

// Together reports whether all keys with the head have one token.
func (h Head) Together() bool { return h&together != 0 }

// HasMark reports whether a key, stored or a client's, begins with the mark and a head.
func HasMark(key []byte) bool {
	return len(key) >= HeadSize && key[0] == mark[0] && string(key[:len(mark)]) == mark &&
		(key[len(mark)] < Limit>>8 || key[len(mark)] >= together>>8)
}

// MayHaveMark is a cheap test: a key of which it is false does not begin with the mark.
func MayHaveMark(key []byte) bool { return len(key) > 0 && key[0] == mark[0] }

// AppendKey appends the stored form of a client's key with a head.
func AppendKey(dst []byte, head Head, key []byte) []byte {
	if head != 0 || HasMark(key) {
		dst = append(dst, mark...)
		dst = binary.BigEndian.AppendUint16(dst, uint16(head))
	}
	return append(dst, key...)
}

// Split returns the head of a stored key, and the key as clients know it.
func Split(stored []byte) (head Head, key []byte) {
	if !HasMark(stored) {
		return 0, stored
	}
	return Head(binary.BigEndian.Uint16(stored[len(mark):])), stored[HeadSize:]
}

// HeadOf returns the head of a stored key.
func HeadOf(stored []byte) Head {
	head, _ := Split(stored)
	return head
}

// Of returns the database of a stored key.
func Of(stored []byte) int { return HeadOf(stored).Number() }

// Name returns a stored key as clients know it.
func Name(stored []byte) []byte {
	_, key := Split(stored)
	return key
}

// TokenFunc returns the token function of stored keys, for one of clients' keys.
func TokenFunc[T any](token func([]byte) T) func([]byte) T {
	return func(stored []byte) T {
		if HasMark(stored) {
			if stored[len(mark)] >= together>>8 {
				return token(stored[:HeadSize])
			}
			stored = stored[HeadSize:]
		}
		return token(stored)
	}
}
