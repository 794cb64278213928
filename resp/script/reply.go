package script

import (
	"math"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/resp/script/lua"
)

// A replyEncoder makes replies of what scripts return.
type replyEncoder struct {
	script3 bool // the script has chosen RESP3
	client3 bool // the client has
	most    int  // bytes; a reply with more is not complete
	granted int  // bytes of the reply that the host has memory for
	host    Host
	refused bool // the host has no memory for more; the reply is not complete
}

// full reports whether the reply ends before n more bytes.
func (e *replyEncoder) full(dst []byte, n int) bool {
	if more := len(dst) + n - e.granted; more > 0 && len(dst) <= e.most && !e.refused {
		more = max(more, replySlice, e.granted/2)
		e.refused = !e.host.Grow(more, true)
		e.granted += more
	}
	return len(dst) > e.most || e.refused
}

func appendLine(dst []byte, kind byte, s string) []byte {
	dst = append(dst, kind)
	dst = append(dst, s...)
	return append(dst, '\r', '\n')
}

func appendHead(dst []byte, kind byte, n int) []byte {
	return appendLine(dst, kind, strconv.Itoa(n))
}

// appendError appends an error; line ends in it become spaces.
func appendError(dst []byte, msg string) []byte {
	return appendLine(dst, '-', oneLine.Replace(strings.TrimRight(msg, "\r\n")))
}

var oneLine = strings.NewReplacer("\r", " ", "\n", " ")

func appendBulk(dst []byte, s string) []byte {
	dst = appendHead(dst, '$', len(s))
	dst = append(dst, s...)
	return append(dst, '\r', '\n')
}

func (e *replyEncoder) null(dst []byte) []byte {
	if e.client3 {
		return append(dst, "_\r\n"...)
	}
	return append(dst, "$-1\r\n"...)
}

// append appends a value as a reply.
func (e *replyEncoder) append(dst []byte, v lua.Value, depth int) []byte {
	n := 0
	if v.IsString() {
		n = len(v.Text())
	}
	if e.full(dst, n) {
		return dst
	}
	if depth > maxNested {
		const msg = "ERR reached lua stack limit"
		e.host.CountError(msg)
		return appendError(dst, msg)
	}
	switch v.Kind() {
	case lua.KindString:
		return appendBulk(dst, v.Text())
	case lua.KindNumber:
		return append(appendInt(append(dst, ':'), int64(lua.Integer(v.Float()))), '\r', '\n')
	case lua.KindBool:
		switch {
		case e.script3 && e.client3 && v.Truth():
			return append(dst, "#t\r\n"...)
		case e.script3 && e.client3:
			return append(dst, "#f\r\n"...)
		case v.Truth():
			return append(dst, ":1\r\n"...)
		case e.script3:
			return append(dst, ":0\r\n"...)
		}
	case lua.KindTable:
		return e.table(dst, v.Table(), depth)
	}
	return e.null(dst)
}

// table appends a table: what its field of a certain name says, else its elements up to the
// first nil.
func (e *replyEncoder) table(dst []byte, t *lua.Table, depth int) []byte {
	if msg := t.GetField("err"); msg.IsString() {
		if !counted(t) {
			e.host.CountError(msg.Text())
		}
		return appendError(dst, msg.Text())
	}
	if status := t.GetField("ok"); status.IsString() {
		return appendLine(dst, '+', oneLine.Replace(status.Text()))
	}
	if f := t.GetField("double"); f.IsNumber() {
		return e.double(dst, f.Float())
	}
	if m := t.GetField("map").Table(); m != nil {
		n := size(m)
		if e.client3 {
			dst = appendHead(dst, '%', n)
		} else {
			dst = appendHead(dst, '*', 2*n)
		}
		each(m, func(key, value lua.Value) {
			dst = e.append(dst, key, depth+1)
			dst = e.append(dst, value, depth+1)
		})
		return dst
	}
	if m := t.GetField("set").Table(); m != nil {
		kind := byte('*')
		if e.client3 {
			kind = '~'
		}
		dst = appendHead(dst, kind, size(m))
		each(m, func(key, _ lua.Value) { dst = e.append(dst, key, depth+1) })
		return dst
	}
	if n := t.GetField("big_number"); n.IsString() {
		if e.client3 {
			return appendLine(dst, '(', oneLine.Replace(n.Text()))
		}
		return appendBulk(dst, oneLine.Replace(n.Text()))
	}
	if v := t.GetField("verbatim_string").Table(); v != nil {
		if format, s := v.GetField("format"), v.GetField("string"); format.IsString() && s.IsString() {
			if !e.client3 {
				return appendBulk(dst, s.Text())
			}
			dst = appendHead(dst, '=', len(s.Text())+4)
			dst = append(append(append(dst, (format.Text() + "   ")[:3]...), ':'), s.Text()...)
			return append(dst, '\r', '\n')
		}
	}
	n := 0
	for !t.GetInt(n + 1).IsNil() {
		n++
	}
	dst = appendHead(dst, '*', n)
	for i := 1; i <= n && !e.full(dst, 0); i++ {
		dst = e.append(dst, t.GetInt(i), depth+1)
	}
	return dst
}

// each calls yield for what is in a table, in the order of pairs.
func each(t *lua.Table, yield func(key, value lua.Value)) {
	for key, value, _ := t.Next(lua.Nil); !key.IsNil(); key, value, _ = t.Next(key) {
		yield(key, value)
	}
}

// size returns how many keys a table has.
func size(t *lua.Table) (n int) {
	each(t, func(lua.Value, lua.Value) { n++ })
	return n
}

func (e *replyEncoder) double(dst []byte, f float64) []byte {
	s := lua.FormatPrecise(f, 17)
	if math.IsNaN(f) {
		s = "nan"
	}
	if e.client3 {
		return appendLine(dst, ',', s)
	}
	return appendBulk(dst, s)
}

func appendInt(dst []byte, i int64) []byte { return strconv.AppendInt(dst, i, 10) }
