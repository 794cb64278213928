package wire

import (
	"bytes"
	"strconv"
)

// Replies that lie in memory as a whole, as other nodes send them. What is not as it should be reads
// as nothing, and never beyond its end.

// head returns the number in the line that a reply begins with, whether it is one, and where the
// line ends.
func head(b []byte) (n int, ok bool, end int) {
	end = bytes.IndexByte(b, '\n') + 1
	if end < 3 {
		return 0, false, end
	}
	n, err := strconv.Atoi(string(b[1 : end-2]))
	return n, err == nil, end
}

// ReplyInt reads an integer reply.
func ReplyInt(b []byte) (int64, bool) {
	if len(b) < 4 || b[0] != ':' {
		return 0, false
	}
	n, err := strconv.ParseInt(string(b[1:len(b)-2]), 10, 64)
	return n, err == nil
}

// SumInts adds integer replies up; others count as 0.
func SumInts(replies [][]byte) (sum int64) {
	for _, reply := range replies {
		n, _ := ReplyInt(reply)
		sum += n
	}
	return sum
}

// ReplyText is the text of the bulk string that a reply begins with.
func ReplyText(b []byte) (text []byte, ok bool) {
	n, ok, at := head(b)
	if !ok || b[0] != '$' || n < 0 || n > len(b)-at {
		return nil, false
	}
	return b[at : at+n], true
}

// ArrayLen is how many elements an array reply has.
func ArrayLen(b []byte) int {
	n, ok, _ := head(b)
	if !ok || b[0] != '*' {
		return 0
	}
	return max(n, 0)
}

// ArrayBody is what follows the head of an array reply.
func ArrayBody(b []byte) (elements []byte, ok bool) {
	_, _, at := head(b)
	if at == 0 || b[0] != '*' {
		return nil, false
	}
	return b[at:], true
}

// ValueLen is the length of the value that a reply begins with; all that is there if it is none.
func ValueLen(b []byte) int {
	n, ok, at := head(b)
	if at < 3 {
		return len(b)
	}
	switch b[0] {
	case '$', '=':
		if ok && n >= 0 {
			return min(len(b), at+min(n, len(b))+2)
		}
	case '%':
		n *= 2
		fallthrough
	case '*', '~', '>':
		for ; ok && n > 0 && at < len(b); n-- {
			at += ValueLen(b[at:])
		}
	}
	return at
}

// ValuesLen is the length of the first n values.
func ValuesLen(b []byte, n int) int {
	length := 0
	for range n {
		length += ValueLen(b[length:])
	}
	return length
}

// Distinct removes values that are there already from a list of them, in place, and returns how many are left.
func Distinct(values []byte) (left []byte, n int) {
	left, seen := values[:0], make(map[string]bool)
	for len(values) > 0 {
		size := ValueLen(values)
		if value := string(values[:size]); !seen[value] {
			seen[value] = true
			left = append(left, value...)
		}
		values = values[size:]
	}
	return left, len(seen)
}

// JoinArrays writes an array of the elements of several arrays, so many at most.
func (r *Writer) JoinArrays(arrays [][]byte, most int) {
	n := 0
	for _, array := range arrays {
		n += ArrayLen(array)
	}
	n = min(n, most)
	r.Array(n)
	for _, array := range arrays {
		body, ok := ArrayBody(array)
		if !ok {
			continue
		}
		if count := ArrayLen(array); count > n {
			body = body[:ValuesLen(body, n)]
			n = 0
		} else {
			n -= count
		}
		r.Buf = append(r.Buf, body...)
	}
}
