package script

import (
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// struct: binary data by formats, as in the library struct of R. Ierusalimschy.

const (
	maxIntegral = 32 // bytes
	maxAlign    = 8
)

func (r *Runtime) openStruct() {
	t := r.l.NewTable()
	r.own.RawSetString("struct", t)
	for name, f := range map[string]lua.LGFunction{"pack": structPack, "unpack": structUnpack, "size": structSize} {
		t.RawSetString(name, r.l.NewFunction(f))
	}
}

// A structFormat is read option by option.
type structFormat struct {
	l    *lua.LState
	rest string
	big  bool
	most int // alignment
}

func newStructFormat(l *lua.LState) *structFormat {
	return &structFormat{l: l, rest: checkString(l, 1), most: 1}
}

// checkString is an argument that must be there.
func checkString(l *lua.LState, n int) string {
	if l.GetTop() < n {
		l.ArgError(n, "string expected, got no value")
	}
	return l.CheckString(n)
}

// next returns the next option with its size, and what must come before it at an offset, to
// align it.
func (f *structFormat) next(at int) (opt byte, size, padding int, ok bool) {
	if f.rest == "" {
		return 0, 0, 0, false
	}
	opt, f.rest = f.rest[0], f.rest[1:]
	switch opt {
	case 'b', 'B', 'x':
		size = 1
	case 'h', 'H':
		size = 2
	case 'l', 'L', 'T', 'd':
		size = 8
	case 'f':
		size = 4
	case 'c':
		size = f.number(1)
	case 'i', 'I':
		if size = f.number(4); size > maxIntegral {
			f.l.RaiseError("integral size %d is larger than limit of %d", size, maxIntegral)
		}
	case 's', ' ', '<', '>', '!':
	default:
		f.l.ArgError(1, "invalid format option '"+string(rune(opt))+"'")
	}
	if align := min(size, f.most); opt != 'c' && align > 1 {
		padding = (align - at&(align-1)) & (align - 1)
	}
	return opt, size, padding, true
}

// number reads the number behind an option, if there is one.
func (f *structFormat) number(otherwise int) int {
	n, digits := 0, 0
	for ; digits < len(f.rest) && f.rest[digits] >= '0' && f.rest[digits] <= '9'; digits++ {
		if n = n*10 + int(f.rest[digits]-'0'); n > math.MaxInt32 {
			f.l.RaiseError("integral size overflow")
		}
	}
	if f.rest = f.rest[digits:]; digits == 0 {
		return otherwise
	}
	return n
}

// control sees to an option that is about those behind it.
func (f *structFormat) control(opt byte) {
	switch opt {
	case '<':
		f.big = false
	case '>':
		f.big = true
	case '!':
		if f.most = f.number(maxAlign); f.most == 0 || f.most&(f.most-1) != 0 {
			f.l.RaiseError("alignment %d is not a power of 2", f.most)
		}
	}
}

func (f *structFormat) put(b []byte, n uint64, size int) []byte {
	for i := range size {
		at := i
		if f.big {
			at = size - 1 - i
		}
		if at < 8 {
			b = append(b, byte(n>>(8*at)))
		} else {
			b = append(b, 0)
		}
	}
	return b
}

func (f *structFormat) get(s string) (n uint64) {
	for i := range len(s) {
		at := i
		if !f.big {
			at = len(s) - 1 - i
		}
		n = n<<8 | uint64(s[at])
	}
	return n
}

func structPack(l *lua.LState) int {
	f := newStructFormat(l)
	var b []byte
	for arg := 2; ; {
		opt, size, padding, ok := f.next(len(b))
		if !ok {
			return push(l, lua.LString(b))
		}
		b = append(b, make([]byte, padding)...)
		switch opt {
		case 'b', 'B', 'h', 'H', 'l', 'L', 'T', 'i', 'I':
			b = f.put(b, bitsOf(float64(l.CheckNumber(arg))), size)
			arg++
		case 'x':
			b = append(b, 0)
		case 'f':
			b = f.put(b, uint64(math.Float32bits(float32(l.CheckNumber(arg)))), size)
			arg++
		case 'd':
			b = f.put(b, math.Float64bits(float64(l.CheckNumber(arg))), size)
			arg++
		case 'c', 's':
			s := l.CheckString(arg)
			if opt == 's' || size == 0 {
				size = len(s)
			}
			if len(s) < size {
				l.ArgError(arg+1, "string too short")
			}
			if b = append(b, s[:size]...); opt == 's' {
				b = append(b, 0)
			}
			arg++
		default:
			f.control(opt)
		}
		if len(b) > maxRepeat {
			l.RaiseError("not enough memory")
		}
	}
}

// bitsOf is a number as C converts it to an integer of 64 bits.
func bitsOf(f float64) uint64 {
	if f >= 1<<63 && f < 1<<64 {
		return uint64(f)
	}
	return uint64(integer(f))
}

func structUnpack(l *lua.LState) int {
	f, s := newStructFormat(l), l.CheckString(2)
	at := l.OptInt(3, 1) - 1
	if at < 0 {
		l.ArgError(3, "offset must be 1 or greater")
	}
	n := 0
	give := func(v lua.LValue) {
		if n++; n > maxUnpacked {
			l.RaiseError("too many results to unpack")
		}
		l.Push(v)
	}
	for {
		opt, size, padding, ok := f.next(at)
		if !ok {
			give(lua.LNumber(at + 1))
			return n
		}
		at += padding
		if at > len(s) || size > len(s)-at {
			l.ArgError(2, "data string too short")
		}
		switch opt {
		case 'b', 'h', 'l', 'i':
			bits := f.get(s[at : at+size])
			if size < 8 && size > 0 {
				bits = uint64(int64(bits<<(64-8*size)) >> (64 - 8*size))
			}
			give(lua.LNumber(int64(bits)))
		case 'B', 'H', 'L', 'T', 'I':
			give(lua.LNumber(f.get(s[at : at+size])))
		case 'f':
			give(lua.LNumber(math.Float32frombits(uint32(f.get(s[at : at+size])))))
		case 'd':
			give(lua.LNumber(math.Float64frombits(f.get(s[at : at+size]))))
		case 'c':
			if size == 0 {
				last, ok := l.Get(-1).(lua.LNumber)
				if n == 0 || !ok {
					l.RaiseError("format 'c0' needs a previous size")
				}
				l.Pop(1)
				n--
				if size = int(last); last < 0 || float64(last) > float64(len(s)-at) {
					l.ArgError(2, "data string too short")
				}
			}
			give(lua.LString(s[at : at+size]))
		case 's':
			end := strings.IndexByte(s[at:], 0)
			if end < 0 {
				l.RaiseError("unfinished string in data")
			}
			give(lua.LString(s[at : at+end]))
			size = end + 1
		case 'x':
		default:
			f.control(opt)
		}
		at += size
	}
}

func structSize(l *lua.LState) int {
	f := newStructFormat(l)
	at := 0
	for {
		opt, size, padding, ok := f.next(at)
		if !ok {
			return push(l, lua.LNumber(at))
		}
		at += padding
		switch {
		case opt == 's':
			l.ArgError(1, "option 's' has no fixed size")
		case opt == 'c' && size == 0:
			l.ArgError(1, "option 'c0' has no fixed size")
		case size == 0:
			f.control(opt)
		}
		if at += size; at > math.MaxInt32 {
			l.RaiseError("too large")
		}
	}
}
