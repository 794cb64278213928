package script

import (
	"math"

	lua "github.com/yuin/gopher-lua"
)

type jsonEncoder struct {
	effort
	set  *jsonSettings
	null *lua.LUserData
	buf  []byte
}

func (e *jsonEncoder) fail(format string, args ...any) { e.l.RaiseError(format, args...) }

func (e *jsonEncoder) append(v lua.LValue, depth int) {
	e.made(len(e.buf))
	switch v := v.(type) {
	case lua.LString:
		e.str(string(v))
	case lua.LNumber:
		e.number(float64(v))
	case lua.LBool:
		if v {
			e.buf = append(e.buf, "true"...)
		} else {
			e.buf = append(e.buf, "false"...)
		}
	case *lua.LNilType:
		e.buf = append(e.buf, "null"...)
	case *lua.LTable:
		if depth++; depth > min(e.set.encodeDepth, maxEncoded) {
			e.fail("Cannot serialise, excessive nesting (%d)", depth)
		}
		if n := e.length(v); n > 0 {
			e.array(v, n, depth)
		} else {
			e.object(v, depth)
		}
	default:
		if v == lua.LValue(e.null) {
			e.buf = append(e.buf, "null"...)
			return
		}
		e.fail("Cannot serialise %s: type not supported", v.Type().String())
	}
}

// length is how long an array is; -1 if it is none.
func (e *jsonEncoder) length(t *lua.LTable) int {
	items, most := 0, 0
	is := true
	each(t, func(key, _ lua.LValue) {
		e.step()
		n, ok := key.(lua.LNumber)
		if !ok || float64(n) != math.Floor(float64(n)) || n < 1 || n > 1<<31 {
			is = false
			return
		}
		items++
		most = max(most, int(n))
	})
	if !is {
		return -1
	}
	if e.set.sparseRatio > 0 && most > items*e.set.sparseRatio && most > e.set.safe {
		if !e.set.sparseConvert {
			e.fail("Cannot serialise table: excessively sparse array")
		}
		return -1
	}
	return most
}

func (e *jsonEncoder) array(t *lua.LTable, n, depth int) {
	for i := range n {
		e.buf = append(e.buf, "[,"[min(i, 1)])
		e.append(t.RawGetInt(i+1), depth)
	}
	e.buf = append(e.buf, ']')
}

func (e *jsonEncoder) object(t *lua.LTable, depth int) {
	e.buf = append(e.buf, '{')
	first := true
	each(t, func(key, value lua.LValue) {
		if !first {
			e.buf = append(e.buf, ',')
		}
		first = false
		switch k := key.(type) {
		case lua.LString:
			e.str(string(k))
		case lua.LNumber:
			e.buf = append(e.buf, '"')
			e.number(float64(k))
			e.buf = append(e.buf, '"')
		default:
			e.fail("Cannot serialise %s: table key must be a number or string", key.Type().String())
		}
		e.buf = append(e.buf, ':')
		e.append(value, depth)
	})
	e.buf = append(e.buf, '}')
}

func (e *jsonEncoder) number(f float64) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		switch e.set.encodeBad {
		case "off":
			e.fail("Cannot serialise number: must not be NaN or Inf")
		case "null":
			e.buf = append(e.buf, "null"...)
			return
		}
		if math.IsNaN(f) {
			e.buf = append(e.buf, "nan"...)
			return
		}
	}
	e.buf = append(e.buf, formatNumber(f, e.set.precision)...)
}

func (e *jsonEncoder) str(s string) {
	const hex = "0123456789abcdef"
	b := append(e.buf, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\' || c == '/':
			b = append(b, '\\', c)
		case c == '\b':
			b = append(b, '\\', 'b')
		case c == '\t':
			b = append(b, '\\', 't')
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\f':
			b = append(b, '\\', 'f')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c < ' ' || c == 127:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	e.buf = append(b, '"')
}
