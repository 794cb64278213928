package luaext

import (
	"math"
	"slices"
	"strconv"

	"github.com/ringside-kv/ringside/resp/script/lua"
)

// A choice is a setting of cjson: what happens to numbers that JSON does not have.
type choice int

const (
	off choice = iota
	on
	null
)

var choiceNames = [...]string{"off", "on", "null"}

// JSONSettings are what a script can set in a library cjson. Reset makes them those of a new
// library.
type JSONSettings struct {
	sparseConvert                choice
	sparseRatio, sparseSafe      int32
	encodeDepth, decodeDepth     int32
	precision                    int32
	keepBuffer                   choice
	encodeInvalid, decodeInvalid choice
}

// Reset sets everything as a new library has it.
func (s *JSONSettings) Reset() {
	*s = JSONSettings{
		sparseRatio: 2, sparseSafe: 10, encodeDepth: 1000, decodeDepth: 1000, precision: 14,
		keepBuffer: on, encodeInvalid: off, decodeInvalid: on,
	}
}

// OpenJSON returns the library cjson: JSON, as in lua-cjson 2.1.0. It resets settings, in which
// what scripts change is kept.
func OpenJSON(t *lua.Thread, settings *JSONSettings) *lua.Table {
	settings.Reset()
	s := settings
	lib := t.NewTable(0, 0)
	register(t, lib, []function{
		{"encode", func(t *lua.Thread) int {
			checkOne(t)
			e := jsonEncoder{t: t, set: s, b: t.NewBuffer()}
			e.append(t.Arg(1), 0, 1)
			e.b.Push()
			return 1
		}},
		{"decode", func(t *lua.Thread) int {
			checkOne(t)
			return decodeJSON(t, s, t.CheckString(1))
		}},
		{"encode_sparse_array", func(t *lua.Thread) int {
			checkCount(t, 3)
			setChoice(t, &s.sparseConvert, choiceNames[:2])
			setNumber(t, 2, &s.sparseRatio, 0, math.MaxInt32)
			setNumber(t, 3, &s.sparseSafe, 0, math.MaxInt32)
			return 3
		}},
		{"encode_max_depth", numberSetting(&s.encodeDepth, math.MaxInt32)},
		{"decode_max_depth", numberSetting(&s.decodeDepth, math.MaxInt32)},
		{"encode_number_precision", numberSetting(&s.precision, 14)},
		{"encode_keep_buffer", choiceSetting(&s.keepBuffer, 2)},
		{"encode_invalid_numbers", choiceSetting(&s.encodeInvalid, 3)},
		{"decode_invalid_numbers", choiceSetting(&s.decodeInvalid, 2)},
		{"new", func(t *lua.Thread) int {
			t.Push(OpenJSON(t, new(JSONSettings)).Value())
			return 1
		}},
	})
	t.SetField(lib, "null", lua.Null)
	t.SetField(lib, "_NAME", t.String("cjson"))
	t.SetField(lib, "_VERSION", t.String("2.1.0"))
	return lib
}

func checkOne(t *lua.Thread) {
	if t.NArgs() != 1 {
		t.ArgError(1, "expected 1 argument")
	}
}

func checkCount(t *lua.Thread, most int) {
	if t.NArgs() > most {
		t.ArgError(most+1, "found too many arguments")
	}
}

func numberSetting(p *int32, most int) lua.GoFunction {
	return func(t *lua.Thread) int {
		checkCount(t, 1)
		setNumber(t, 1, p, 1, most)
		return 1
	}
}

// setNumber sets a number that is given, and pushes what it is. The errors are about the first
// argument, whichever it is.
func setNumber(t *lua.Thread, arg int, p *int32, least, most int) {
	if !t.Arg(arg).IsNil() {
		n := t.CheckInt32(arg)
		if n < least || n > most {
			t.ArgError(1, "expected integer between "+strconv.Itoa(least)+" and "+strconv.Itoa(most))
		}
		*p = int32(n)
	}
	pushNumber(t, float64(*p))
}

func choiceSetting(p *choice, choices int) lua.GoFunction {
	return func(t *lua.Thread) int {
		checkCount(t, 1)
		setChoice(t, p, choiceNames[:choices])
		return 1
	}
}

func setChoice(t *lua.Thread, p *choice, names []string) {
	switch v := t.Arg(1); v.Kind() {
	case lua.KindNil:
	case lua.KindBool:
		*p = off
		if v.Truth() {
			*p = on
		}
	default:
		word := t.CheckString(1)
		i := slices.Index(names, word)
		if i < 0 {
			t.ArgError(1, "invalid option '"+word+"'")
		}
		*p = choice(i)
	}
	if *p == null {
		t.PushString("null")
	} else {
		t.Push(lua.Bool(*p == on))
	}
}
