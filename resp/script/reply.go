package script

import (
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// A replyEncoder makes replies of what scripts return.
type replyEncoder struct {
	script3 bool // the script has chosen RESP3
	client3 bool // the client has
	most    int  // bytes; a reply with more is not complete
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
func (e *replyEncoder) append(dst []byte, v lua.LValue, depth int) []byte {
	if len(dst) > e.most {
		return dst
	}
	if depth > maxNested {
		return appendError(dst, "ERR reached lua stack limit")
	}
	switch v := v.(type) {
	case lua.LString:
		return appendBulk(dst, string(v))
	case lua.LNumber:
		return appendLine(dst, ':', strconv.FormatInt(integer(float64(v)), 10))
	case lua.LBool:
		switch {
		case e.script3 && e.client3 && bool(v):
			return append(dst, "#t\r\n"...)
		case e.script3 && e.client3:
			return append(dst, "#f\r\n"...)
		case bool(v):
			return append(dst, ":1\r\n"...)
		case e.script3:
			return append(dst, ":0\r\n"...)
		}
		return e.null(dst)
	case *lua.LTable:
		return e.table(dst, v, depth)
	}
	return e.null(dst)
}

// table appends a table: what its field of a certain name says, else its elements up to the
// first nil.
func (e *replyEncoder) table(dst []byte, t *lua.LTable, depth int) []byte {
	if msg, ok := t.RawGetString("err").(lua.LString); ok {
		return appendError(dst, string(msg))
	}
	if status, ok := t.RawGetString("ok").(lua.LString); ok {
		return appendLine(dst, '+', oneLine.Replace(string(status)))
	}
	if f, ok := t.RawGetString("double").(lua.LNumber); ok {
		return e.double(dst, float64(f))
	}
	if m, ok := t.RawGetString("map").(*lua.LTable); ok {
		n := 0
		each(m, func(lua.LValue, lua.LValue) { n++ })
		if e.client3 {
			dst = appendHead(dst, '%', n)
		} else {
			dst = appendHead(dst, '*', 2*n)
		}
		each(m, func(key, value lua.LValue) {
			dst = e.append(dst, key, depth+1)
			dst = e.append(dst, value, depth+1)
		})
		return dst
	}
	if m, ok := t.RawGetString("set").(*lua.LTable); ok {
		n := 0
		each(m, func(lua.LValue, lua.LValue) { n++ })
		kind := byte('*')
		if e.client3 {
			kind = '~'
		}
		dst = appendHead(dst, kind, n)
		each(m, func(key, _ lua.LValue) { dst = e.append(dst, key, depth+1) })
		return dst
	}
	if s, ok := t.RawGetString("big_number").(lua.LString); ok {
		if e.client3 {
			return appendLine(dst, '(', oneLine.Replace(string(s)))
		}
		return appendBulk(dst, oneLine.Replace(string(s)))
	}
	if v, ok := t.RawGetString("verbatim_string").(*lua.LTable); ok {
		format, ok1 := v.RawGetString("format").(lua.LString)
		s, ok2 := v.RawGetString("string").(lua.LString)
		if ok1 && ok2 {
			if e.client3 {
				form := (string(format) + "   ")[:3]
				dst = appendHead(dst, '=', len(s)+4)
				dst = append(append(append(dst, form...), ':'), s...)
				return append(dst, '\r', '\n')
			}
			return appendBulk(dst, string(s))
		}
	}
	n := 0
	for t.RawGetInt(n+1) != lua.LNil {
		n++
	}
	dst = appendHead(dst, '*', n)
	for i := 1; i <= n && len(dst) <= e.most; i++ {
		dst = e.append(dst, t.RawGetInt(i), depth+1)
	}
	return dst
}

func (e *replyEncoder) double(dst []byte, f float64) []byte {
	s := formatNumber(f, 17)
	if math.IsNaN(f) {
		s = "nan"
	}
	if e.client3 {
		return appendLine(dst, ',', s)
	}
	return appendBulk(dst, s)
}
