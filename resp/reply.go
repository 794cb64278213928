package resp

import (
	"strconv"
	"strings"

	"github.com/tidwall/redcon"
)

// A reply collects encoded replies of one connection until they may leave. Its
// methods append one element each, in RESP2 or RESP3 as the connection has
// chosen with HELLO; aggregates announce their length and are followed by that
// many elements. It belongs to one goroutine at a time.
type reply struct {
	buf   []byte
	proto int // 2 or 3
}

// ok appends +OK.
func (r *reply) ok() { r.buf = append(r.buf, "+OK\r\n"...) }

// simple appends a simple string; s must not hold CR or LF.
func (r *reply) simple(s string) {
	r.buf = append(r.buf, '+')
	r.buf = append(r.buf, s...)
	r.buf = append(r.buf, '\r', '\n')
}

// err appends an error; msg starts with its code ("ERR …"). CR and LF become
// spaces, or at the end nothing, as Redis does, so that no input can forge a second
// reply.
func (r *reply) err(msg string) {
	msg = strings.TrimRight(msg, "\r\n")
	r.buf = append(r.buf, '-')
	for i := range len(msg) {
		c := msg[i]
		if c == '\r' || c == '\n' {
			c = ' '
		}
		r.buf = append(r.buf, c)
	}
	r.buf = append(r.buf, '\r', '\n')
}

// integer appends an integer.
func (r *reply) integer(n int64) {
	if n >= 0 && n < 10 {
		r.buf = append(r.buf, ':', byte('0'+n), '\r', '\n')
		return
	}
	r.buf = redcon.AppendInt(r.buf, n)
}

// boolean appends 1 or 0 as Redis' integer replies do.
func (r *reply) boolean(b bool) {
	if b {
		r.integer(1)
	} else {
		r.integer(0)
	}
}

// bulk appends a bulk string.
func (r *reply) bulk(b []byte) {
	r.bulkHeader(len(b))
	r.buf = append(r.buf, b...)
	r.buf = append(r.buf, '\r', '\n')
}

// bulkString appends a bulk string.
func (r *reply) bulkString(s string) {
	r.bulkHeader(len(s))
	r.buf = append(r.buf, s...)
	r.buf = append(r.buf, '\r', '\n')
}

// bulkHeader appends the "$n" line; the caller appends n bytes and CR LF.
func (r *reply) bulkHeader(n int) { r.prefix('$', n) }

func (r *reply) prefix(c byte, n int) {
	switch { // most are short: of elements, there may be thousands
	case uint(n) < 10:
		r.buf = append(r.buf, c, '0'+byte(n), '\r', '\n')
	case uint(n) < 100:
		r.buf = append(r.buf, c, '0'+byte(n/10), '0'+byte(n%10), '\r', '\n')
	default:
		r.buf = append(strconv.AppendInt(append(r.buf, c), int64(n), 10), '\r', '\n')
	}
}

// null appends the null of the protocol: _ in RESP3, a null bulk in RESP2.
func (r *reply) null() {
	if r.proto == 3 {
		r.buf = append(r.buf, "_\r\n"...)
	} else {
		r.buf = append(r.buf, "$-1\r\n"...)
	}
}

// nullArray is null in place of an array.
func (r *reply) nullArray() {
	if r.proto == 3 {
		r.null()
	} else {
		r.buf = append(r.buf, "*-1\r\n"...)
	}
}

// array announces n elements.
func (r *reply) array(n int) { r.prefix('*', n) }

// dict announces n pairs: a map in RESP3, an array of 2n in RESP2.
func (r *reply) dict(n int) {
	if r.proto == 3 {
		r.prefix('%', n)
	} else {
		r.prefix('*', 2*n)
	}
}

// set announces n elements: a set in RESP3, an array in RESP2.
func (r *reply) set(n int) {
	if r.proto == 3 {
		r.prefix('~', n)
	} else {
		r.prefix('*', n)
	}
}

// double appends a number with 17 digits: a double in RESP3, a bulk string in RESP2.
func (r *reply) double(f float64) {
	var text [maxFloatText]byte
	b := appendFloat(text[:0], f)
	if r.proto == 3 {
		r.buf = append(append(append(r.buf, ','), b...), '\r', '\n')
	} else {
		r.bulk(b)
	}
}

// verbatim appends text: a verbatim string in RESP3, a bulk string in RESP2.
func (r *reply) verbatim(text string) {
	if r.proto != 3 {
		r.bulkString(text)
		return
	}
	r.prefix('=', len(text)+4)
	r.buf = append(r.buf, "txt:"...)
	r.buf = append(r.buf, text...)
	r.buf = append(r.buf, '\r', '\n')
}
