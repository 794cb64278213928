package rdb

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
)

// Types of the forms of a sorted set that are not compact: with each score as text, and with
// its eight bytes, in which they are written here.
const (
	typeSortedSetText = 3
	typeSortedSet     = 5
)

// What stands for the length of a score's text.
const (
	scoreNaN      = 253
	scoreInf      = 254
	scoreMinusInf = 255
)

// BeginSortedSet appends the beginning of a payload for a sorted set of n members. Each member,
// by [AppendElement], and its score, by [AppendScore], follow, then [Seal]. Redis takes them
// in any order, and is quickest with the greatest first.
func BeginSortedSet(dst []byte, n int64) []byte {
	return appendLen(append(dst, typeSortedSet), uint64(n))
}

// AppendScore appends the score of a member.
func AppendScore(dst []byte, score float64) []byte {
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(score))
}

// EachScore calls yield for each member of a SortedSet, with its score, which is a number,
// until it returns an error. The rest is as with Each.
func (v *Value) EachScore(yield func(member []byte, score float64) error) error {
	binaryScores := v.enc == typeSortedSetText || v.enc == typeSortedSet
	return v.Each(func(member, text []byte) error {
		var score float64
		if binaryScores {
			score = math.Float64frombits(binary.LittleEndian.Uint64(text))
		} else {
			var err error
			if score, err = parseScore(text); err != nil {
				return err
			}
		}
		if math.IsNaN(score) {
			return fmt.Errorf("%w: a score is not a number", ErrFormat)
		}
		return yield(member, score)
	})
}

// scoredReader reads members and, of whatever form, eight bytes of score behind each.
func scoredReader(enc byte, body []byte, most limit) (elementReader, error) {
	n, p, err := readPlainLen(body)
	if err != nil {
		return nil, err
	}
	isScore := false
	score := make([]byte, 8)
	return func() (element []byte, ok bool, err error) {
		switch {
		case isScore && enc == typeSortedSet:
			element, p, err = cut(p, 8)
		case isScore:
			var f float64
			f, p, err = readScore(p)
			binary.LittleEndian.PutUint64(score, math.Float64bits(f))
			element = score
		case n == 0:
			err = CheckEnd(p)
			return nil, false, err
		default:
			n--
			element, p, err = readString(p, most)
		}
		isScore = !isScore
		return element, err == nil, err
	}, nil
}

// readScore reads a score as text.
func readScore(p []byte) (score float64, rest []byte, err error) {
	if len(p) == 0 {
		return 0, nil, errShort("score")
	}
	switch size := p[0]; size {
	case scoreNaN:
		return math.NaN(), p[1:], nil
	case scoreInf:
		return math.Inf(1), p[1:], nil
	case scoreMinusInf:
		return math.Inf(-1), p[1:], nil
	default:
		text, rest, err := cut(p[1:], uint64(size))
		if err != nil {
			return 0, nil, err
		}
		score, err = parseScore(text)
		return score, rest, err
	}
}

// maxScoreText is how much of a score's text Redis reads in a listpack. No number that it
// writes is longer.
const maxScoreText = 127

// parseScore reads the text of a score. It refuses what C's strtod would read the beginning
// of: digits with underscores between them, which Go takes, and a longer text than Redis reads.
func parseScore(text []byte) (float64, error) {
	if len(text) <= maxScoreText && bytes.IndexByte(text, '_') < 0 {
		score, err := strconv.ParseFloat(string(text), 64)
		if err == nil || math.IsInf(score, 0) {
			return score, nil
		}
	}
	return 0, fmt.Errorf("%w: score %.40q", ErrFormat, text)
}
