package database

import "encoding/binary"

// Limit is one more than the highest number of a database.
const Limit = 1 << 10

// Default is how many databases a cluster has unless its founder says otherwise, as in Redis.
const Default = 16

// mark begins each stored key that has a number. No text in UTF-8 has its first byte, and 2⁻⁴⁸ of all
// random keys begin with it.
const mark = "\xf5\xdbRSn\xf5"

// HeadSize is how many bytes the mark and the number take.
const HeadSize = len(mark) + 2

// HasMark reports whether a key, stored or a client's, begins with the mark and a number below [Limit].
func HasMark(key []byte) bool {
	return len(key) >= HeadSize && key[0] == mark[0] && string(key[:len(mark)]) == mark && key[len(mark)] < Limit>>8
}

// MayHaveMark is a cheap test: a key of which it is false does not begin with the mark.
func MayHaveMark(key []byte) bool { return len(key) > 0 && key[0] == mark[0] }

// AppendKey appends the stored form of a client's key in database n, which is below [Limit].
func AppendKey(dst []byte, n int, key []byte) []byte {
	if n != 0 || HasMark(key) {
		dst = append(dst, mark...)
		dst = binary.BigEndian.AppendUint16(dst, uint16(n))
	}
	return append(dst, key...)
}

// Split returns the database of a stored key, and the key as clients know it.
func Split(stored []byte) (n int, key []byte) {
	if !HasMark(stored) {
		return 0, stored
	}
	return int(binary.BigEndian.Uint16(stored[len(mark):])), stored[HeadSize:]
}

// Of returns the database of a stored key.
func Of(stored []byte) int {
	n, _ := Split(stored)
	return n
}

// Name returns a stored key as clients know it.
func Name(stored []byte) []byte {
	_, key := Split(stored)
	return key
}

// TokenFunc returns the token function of stored keys, for one of clients' keys.
func TokenFunc[T any](token func([]byte) T) func([]byte) T {
	return func(stored []byte) T {
		if HasMark(stored) {
			stored = stored[HeadSize:]
		}
		return token(stored)
	}
}
