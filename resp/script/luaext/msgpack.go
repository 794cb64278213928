package luaext

import (
	"encoding/binary"
	"math"

	"github.com/ringside-kv/ringside/resp/script/lua"
)

// packedDepth is how deep tables are packed; what lies deeper becomes nil.
const packedDepth = 16

// OpenMsgpack returns the library cmsgpack: MessagePack, as in lua-cmsgpack 0.4.0.
func OpenMsgpack(t *lua.Thread) *lua.Table {
	lib := t.NewTable(0, 0)
	register(t, lib, []function{
		{"pack", msgpackPack},
		{"unpack", func(t *lua.Thread) int { return msgpackUnpack(t, 0, 0) }},
		{"unpack_one", func(t *lua.Thread) int { return msgpackUnpack(t, 1, t.OptInt(2, 0)) }},
		{"unpack_limit", func(t *lua.Thread) int {
			limit := t.CheckInt(2)
			return msgpackUnpack(t, limit, t.OptInt(3, 0))
		}},
	})
	for _, field := range [][2]string{
		{"_NAME", "cmsgpack"}, {"_VERSION", "lua-cmsgpack 0.4.0"},
		{"_COPYRIGHT", "Copyright (C) 2012, Salvatore Sanfilippo"}, {"_DESCRIPTION", "MessagePack C implementation for Lua"},
	} {
		t.SetField(lib, field[0], t.String(field[1]))
	}
	return lib
}

func msgpackPack(t *lua.Thread) int {
	n := t.NArgs()
	if n == 0 {
		t.ArgError(0, "MessagePack pack needs input.")
	}
	if 2*n > maxStack {
		t.ArgError(0, "Too many arguments for MessagePack pack.")
	}
	p := packer{t, t.NewBuffer()}
	for i := 1; i <= n; i++ {
		p.value(t.Arg(i), 0)
	}
	p.b.Push()
	return 1
}

type packer struct {
	t *lua.Thread
	b *lua.Buffer
}

func (p packer) value(v lua.Value, depth int) {
	switch v.Kind() {
	case lua.KindString:
		s := v.Text()
		p.head(len(s), 0xa0, 32, 0xd9, 0xda, 0xdb)
		p.b.Append(s)
	case lua.KindBool:
		if v.Truth() {
			p.b.AppendByte(0xc3)
		} else {
			p.b.AppendByte(0xc2)
		}
	case lua.KindNumber:
		p.number(v.Float())
	case lua.KindTable:
		if depth < packedDepth {
			p.table(v.Table(), depth)
			return
		}
		fallthrough
	default:
		p.b.AppendByte(0xc0)
	}
}

func (p packer) table(t *lua.Table, depth int) {
	count, most, isArray := 0, 0, true
	for k := range each(p.t, t) {
		count++
		if isArray = isArray && isIndex(k); isArray {
			most = max(most, int(k.Float()))
		}
	}
	if isArray && most == count {
		p.head(count, 0x90, 16, 0, 0xdc, 0xdd)
		for i := range count {
			p.value(t.GetInt(i+1), depth+1)
		}
		return
	}
	p.head(count, 0x80, 16, 0, 0xde, 0xdf)
	for k, v := range each(p.t, t) {
		p.value(k, depth+1)
		p.value(v, depth+1)
	}
}

// isIndex reports whether a key is an index of an array: a positive int of C.
func isIndex(k lua.Value) bool {
	if !k.IsNumber() {
		return false
	}
	f := k.Float()
	return f > 0 && f <= math.MaxInt32 && f == math.Floor(f)
}

// head appends a kind with a number: small is for those below few, one for those of one byte,
// unless it is 0, then those of two and four.
func (p packer) head(n int, small byte, few int, one, two, four byte) {
	switch {
	case n < few:
		p.b.AppendByte(small | byte(n))
	case n <= math.MaxUint8 && one != 0:
		p.bytes(one, uint64(n), 1)
	case n <= math.MaxUint16:
		p.bytes(two, uint64(n), 2)
	default:
		p.bytes(four, uint64(n), 4)
	}
}

// bytes appends a kind and the low bytes of a number.
func (p packer) bytes(kind byte, n uint64, size int) {
	var b [9]byte
	binary.BigEndian.PutUint64(b[1:], n<<(64-8*size))
	b[0] = kind
	p.b.AppendBytes(b[:1+size])
}

func (p packer) number(f float64) {
	if f != math.Floor(f) || !(f >= -1<<63 && f < 1<<63) {
		if float64(float32(f)) == f {
			p.bytes(0xca, uint64(math.Float32bits(float32(f))), 4)
		} else {
			p.bytes(0xcb, math.Float64bits(f), 8)
		}
		return
	}
	switch n := int64(f); {
	case n >= -32 && n <= math.MaxInt8:
		p.b.AppendByte(byte(n))
	case n >= 0 && n <= math.MaxUint8:
		p.bytes(0xcc, uint64(n), 1)
	case n >= 0 && n <= math.MaxUint16:
		p.bytes(0xcd, uint64(n), 2)
	case n >= 0 && n <= math.MaxUint32:
		p.bytes(0xce, uint64(n), 4)
	case n >= 0:
		p.bytes(0xcf, uint64(n), 8)
	case n >= math.MinInt8:
		p.bytes(0xd0, uint64(n), 1)
	case n >= math.MinInt16:
		p.bytes(0xd1, uint64(n), 2)
	case n >= math.MinInt32:
		p.bytes(0xd2, uint64(n), 4)
	default:
		p.bytes(0xd3, uint64(n), 8)
	}
}

// msgpackUnpack pushes up to limit values from an offset on, and before them where to go on,
// which is -1 at the end. With neither limit nor offset it pushes all values alone.
func msgpackUnpack(t *lua.Thread, limit, offset int) int {
	s := t.CheckString(1)
	switch {
	case offset < 0 || limit < 0:
		t.Errorf("Invalid request to unpack with offset of %d and limit of %d.", int32(offset), int32(len(s)))
	case offset > len(s):
		t.Errorf("Start offset %d greater than input length %d.", int32(offset), int32(len(s)))
	}
	all := limit == 0 && offset == 0
	if all {
		limit = math.MaxInt32
	}
	u := unpacker{t: t, rest: s[offset:], slots: 1}
	n := 0
	for ; n < limit && u.rest != ""; n++ {
		u.value()
	}
	if all {
		return n
	}
	values := make([]lua.Value, n)
	for i := n - 1; i >= 0; i-- {
		values[i] = t.Pop()
	}
	next := -1
	if u.rest != "" {
		next = len(s) - len(u.rest)
	}
	pushNumber(t, float64(next))
	for _, v := range values {
		t.Push(v)
	}
	return n + 1
}

type unpacker struct {
	t     *lua.Thread
	rest  string
	slots int // what the stack of C holds
}

// room raises an error if C's stack has no room for one more value.
func (u *unpacker) room(what string) {
	if u.slots+1 > maxStack {
		u.t.Errorf("stack overflow (%s)", what)
	}
}

// take returns the next n bytes.
func (u *unpacker) take(n int) string {
	if n > len(u.rest) {
		u.t.Errorf("Missing bytes in input.")
	}
	s := u.rest[:n]
	u.rest = u.rest[n:]
	return s
}

// argumentSizes are the bytes behind a kind that tell its number or length.
var argumentSizes = [256]uint8{
	0xca: 4, 0xcb: 8, 0xcc: 1, 0xcd: 2, 0xce: 4, 0xcf: 8, 0xd0: 1, 0xd1: 2, 0xd2: 4, 0xd3: 8,
	0xd9: 1, 0xda: 2, 0xdb: 4, 0xdc: 2, 0xdd: 4, 0xde: 2, 0xdf: 4,
}

// value pushes the next value.
func (u *unpacker) value() {
	c := u.take(1)[0]
	u.room("too many return values at once; use unpack_one or unpack_limit instead.")
	u.slots++
	u.t.Step(1)
	switch {
	case c < 0x80 || c >= 0xe0:
		pushNumber(u.t, float64(int8(c)))
		return
	case c >= 0xa0 && c < 0xc0:
		u.text(int(c & 0x1f))
		return
	case c >= 0x90 && c < 0xa0:
		u.array(int(c & 0xf))
		return
	case c < 0x90:
		u.table(int(c & 0xf))
		return
	}
	n := uint64(0)
	for _, b := range []byte(u.take(int(argumentSizes[c]))) {
		n = n<<8 | uint64(b)
	}
	switch c {
	case 0xc0:
		u.t.Push(lua.Nil)
	case 0xc2, 0xc3:
		u.t.Push(lua.Bool(c == 0xc3))
	case 0xca:
		pushNumber(u.t, float64(math.Float32frombits(uint32(n))))
	case 0xcb:
		pushNumber(u.t, math.Float64frombits(n))
	case 0xcc, 0xcd, 0xce, 0xcf, 0xd3:
		pushNumber(u.t, float64(int64(n)))
	case 0xd0:
		pushNumber(u.t, float64(int8(n)))
	case 0xd1:
		pushNumber(u.t, float64(int16(n)))
	case 0xd2:
		pushNumber(u.t, float64(int32(n)))
	case 0xd9, 0xda, 0xdb:
		u.text(int(n))
	case 0xdc, 0xdd:
		u.array(int(n))
	case 0xde, 0xdf:
		u.table(int(n))
	default:
		u.t.Errorf("Bad data format in input.")
	}
}

func (u *unpacker) text(n int) {
	u.t.PushCopy(u.take(n))
}

func (u *unpacker) array(n int) {
	t := u.t.NewTable(0, 0)
	u.t.Push(t.Value())
	u.room("in function mp_decode_to_lua_array")
	for i := range n {
		u.slots++ // the index
		u.value()
		u.t.SetInt(t, i+1, u.t.Top(1))
		u.t.Pop()
		u.slots -= 2
	}
}

func (u *unpacker) table(n int) {
	t := u.t.NewTable(0, 0)
	u.t.Push(t.Value())
	for range n {
		u.value()
		u.value()
		u.t.Set(t, u.t.Top(2), u.t.Top(1))
		u.t.Pop()
		u.t.Pop()
		u.slots -= 2
	}
}
