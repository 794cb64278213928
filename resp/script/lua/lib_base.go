package lua

import "strings"

// OpenBase adds the functions that are global variables to a table.
func OpenBase(t *Thread, globals *Table) {
	t.Register(globals, map[string]GoFunction{
		"assert": baseAssert, "collectgarbage": baseCollect, "error": baseError, "gcinfo": baseGCInfo,
		"getmetatable": baseGetMetatable, "ipairs": baseIpairs, "load": baseLoad, "loadstring": baseLoadString,
		"next": baseNext, "pairs": basePairs, "pcall": basePcall, "rawequal": baseRawEqual, "rawget": baseRawGet,
		"rawset": baseRawSet, "select": baseSelect, "setmetatable": baseSetMetatable, "tonumber": baseToNumber,
		"tostring": baseToString, "type": baseType, "unpack": baseUnpack, "xpcall": baseXpcall,
	})
	t.SetField(globals, "_VERSION", t.String("Lua 5.1"))
	t.SetField(globals, "_G", globals.Value())
	t.state.nextFunction = globals.GetField("next").function()
	t.state.ipairsStep = t.NewFunction(ipairsStep).function()
}

func (t *Thread) push1(v Value) int {
	t.Push(v)
	return 1
}

func baseAssert(t *Thread) int {
	if t.CheckAny(1); !t.Arg(1).Truth() {
		t.Errorf("%s", t.OptString(2, "assertion failed!"))
	}
	return t.NArgs()
}

func baseCollect(t *Thread) int {
	what := t.OptString(1, "collect")
	t.OptInt(2, 0)
	switch what {
	case "count":
		return t.push1(Number(float64(t.state.live+t.state.allocated) / 1024))
	case "collect":
		t.state.trace(0)
		return t.push1(Number(0))
	case "stop", "restart", "setpause", "setstepmul":
		return t.push1(Number(0))
	case "step":
		return t.push1(True)
	}
	t.ArgError(1, "invalid option '"+cutZero(what)+"'")
	return 0
}

func baseGCInfo(t *Thread) int {
	return t.push1(Number(float64((t.state.live + t.state.allocated) / 1024)))
}

func baseError(t *Thread) int {
	level, v := t.optInt32(2, 1), t.Arg(1)
	if text, ok := ToText(v); ok && level > 0 {
		v = t.String(t.at(level) + text)
	}
	t.throw(v)
	return 0
}

func baseGetMetatable(t *Thread) int {
	meta := t.state.metatable(t.CheckAny(1))
	if meta == nil {
		return t.push1(Nil)
	}
	if shown := meta.getString(t.state.names["__metatable"]); shown.ref != nil {
		return t.push1(shown)
	}
	return t.push1(meta.Value())
}

func baseSetMetatable(t *Thread) int {
	table := t.CheckTable(1)
	v := t.Arg(2)
	if t.IsNone(2) || v.ref != nil && !v.IsTable() {
		t.ArgError(2, "nil or table expected")
	}
	if table.meta != nil && table.meta.getString(t.state.names["__metatable"]).ref != nil {
		t.Errorf("cannot change a protected metatable")
	}
	if table.readonly {
		t.readonlyError()
	}
	table.meta = v.Table()
	return t.push1(t.Arg(1))
}

func ipairsStep(t *Thread) int {
	i := t.CheckInt32(2) + 1
	v := t.CheckTable(1).GetInt(i)
	if v.ref == nil {
		return 0
	}
	t.Push(Number(float64(i)))
	return 1 + t.push1(v)
}

func baseIpairs(t *Thread) int {
	v := t.CheckTable(1).Value()
	t.Push(t.state.ipairsStep.value())
	t.Push(v)
	return 2 + t.push1(Number(0))
}

func basePairs(t *Thread) int {
	v := t.CheckTable(1).Value()
	t.Push(t.state.nextFunction.value())
	t.Push(v)
	return 2 + t.push1(Nil)
}

func baseNext(t *Thread) int {
	k, v, ok := t.CheckTable(1).Next(t.Arg(2))
	if !ok {
		t.runError("invalid key to 'next'")
	}
	if t.Push(k); k.ref == nil {
		return 1
	}
	return 1 + t.push1(v)
}

func baseLoadString(t *Thread) int {
	source := t.CheckString(1)
	return t.load(source, t.OptString(2, source))
}

func baseLoad(t *Thread) int {
	fn := t.CheckFunction(1)
	name := t.OptString(2, "=(load)")
	source := t.NewBuffer()
	err, failed := t.try(t.handler, func() {
		for {
			t.Push(fn)
			t.Call(0, 1)
			piece := t.Pop()
			if piece.ref == nil {
				return
			}
			text, ok := ToText(piece)
			if !ok {
				t.Errorf("reader function must return a string")
			}
			if text == "" {
				return
			}
			source.Append(text)
		}
	})
	if failed {
		t.Push(Nil)
		return 1 + t.push1(err)
	}
	source.Push()
	return t.load(t.Pop().Text(), name)
}

// loadFactor is how many bytes a compilation may take for one of the source.
const loadFactor = 64

// load compiles a chunk and pushes its function, or nil and an error.
func (t *Thread) load(source, name string) int {
	s := t.state
	t.Hold(loadFactor * len(source))
	p, err := compile(source, name, s.depth, s.stopped)
	if err != nil {
		t.Push(Nil)
		return 1 + t.push1(t.String(err.Error()))
	}
	p.own()
	s.alloc(p.Bytes())
	return t.push1(s.Closure(p))
}

// own makes a function count against the state that has compiled it.
func (p *Proto) own() {
	p.counted = true
	for _, k := range p.consts {
		if k.IsString() {
			k.ref.mark = 0
		}
	}
	for _, sub := range p.protos {
		sub.own()
	}
}

// PCall calls the first argument with those that follow, and leaves what pcall returns on the
// stack: values of them. failed reports whether an error was raised; the error is the topmost value.
func (t *Thread) PCall() (values int, failed bool) {
	slot, n := t.frame().base, 0
	err, failed := t.try(nil, func() { n = t.Call(t.NArgs()-1, -1) })
	if failed {
		t.Push(False)
		t.Push(err)
		return 2, true
	}
	t.need(t.top + 1)
	copy(t.stack[slot+1:t.top+1], t.stack[slot:t.top])
	t.stack[slot] = True
	t.top++
	return n + 1, false
}

func basePcall(t *Thread) int {
	t.CheckAny(1)
	n, _ := t.PCall()
	return n
}

func baseXpcall(t *Thread) int {
	t.CheckAny(2)
	fn, handler := t.Arg(1), t.Arg(2)
	n := 0
	err, failed := t.try(func(t *Thread, v Value) Value {
		if !handler.isKind(KindFunction) {
			panic(&thrown{t.state.errorInHandler()})
		}
		return t.callMeta(handler, v)
	}, func() {
		t.Push(True)
		t.Push(fn)
		n = t.Call(0, -1)
	})
	if failed {
		t.Push(False)
		return 1 + t.push1(err)
	}
	return n + 1
}

func baseRawEqual(t *Thread) int { return t.push1(Bool(Equal(t.CheckAny(1), t.CheckAny(2)))) }

func baseRawGet(t *Thread) int {
	table := t.CheckTable(1)
	return t.push1(table.Get(t.CheckAny(2)))
}

func baseRawSet(t *Thread) int {
	table := t.CheckTable(1)
	t.CheckAny(2)
	t.Set(table, t.Arg(2), t.CheckAny(3))
	return t.push1(t.Arg(1))
}

func baseSelect(t *Thread) int {
	n := t.NArgs()
	if v := t.Arg(1); v.IsString() && strings.HasPrefix(v.Text(), "#") {
		return t.push1(Number(float64(n - 1)))
	}
	i := t.CheckInt32(1)
	if i < 0 {
		i += n
	} else if i > n {
		i = n
	}
	if i < 1 {
		t.ArgError(1, "index out of range")
	}
	return n - i
}

func baseToNumber(t *Thread) int {
	base := t.optInt32(2, 10)
	if base == 10 {
		if f, ok := ToNumber(t.CheckAny(1)); ok {
			return t.push1(Number(f))
		}
		return t.push1(Nil)
	}
	text := t.CheckString(1)
	if base < 2 || base > 36 {
		t.ArgError(2, "base out of range")
	}
	f, ok := parseInBase(cutZero(text), uint64(base))
	if !ok {
		return t.push1(Nil)
	}
	return t.push1(Number(f))
}

// parseInBase reads an integer as C's strtoul does, with white space around it.
func parseInBase(s string, base uint64) (float64, bool) {
	s = strings.Trim(s, spaces)
	negative := false
	if s != "" && (s[0] == '-' || s[0] == '+') {
		negative = s[0] == '-'
		s = s[1:]
	}
	if base == 16 && len(s) > 2 && (s[:2] == "0x" || s[:2] == "0X") {
		s = s[2:]
	}
	n, full := uint64(0), false
	for i := range len(s) {
		d := uint64(strings.IndexByte("0123456789abcdefghijklmnopqrstuvwxyz", s[i]|0x20))
		if s[i] < '0' || s[i] > '9' && s[i] < 'A' || d >= base {
			return 0, false
		}
		if n > (1<<64-1-d)/base {
			full = true
		}
		n = n*base + d
	}
	if full {
		n = 1<<64 - 1
	} else if negative {
		n = -n
	}
	return float64(n), s != ""
}

func baseToString(t *Thread) int { return t.push1(t.ToStringMeta(t.CheckAny(1))) }

func baseType(t *Thread) int { return t.push1(t.state.kindName(t.CheckAny(1).Kind())) }

func baseUnpack(t *Thread) int {
	table := t.CheckTable(1)
	first := t.optInt32(2, 1)
	last := t.optInt32(3, table.Len())
	if first > last {
		return 0
	}
	n := last - first + 1
	if n > maxStack-t.NArgs() {
		t.Errorf("too many results to unpack")
	}
	t.need(t.top + n)
	for i := first; i <= last; i++ {
		t.Push(table.GetInt(i))
	}
	return n
}
