package script

import (
	"encoding/binary"
	"math"

	lua "github.com/yuin/gopher-lua"
)

// cmsgpack: MessagePack, as lua-cmsgpack writes and reads it.

// packedDepth is how deep tables are packed; what is deeper becomes nil.
const packedDepth = 16

const (
	errMissing   libraryError = "Missing bytes in input."
	errBadFormat libraryError = "Bad data format in input."
)

func (r *Runtime) openMsgpack() {
	t := r.l.NewTable()
	r.own.RawSetString("cmsgpack", t)
	for name, f := range map[string]lua.LGFunction{
		"pack":   r.packAll,
		"unpack": func(l *lua.LState) int { return unpackSome(l, 0, 0, false) },
		"unpack_one": func(l *lua.LState) int {
			return unpackSome(l, 1, l.OptInt(2, 0), true)
		},
		"unpack_limit": func(l *lua.LState) int {
			return unpackSome(l, l.CheckInt(2), l.OptInt(3, 0), true)
		},
	} {
		t.RawSetString(name, r.l.NewFunction(f))
	}
	t.RawSetString("_NAME", lua.LString("cmsgpack"))
	t.RawSetString("_VERSION", lua.LString("lua-cmsgpack 0.4.0"))
}

func (r *Runtime) packAll(l *lua.LState) int {
	n := l.GetTop()
	if n == 0 {
		l.ArgError(0, "MessagePack pack needs input.")
	}
	var b []byte
	e := r.effort(l)
	for i := 1; i <= n; i++ {
		b = pack(b, l.Get(i), 0, &e)
	}
	return push(l, lua.LString(b))
}

func pack(b []byte, v lua.LValue, depth int, e *effort) []byte {
	e.made(len(b))
	switch v := v.(type) {
	case lua.LString:
		return append(packHead(b, len(v), 0xa0, 32, 0xd9, 0xda, 0xdb), v...)
	case lua.LBool:
		if v {
			return append(b, 0xc3)
		}
		return append(b, 0xc2)
	case lua.LNumber:
		return packNumber(b, float64(v))
	case *lua.LTable:
		if depth == packedDepth {
			break
		}
		count, most, isArray := 0, 0, true
		each(v, func(key, _ lua.LValue) {
			e.step()
			n, ok := key.(lua.LNumber)
			if !ok || n <= 0 || float64(n) != math.Floor(float64(n)) || n > math.MaxInt32 {
				isArray = false
				n = 0
			}
			count, most = count+1, max(most, int(n))
		})
		if isArray && most == count {
			b = packHead(b, count, 0x90, 16, 0, 0xdc, 0xdd)
			for i := range count {
				b = pack(b, v.RawGetInt(i+1), depth+1, e)
			}
			return b
		}
		b = packHead(b, count, 0x80, 16, 0, 0xde, 0xdf)
		each(v, func(key, value lua.LValue) {
			b = pack(pack(b, key, depth+1, e), value, depth+1, e)
		})
		return b
	}
	return append(b, 0xc0)
}

// packHead appends a kind with a number: small is for those below few, one for those of one
// byte, unless it is 0, then those of two and four.
func packHead(b []byte, n int, small byte, few int, one, two, four byte) []byte {
	switch {
	case n < few:
		return append(b, small|byte(n))
	case n <= math.MaxUint8 && one != 0:
		return append(b, one, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, two), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(b, four), uint32(n))
}

func packNumber(b []byte, f float64) []byte {
	if f != math.Floor(f) || !(f >= -1<<63 && f < 1<<63) {
		if float64(float32(f)) == f {
			return binary.BigEndian.AppendUint32(append(b, 0xca), math.Float32bits(float32(f)))
		}
		return binary.BigEndian.AppendUint64(append(b, 0xcb), math.Float64bits(f))
	}
	switch n := int64(f); {
	case n >= 0 && n <= math.MaxInt8:
		return append(b, byte(n))
	case n >= 0 && n <= math.MaxUint8:
		return append(b, 0xcc, byte(n))
	case n >= 0 && n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, 0xcd), uint16(n))
	case n >= 0 && n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(b, 0xce), uint32(n))
	case n >= 0:
		return binary.BigEndian.AppendUint64(append(b, 0xcf), uint64(n))
	case n >= -32:
		return append(b, byte(int8(n)))
	case n >= math.MinInt8:
		return append(b, 0xd0, byte(int8(n)))
	case n >= math.MinInt16:
		return binary.BigEndian.AppendUint16(append(b, 0xd1), uint16(int16(n)))
	case n >= math.MinInt32:
		return binary.BigEndian.AppendUint32(append(b, 0xd2), uint32(int32(n)))
	default:
		return binary.BigEndian.AppendUint64(append(b, 0xd3), uint64(n))
	}
}

// unpackSome returns so many values, all if it is 0, from an offset on; before them, if
// asked, where to go on, which is -1 at the end.
func unpackSome(l *lua.LState, limit, offset int, told bool) int {
	s := l.CheckString(1)
	switch {
	case offset < 0 || limit < 0:
		l.RaiseError("Invalid request to unpack with offset of %d and limit of %d.", offset, len(s))
	case offset > len(s):
		l.RaiseError("Start offset %d greater than input length %d.", offset, len(s))
	}
	all := limit == 0
	rest := s[offset:]
	var values []lua.LValue
	for len(rest) > 0 && (all || len(values) < limit) {
		v, behind, err := unpackOne(l, rest, 0)
		if err != nil {
			l.RaiseError("%s", err.Error())
		}
		if values = append(values, v); len(values) > maxUnpacked {
			l.RaiseError("too many results to unpack")
		}
		rest = behind
	}
	n := len(values)
	if told {
		next := len(s) - len(rest)
		if len(rest) == 0 {
			next = -1
		}
		l.Push(lua.LNumber(next))
		n++
	}
	for _, v := range values {
		l.Push(v)
	}
	return n
}

func unpackOne(l *lua.LState, s string, depth int) (v lua.LValue, rest string, err error) {
	if depth > maxNested {
		return nil, "", errBadFormat
	}
	if s == "" {
		return nil, "", errMissing
	}
	c := s[0]
	s = s[1:]
	switch {
	case c < 0x80:
		return lua.LNumber(c), s, nil
	case c >= 0xe0:
		return lua.LNumber(int8(c)), s, nil
	case c >= 0xa0 && c < 0xc0:
		return unpackString(s, uint64(c&0x1f))
	case c >= 0x90 && c < 0xa0:
		return unpackTable(l, s, uint64(c&0xf), false, depth)
	case c < 0x90:
		return unpackTable(l, s, uint64(c&0xf), true, depth)
	case c == 0xc0:
		return lua.LNil, s, nil
	case c == 0xc2 || c == 0xc3:
		return lua.LBool(c == 0xc3), s, nil
	}
	size := map[byte]int{
		0xca: 4, 0xcb: 8, 0xcc: 1, 0xcd: 2, 0xce: 4, 0xcf: 8, 0xd0: 1, 0xd1: 2, 0xd2: 4, 0xd3: 8,
		0xd9: 1, 0xda: 2, 0xdb: 4, 0xdc: 2, 0xdd: 4, 0xde: 2, 0xdf: 4,
	}[c]
	switch {
	case size == 0:
		return nil, "", errBadFormat
	case len(s) < size:
		return nil, "", errMissing
	}
	n := uint64(0)
	for i := range size {
		n = n<<8 | uint64(s[i])
	}
	s = s[size:]
	switch c {
	case 0xca:
		return lua.LNumber(math.Float32frombits(uint32(n))), s, nil
	case 0xcb:
		return lua.LNumber(math.Float64frombits(n)), s, nil
	case 0xcc, 0xcd, 0xce, 0xcf:
		return lua.LNumber(int64(n)), s, nil
	case 0xd0:
		return lua.LNumber(int8(n)), s, nil
	case 0xd1:
		return lua.LNumber(int16(n)), s, nil
	case 0xd2:
		return lua.LNumber(int32(n)), s, nil
	case 0xd3:
		return lua.LNumber(int64(n)), s, nil
	case 0xdc, 0xdd:
		return unpackTable(l, s, n, false, depth)
	case 0xde, 0xdf:
		return unpackTable(l, s, n, true, depth)
	}
	return unpackString(s, n)
}

func unpackString(s string, n uint64) (lua.LValue, string, error) {
	if n > uint64(len(s)) {
		return nil, "", errMissing
	}
	return lua.LString(s[:n]), s[n:], nil
}

func unpackTable(l *lua.LState, s string, n uint64, isMap bool, depth int) (v lua.LValue, rest string, err error) {
	t := l.NewTable()
	for i := range n {
		key := lua.LValue(lua.LNumber(i + 1))
		if isMap {
			if key, s, err = unpackOne(l, s, depth+1); err != nil {
				return nil, "", err
			}
		}
		if v, s, err = unpackOne(l, s, depth+1); err != nil {
			return nil, "", err
		}
		if f, ok := key.(lua.LNumber); key == lua.LNil || ok && math.IsNaN(float64(f)) {
			return nil, "", errBadFormat
		}
		t.RawSet(key, v)
	}
	return t, s, nil
}
