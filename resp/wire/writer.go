package wire

import (
	"strconv"
	"strings"

	"github.com/tidwall/redcon"
)

// A Writer collects encoded replies of one connection until they may leave. Its
// methods append one element each, in RESP2 or RESP3 as the connection has
// chosen with HELLO; aggregates announce their length and are followed by that
// many elements. It belongs to one goroutine at a time.
type Writer struct {
	Buf   []byte // the replies, encoded
	Proto int    // 2 or 3
}

// OK appends +OK.
func (r *Writer) OK() { r.Buf = append(r.Buf, "+OK\r\n"...) }

// Simple appends a simple string; s must not hold CR or LF.
func (r *Writer) Simple(s string) {
	r.Buf = append(r.Buf, '+')
	r.Buf = append(r.Buf, s...)
	r.Buf = append(r.Buf, '\r', '\n')
}

// Error appends an error; msg starts with its code ("ERR …"). CR and LF become
// spaces, or at the end nothing, as Redis does, so that no input can forge a second
// reply.
func (r *Writer) Error(msg string) {
	msg = strings.TrimRight(msg, "\r\n")
	r.Buf = append(r.Buf, '-')
	for i := range len(msg) {
		c := msg[i]
		if c == '\r' || c == '\n' {
			c = ' '
		}
		r.Buf = append(r.Buf, c)
	}
	r.Buf = append(r.Buf, '\r', '\n')
}

// Int appends an integer.
func (r *Writer) Int(n int64) {
	if n >= 0 && n < 10 {
		r.Buf = append(r.Buf, ':', byte('0'+n), '\r', '\n')
		return
	}
	r.Buf = redcon.AppendInt(r.Buf, n)
}

// Bool appends 1 or 0 as Redis' integer replies do.
func (r *Writer) Bool(b bool) {
	if b {
		r.Int(1)
	} else {
		r.Int(0)
	}
}

// Boolean appends a boolean: one of its own in RESP3, as [Writer.Bool] in RESP2.
func (r *Writer) Boolean(b bool) {
	switch {
	case r.Proto != 3:
		r.Bool(b)
	case b:
		r.Buf = append(r.Buf, "#t\r\n"...)
	default:
		r.Buf = append(r.Buf, "#f\r\n"...)
	}
}

// BigNumber appends a number of any size as its digits: a big number in RESP3, a bulk string in RESP2.
func (r *Writer) BigNumber(digits string) {
	if r.Proto != 3 {
		r.BulkString(digits)
		return
	}
	r.Buf = append(r.Buf, KindBigNumber)
	r.Buf = append(r.Buf, digits...)
	r.Buf = append(r.Buf, '\r', '\n')
}

// Attribute announces n pairs that tell more of the value behind them. There are none in RESP2.
func (r *Writer) Attribute(n int) { r.prefix(KindAttribute, n) }

// Bulk appends a bulk string.
func (r *Writer) Bulk(b []byte) {
	r.BulkHeader(len(b))
	r.Buf = append(r.Buf, b...)
	r.Buf = append(r.Buf, '\r', '\n')
}

// BulkString appends a bulk string.
func (r *Writer) BulkString(s string) {
	r.BulkHeader(len(s))
	r.Buf = append(r.Buf, s...)
	r.Buf = append(r.Buf, '\r', '\n')
}

// BulkHeader appends the "$n" line; the caller appends n bytes and CR LF.
func (r *Writer) BulkHeader(n int) { r.prefix('$', n) }

func (r *Writer) prefix(c byte, n int) {
	switch { // most are short: of elements, there may be thousands
	case uint(n) < 10:
		r.Buf = append(r.Buf, c, '0'+byte(n), '\r', '\n')
	case uint(n) < 100:
		r.Buf = append(r.Buf, c, '0'+byte(n/10), '0'+byte(n%10), '\r', '\n')
	default:
		r.Buf = append(strconv.AppendInt(append(r.Buf, c), int64(n), 10), '\r', '\n')
	}
}

// Null appends the null of the protocol: _ in RESP3, a null bulk in RESP2.
func (r *Writer) Null() {
	if r.Proto == 3 {
		r.Buf = append(r.Buf, "_\r\n"...)
	} else {
		r.Buf = append(r.Buf, "$-1\r\n"...)
	}
}

// NullArray is null in place of an array.
func (r *Writer) NullArray() {
	if r.Proto == 3 {
		r.Null()
	} else {
		r.Buf = append(r.Buf, "*-1\r\n"...)
	}
}

// Array announces n elements.
func (r *Writer) Array(n int) { r.prefix('*', n) }

// Map announces n pairs: a map in RESP3, an array of 2n in RESP2.
func (r *Writer) Map(n int) {
	if r.Proto == 3 {
		r.prefix('%', n)
	} else {
		r.prefix('*', 2*n)
	}
}

// Set announces n elements: a set in RESP3, an array in RESP2.
func (r *Writer) Set(n int) {
	if r.Proto == 3 {
		r.prefix('~', n)
	} else {
		r.prefix('*', n)
	}
}

// Push announces an out-of-band message of n elements: a push in RESP3, an array in RESP2.
func (r *Writer) Push(n int) {
	if r.Proto == 3 {
		r.prefix('>', n)
	} else {
		r.prefix('*', n)
	}
}

// Double appends a number: a double in RESP3, a bulk string in RESP2.
func (r *Writer) Double(f float64) {
	var text [maxFloatText]byte
	b := AppendFloat(text[:0], f)
	if r.Proto == 3 {
		r.Buf = append(append(append(r.Buf, ','), b...), '\r', '\n')
	} else {
		r.Bulk(b)
	}
}

// DoubleText appends a number as its text: a double, in RESP2 a bulk string.
func (r *Writer) DoubleText(text []byte) {
	if r.Proto < 3 {
		r.Bulk(text)
		return
	}
	r.Buf = append(r.Buf, ',')
	r.Buf = append(r.Buf, text...)
	r.Buf = append(r.Buf, '\r', '\n')
}

// Verbatim appends text: a verbatim string in RESP3, a bulk string in RESP2.
func (r *Writer) Verbatim(text string) {
	if r.Proto != 3 {
		r.BulkString(text)
		return
	}
	r.prefix('=', len(text)+4)
	r.Buf = append(r.Buf, "txt:"...)
	r.Buf = append(r.Buf, text...)
	r.Buf = append(r.Buf, '\r', '\n')
}
