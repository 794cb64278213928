package resptest

import (
	"io"
	"strings"

	"github.com/ringside-kv/ringside/resp/wire"
)

// A Value is a reply, a push, or a value in one. It keeps the kinds of all values, so that a set is
// not taken for an array.
type Value struct {
	Kind  byte   // as in [wire.Head]; a null of any kind is '_'
	Text  string // of what is no aggregate; of RESP2's nulls "$" or "*", which clients distinguish
	Elems []Value
}

// A Reader reads what a server sends, pushes too. It is not safe for concurrent use.
type Reader struct{ replies *wire.ReplyReader }

// NewReader returns a reader with an empty buffer.
func NewReader(src io.Reader) *Reader { return &Reader{wire.NewReplyReader(src)} }

// Read returns the next value and waits for it.
func (r *Reader) Read() (Value, error) {
	raw, err := r.replies.ReadRaw()
	if err != nil {
		return Value{}, err
	}
	v, _, err := Parse(raw)
	return v, err
}

// Parse returns the value that b begins with, and what is behind it.
func Parse(b []byte) (v Value, rest []byte, err error) {
	h, size, err := wire.ParseValue(b)
	if err == nil && size == 0 {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return Value{}, nil, err
	}
	rest = b[size:]
	switch {
	case h.Kind == wire.KindNull:
		return Value{Kind: wire.KindNull}, rest, nil
	case h.Null:
		return Value{Kind: wire.KindNull, Text: string(rune(h.Kind))}, rest, nil
	case !h.HasValues():
		return Value{Kind: h.Kind, Text: string(h.Text)}, rest, nil
	}
	v = Value{Kind: h.Kind}
	for range h.Values() {
		var elem Value
		if elem, rest, err = Parse(rest); err != nil {
			return Value{}, nil, err
		}
		v.Elems = append(v.Elems, elem)
	}
	return v, rest, nil
}

// String shows a value in one line, kinds included.
func (v Value) String() string {
	if v.Elems == nil {
		return string(rune(v.Kind)) + v.Text
	}
	var b strings.Builder
	b.WriteByte(v.Kind)
	b.WriteByte('(')
	for i, e := range v.Elems {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(e.String())
	}
	b.WriteByte(')')
	return b.String()
}

// Field is the value of a key in a map, or in an array of pairs; nil if there is none.
func (v Value) Field(name string) *Value {
	for i := 0; i+1 < len(v.Elems); i += 2 {
		if v.Elems[i].Text == name {
			return &v.Elems[i+1]
		}
	}
	return nil
}
