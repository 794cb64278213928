package collection

import (
	"encoding/binary"
	"math"
)

// A sorted set that is not whole has an element for each member, as a table has for a field,
// whose value is the score, and one in the order of scores, without a value, under
//
//	's' | score 8 B | member
//
// A score is kept as eight bytes that sort as it does: a float64, big-endian, with its sign
// bit turned or, if it is negative, all bits. What follows the 's' is the member's rank key.
const (
	kindScore = 's'
	scoreSize = 8
)

// AppendScore appends a score, which is a number, in the form in which it is kept.
func AppendScore(dst []byte, score float64) []byte {
	bits := math.Float64bits(score + 0) // of the two zeros one
	if bits>>63 != 0 {
		bits = ^bits
	} else {
		bits |= 1 << 63
	}
	return binary.BigEndian.AppendUint64(dst, bits)
}

// ScoreOf undoes AppendScore; of what is no score it makes 0.
func ScoreOf(b []byte) float64 {
	if len(b) < scoreSize {
		return 0
	}
	bits := binary.BigEndian.Uint64(b)
	if bits>>63 != 0 {
		bits &^= 1 << 63
	} else {
		bits = ^bits
	}
	return math.Float64frombits(bits)
}

// RankKey appends what sorts where a member with a score is. With no member it is where the
// score begins.
func RankKey(dst []byte, score float64, member []byte) []byte {
	return append(AppendScore(dst, score), member...)
}

// RankKeyBehind appends what sorts behind all members with a score, and before any with a
// greater one.
func RankKeyBehind(dst []byte, score float64) []byte {
	at := len(dst)
	dst = AppendScore(dst, score)
	binary.BigEndian.PutUint64(dst[at:], binary.BigEndian.Uint64(dst[at:])+1)
	return dst
}

// splitRankKey undoes RankKey.
func splitRankKey(key []byte) (score, member []byte) { return key[:scoreSize], key[scoreSize:] }
