package luaext

import (
	"math"
	"strings"

	"github.com/ringside-kv/ringside/resp/script/lua"
)

const (
	maxIntegral  = 32 // bytes
	defaultAlign = 8
)

// OpenStruct returns the library struct: binary data by formats, as in the library of
// R. Ierusalimschy.
func OpenStruct(t *lua.Thread) *lua.Table {
	lib := t.NewTable(0, 3)
	register(t, lib, []function{{"pack", structPack}, {"unpack", structUnpack}, {"size", structSize}})
	return lib
}

// A layout is a format that is read option by option.
type layout struct {
	t     *lua.Thread
	rest  string
	big   bool
	align uint64 // at most
}

func newLayout(t *lua.Thread) *layout {
	format := t.CheckString(1)
	if end := strings.IndexByte(format, 0); end >= 0 {
		format = format[:end]
	}
	return &layout{t: t, rest: format, align: 1}
}

// next returns the next option with its size, and the position at which it lies if it comes
// next at a position.
func (f *layout) next(at uint64) (opt byte, size, aligned uint64) {
	if opt, f.rest = f.rest[0], f.rest[1:]; len(f.rest)%stepSlice == 0 {
		f.t.Step(stepSlice)
	}
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
		return opt, f.number(1), at
	case 'i', 'I':
		if size = f.number(4); size > maxIntegral {
			f.t.Errorf("integral size %d is larger than limit of %d", size, maxIntegral)
		}
	}
	if unit := min(size, f.align); unit > 1 {
		at += (unit - at&(unit-1)) & (unit - 1)
	}
	return opt, size, at
}

// number reads the number behind an option, if there is one.
func (f *layout) number(otherwise uint64) uint64 {
	n, digits := uint64(0), 0
	for ; digits < len(f.rest) && f.rest[digits] >= '0' && f.rest[digits] <= '9'; digits++ {
		if n = n*10 + uint64(f.rest[digits]-'0'); n > math.MaxInt32 {
			f.t.Errorf("integral size overflow")
		}
	}
	if f.rest = f.rest[digits:]; digits == 0 {
		return otherwise
	}
	return n
}

// control carries out an option that is about those behind it.
func (f *layout) control(opt byte) {
	switch opt {
	case ' ':
	case '<':
		f.big = false
	case '>':
		f.big = true
	case '!':
		if f.align = f.number(defaultAlign); f.align == 0 || f.align&(f.align-1) != 0 {
			f.t.Errorf("alignment %d is not a power of 2", f.align)
		}
	default:
		f.t.ArgError(1, "invalid format option '"+string([]byte{opt})+"'")
	}
}

// put appends the low bytes of a number.
func (f *layout) put(b *lua.Buffer, n, size uint64) {
	for i := range size {
		at := i
		if f.big {
			at = size - 1 - i
		}
		b.AppendByte(byte(n >> (8 * at))) // zeros from the ninth on
	}
}

func (f *layout) get(s string) (n uint64) {
	for i := range len(s) {
		at := i
		if !f.big {
			at = len(s) - 1 - i
		}
		n = n<<8 | uint64(s[at])
	}
	return n
}

// checkNumber is an argument of pack. Behind the last one, C finds a nil of its own.
func (f *layout) checkNumber(arg int) float64 {
	if arg == f.t.NArgs()+1 {
		f.t.ArgError(arg, "number expected, got nil")
	}
	return f.t.CheckNumber(arg)
}

func structPack(t *lua.Thread) int {
	f := newLayout(t)
	b := t.NewBuffer()
	at := uint64(0)
	for arg := 2; f.rest != ""; {
		opt, size, aligned := f.next(at)
		for ; at < aligned; at++ {
			b.AppendByte(0)
		}
		switch opt {
		case 'b', 'B', 'h', 'H', 'l', 'L', 'T', 'i', 'I':
			n := f.checkNumber(arg)
			if n < 0 {
				f.put(b, uint64(lua.Integer(n)), size)
			} else {
				f.put(b, lua.Unsigned(n), size)
			}
			arg++
		case 'x':
			b.AppendByte(0)
		case 'f':
			f.put(b, uint64(math.Float32bits(float32(f.checkNumber(arg)))), size)
			arg++
		case 'd':
			f.put(b, math.Float64bits(f.checkNumber(arg)), size)
			arg++
		case 'c', 's':
			if arg == t.NArgs()+1 {
				t.ArgError(arg, "string expected, got nil")
			}
			s := t.CheckString(arg)
			arg++
			if size == 0 {
				size = uint64(len(s))
			}
			if uint64(len(s)) < size {
				t.ArgError(arg, "string too short")
			}
			b.Append(s[:size])
			if opt == 's' {
				b.AppendByte(0)
				size++
			}
		default:
			f.control(opt)
		}
		at += size
	}
	b.Push()
	return 1
}

func structUnpack(t *lua.Thread) int {
	f, s := newLayout(t), t.CheckString(2)
	at := uint64(t.OptInt(3, 1)) // as C has it: what is negative is far behind the end
	if at == 0 {
		t.ArgError(3, "offset must be 1 or greater")
	}
	at--
	data := uint64(len(s))
	checkRoom := func(size uint64) {
		if size > data || at > data-size {
			t.ArgError(2, "data string too short")
		}
	}
	args, n := t.NArgs(), 0
	give := func(v float64) {
		t.Push(lua.Number(v))
		n++
	}
	for f.rest != "" {
		opt, size, aligned := f.next(at)
		at = aligned
		checkRoom(size)
		if args+n+2 > maxStack {
			t.Errorf("stack overflow (too many results)")
		}
		switch opt {
		case 'b', 'h', 'l', 'i':
			bits := f.get(s[at : at+size])
			// The mask is that of C on amd64, whatever the size is.
			if mask := ^uint64(0) << ((8*size - 1) & 63); bits&mask != 0 {
				bits |= mask
			}
			give(float64(int64(bits)))
		case 'B', 'H', 'L', 'T', 'I':
			give(float64(f.get(s[at : at+size])))
		case 'f':
			give(float64(math.Float32frombits(uint32(f.get(s[at : at+size])))))
		case 'd':
			give(math.Float64frombits(f.get(s[at : at+size])))
		case 'c':
			if size == 0 {
				length, ok := 0.0, n > 0
				if ok {
					length, ok = lua.ToNumber(t.Top(1))
				}
				if !ok {
					t.Errorf("format 'c0' needs a previous size")
				}
				t.Pop()
				n--
				size = lua.Unsigned(length)
				checkRoom(size)
			}
			t.PushCopy(s[at : at+size])
			n++
		case 's':
			end := strings.IndexByte(s[at:], 0)
			if end < 0 {
				t.Errorf("unfinished string in data")
			}
			t.PushCopy(s[at : at+uint64(end)])
			n++
			size = uint64(end) + 1
		case 'x':
		default:
			f.control(opt)
		}
		at += size
	}
	return n + pushNumber(t, float64(int64(at+1)))
}

func structSize(t *lua.Thread) int {
	f := newLayout(t)
	at := uint64(0)
	for f.rest != "" {
		opt, size, aligned := f.next(at)
		at = aligned + size
		switch {
		case opt == 's':
			t.ArgError(1, "option 's' has no fixed size")
		case opt == 'c' && size == 0:
			t.ArgError(1, "option 'c0' has no fixed size")
		case !isAlphanumeric(opt): // letters without a meaning pass
			f.control(opt)
		}
	}
	return pushNumber(t, float64(at))
}

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}
