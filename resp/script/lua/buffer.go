package lua

import "unsafe"

// A Buffer builds a string. Its bytes count while they grow. A long string is kept in pieces, so
// that no step copies more than one.
type Buffer struct {
	t      *Thread
	pieces [][]byte
	before int // bytes in pieces
	b      []byte
}

// NewBuffer returns an empty buffer, which lasts until the function that runs returns.
func (t *Thread) NewBuffer() *Buffer { return &Buffer{t: t} }

// bufferPiece is how many bytes a piece has at least.
const bufferPiece = 1 << 20

// room makes place for n more bytes.
func (b *Buffer) room(n int) {
	if cap(b.b)-len(b.b) < n {
		if len(b.b) >= bufferPiece {
			b.pieces = append(b.pieces, b.b)
			b.before += len(b.b)
			b.b = nil
		}
		size := max(2*cap(b.b), len(b.b)+n, 64)
		b.t.Hold(size)
		grown := make([]byte, len(b.b), size)
		copy(grown, b.b)
		b.t.state.held -= cap(b.b)
		b.b = grown
	}
	b.t.Step(n)
}

// Append adds the bytes of a text.
func (b *Buffer) Append(s string) {
	for len(s) > bufferPiece {
		b.room(bufferPiece)
		b.b = append(b.b, s[:bufferPiece]...)
		s = s[bufferPiece:]
	}
	b.room(len(s))
	b.b = append(b.b, s...)
}

// AppendByte adds a byte.
func (b *Buffer) AppendByte(c byte) {
	if len(b.b) == cap(b.b) {
		b.room(1)
	}
	b.b = append(b.b, c)
}

// Len returns how many bytes there are.
func (b *Buffer) Len() int { return b.before + len(b.b) }

// Push pushes the bytes as a string.
func (b *Buffer) Push() {
	if b.before == 0 {
		b.t.PushBytes(b.b)
		return
	}
	all, passed := append(b.pieces, b.b), 0
	b.t.fill(b.Len(), func(room []byte, from, to int) {
		for from < to {
			if from-passed == len(all[0]) {
				passed, all = from, all[1:]
			}
			from += copy(room[from:to], all[0][from-passed:])
		}
	})
}

// bufferIn returns a buffer that begins in some room.
func (t *Thread) bufferIn(room []byte) Buffer {
	t.Hold(cap(room))
	return Buffer{t: t, b: room}
}

// AppendBytes adds bytes.
func (b *Buffer) AppendBytes(p []byte) { b.Append(stringOf(p)) }

// stringOf returns bytes that are not changed any more as a string.
func stringOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// A shortText is a string with its bytes, which needs one allocation instead of two.
type shortText struct {
	str
	room [16]byte
}

// newText returns a string of n bytes, which does not count yet, and the bytes to be filled in.
func newText(n int) (v Value, b []byte) {
	if n > len(shortText{}.room) {
		b = make([]byte, n)
		return String(stringOf(b)), b
	}
	t := &shortText{str: str{header: header{kind: KindString}}}
	b = t.room[:n]
	t.s = stringOf(b)
	return Value{ref: &t.header}, b
}

// PushBytes pushes a string with a copy of some bytes.
func (t *Thread) PushBytes(b []byte) { t.PushCopy(stringOf(b)) }

// PushCopy pushes a string with a copy of a text. Parts of texts are copied: a short one must
// not keep a long text in memory, which nothing counts.
func (t *Thread) PushCopy(text string) {
	if len(text) > copySlice {
		t.fill(len(text), func(b []byte, from, to int) { copy(b[from:to], text[from:to]) })
		return
	}
	t.state.alloc(stringBytes + len(text))
	v, b := newText(len(text))
	copy(b, text)
	t.Push(v)
}

// copySlice is how many bytes are copied or searched between two steps.
const copySlice = 1 << 16

// fill pushes a string of n bytes, which write writes a slice at a time.
func (t *Thread) fill(n int, write func(b []byte, from, to int)) int {
	t.state.alloc(stringBytes + n)
	v, b := newText(n)
	for from := 0; from < n; from += copySlice {
		to := min(from+copySlice, n)
		write(b, from, to)
		t.Step(to - from)
	}
	return t.push1(v)
}
