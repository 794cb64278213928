package wire

import (
	"bytes"
	"fmt"
)

// The kinds of values, by the byte that they begin with.
const (
	KindStatus    = '+'
	KindError     = '-'
	KindNumber    = ':'
	KindString    = '$'
	KindArray     = '*'
	KindNull      = '_'
	KindDouble    = ','
	KindBool      = '#'
	KindBigNumber = '('
	KindBulkError = '!'
	KindVerbatim  = '='
	KindMap       = '%'
	KindSet       = '~'
	KindPush      = '>'
	KindAttribute = '|'
)

// A Head is the line that a reply begins with, or a value inside of a reply. The readers of replies
// differ in where the bytes lie and in what they make of them. The grammar is here alone.
type Head struct {
	Kind byte   // one of the kinds above
	Null bool   // no value: a [KindNull], or the null of RESP2, a [KindString] or a [KindArray]
	Text []byte // the rest of the line
	// N is the number, 1 for true, the bytes of the string that follows, or the number of elements
	// or pairs that follow.
	N int64
}

// IsError reports whether the value is an error.
func (h *Head) IsError() bool { return h.Kind == KindError || h.Kind == KindBulkError }

// IsMap reports whether pairs follow.
func (h *Head) IsMap() bool { return h.Kind == KindMap || h.Kind == KindAttribute }

// HasString reports whether a string of N bytes and the end of a line follow.
func (h *Head) HasString() bool {
	return !h.Null && (h.Kind == KindString || h.Kind == KindVerbatim || h.Kind == KindBulkError)
}

// HasValues reports whether values follow. Values is how many.
func (h *Head) HasValues() bool {
	switch h.Kind {
	case KindArray, KindSet, KindPush, KindMap, KindAttribute:
		return !h.Null
	}
	return false
}

// Values is the number of values that follow.
func (h *Head) Values() int64 {
	switch {
	case !h.HasValues():
		return 0
	case h.IsMap():
		return 2 * h.N
	}
	return h.N
}

// ParseHead parses the line that b begins with, and returns its length with its end. The length is
// 0 if b does not hold all of the line. The error is an [ErrReply].
func ParseHead(b []byte) (h Head, size int, err error) {
	i := bytes.IndexByte(b, '\n')
	switch {
	case i < 0 && len(b) > MaxLine:
		return h, 0, fmt.Errorf("%w: a line is longer than %d bytes", ErrReply, MaxLine)
	case i < 0 && len(b) > 0 && !known(b[0]):
		return h, 0, fmt.Errorf("%w: it begins with %.40q", ErrReply, b)
	case i < 0:
		return h, 0, nil
	case i < 2 || b[i-1] != '\r':
		return h, 0, fmt.Errorf("%w: line %.40q", ErrReply, b[:i])
	}
	h.Kind, h.Text = b[0], b[1:i-1:i-1]
	ok := true
	switch h.Kind {
	case KindStatus, KindError, KindDouble, KindBigNumber:
	case KindNull:
		h.Null, ok = true, len(h.Text) == 0
	case KindBool:
		if ok = len(h.Text) == 1 && (h.Text[0] == 't' || h.Text[0] == 'f'); ok && h.Text[0] == 't' {
			h.N = 1
		}
	case KindNumber:
		h.N, ok = ParseInt(h.Text)
	case KindString, KindArray:
		h.N, ok = ParseInt(h.Text)
		h.Null, ok = h.N == -1, ok && h.N >= -1
	case KindVerbatim, KindBulkError, KindSet, KindPush, KindMap, KindAttribute:
		h.N, ok = ParseInt(h.Text)
		ok = ok && h.N >= 0
	default:
		ok = false
	}
	if !ok {
		return h, 0, fmt.Errorf("%w: line %.40q", ErrReply, b[:i-1])
	}
	return h, i + 1, nil
}

func known(kind byte) bool { return bytes.IndexByte([]byte("+-:$*_#,(=!~%>|"), kind) >= 0 }

// ParseValue parses the value that b begins with, up to the values that follow it. Unlike with
// [ParseHead], h.Text is the string where one follows. The size is 0 if b does not hold all of it.
func ParseValue(b []byte) (h Head, size int, err error) {
	h, at, err := ParseHead(b)
	if at == 0 || !h.HasString() {
		return h, at, err
	}
	if h.N > int64(len(b)-at-2) {
		return h, 0, nil
	}
	end := at + int(h.N)
	if b[end] != '\r' || b[end+1] != '\n' {
		return h, 0, errStringEnd
	}
	h.Text = b[at:end:end]
	return h, end + 2, nil
}
