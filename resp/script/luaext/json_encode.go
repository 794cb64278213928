package luaext

import (
	"math"
	"strconv"

	"github.com/ringside-kv/ringside/resp/script/lua"
)

type jsonEncoder struct {
	t   *lua.Thread
	set *JSONSettings
	b   *lua.Buffer
}

func (e *jsonEncoder) refuse(v lua.Value, reason string) {
	e.t.Errorf("Cannot serialise %s: %s", v.Kind(), reason)
}

// append writes a value. depth is how many tables it lies in, and slots what the stack of C
// holds then.
func (e *jsonEncoder) append(v lua.Value, depth int32, slots int) {
	switch v.Kind() {
	case lua.KindString:
		e.text(v.Text())
	case lua.KindNumber:
		e.number(v)
	case lua.KindBool:
		if v.Truth() {
			e.b.Append("true")
		} else {
			e.b.Append("false")
		}
	case lua.KindNil:
		e.b.Append("null")
	case lua.KindTable:
		depth++
		if depth > e.set.encodeDepth || slots+3 > maxStack {
			e.t.Errorf("Cannot serialise, excessive nesting (%d)", depth)
		}
		if n := e.length(v); n > 0 {
			e.array(v.Table(), int(n), depth, slots)
		} else {
			e.object(v.Table(), depth, slots)
		}
	default:
		if v != lua.Null {
			e.refuse(v, "type not supported")
		}
		e.b.Append("null")
	}
}

// length returns how long an array is, and less than 1 if a table is none. The numbers are ints
// of C, in which large keys do not fit.
func (e *jsonEncoder) length(v lua.Value) int32 {
	var items, most int32
	for k := range each(e.t, v.Table()) {
		if !k.IsNumber() {
			return -1
		}
		f := k.Float()
		if f != math.Floor(f) || f < 1 {
			return -1
		}
		if f > float64(most) {
			if most = math.MinInt32; f <= math.MaxInt32 {
				most = int32(f)
			}
		}
		items++
	}
	if ratio := e.set.sparseRatio; ratio > 0 && most > items*ratio && most > e.set.sparseSafe {
		if e.set.sparseConvert == off {
			e.refuse(v, "excessively sparse array")
		}
		return -1
	}
	return most
}

func (e *jsonEncoder) array(t *lua.Table, n int, depth int32, slots int) {
	e.b.AppendByte('[')
	for i := range n {
		if i > 0 {
			e.b.AppendByte(',')
		}
		e.append(t.GetInt(i+1), depth, slots+1)
	}
	e.b.AppendByte(']')
}

func (e *jsonEncoder) object(t *lua.Table, depth int32, slots int) {
	separator := byte('{')
	for k, v := range each(e.t, t) {
		e.b.AppendByte(separator)
		separator = ','
		switch k.Kind() {
		case lua.KindString:
			e.text(k.Text())
		case lua.KindNumber:
			e.b.AppendByte('"')
			e.number(k)
			e.b.AppendByte('"')
		default:
			e.refuse(k, "table key must be a number or string")
		}
		e.b.AppendByte(':')
		e.append(v, depth, slots+2)
	}
	if separator == '{' {
		e.b.AppendByte('{')
	}
	e.b.AppendByte('}')
}

func (e *jsonEncoder) number(v lua.Value) {
	f := v.Float()
	if math.IsNaN(f) || math.IsInf(f, 0) {
		switch {
		case e.set.encodeInvalid == off:
			e.refuse(v, "must not be NaN or Inf")
		case e.set.encodeInvalid == null:
			e.b.Append("null")
		case math.IsNaN(f):
			e.b.Append("nan")
		default:
			e.b.Append(lua.FormatNumber(f))
		}
		return
	}
	var room [32]byte
	if i := int64(f); e.set.precision == 14 && float64(i) == f && i > -1e14 && i < 1e14 && (i != 0 || !math.Signbit(f)) {
		e.b.AppendBytes(strconv.AppendInt(room[:0], i, 10))
		return
	}
	e.b.AppendBytes(strconv.AppendFloat(room[:0], f, 'g', int(e.set.precision), 64))
}

// jsonEscapes are what stands for bytes in strings; "" for those that stand for themselves.
var jsonEscapes = func() (all [256]string) {
	const hex = "0123456789abcdef"
	for c := range ' ' {
		all[c] = `\u00` + hex[c>>4:c>>4+1] + hex[c&15:c&15+1]
	}
	all[127] = `\u007f`
	for c, escape := range map[byte]string{'\b': `\b`, '\t': `\t`, '\n': `\n`, '\f': `\f`, '\r': `\r`, '"': `\"`, '\\': `\\`, '/': `\/`} {
		all[c] = escape
	}
	return all
}()

func (e *jsonEncoder) text(s string) {
	e.b.AppendByte('"')
	from := 0
	for i := range len(s) {
		if escape := jsonEscapes[s[i]]; escape != "" {
			e.b.Append(s[from:i])
			e.b.Append(escape)
			from = i + 1
		} else if i-from == jsonSlice {
			e.b.Append(s[from:i])
			from = i
		}
	}
	e.b.Append(s[from:])
	e.b.AppendByte('"')
}
