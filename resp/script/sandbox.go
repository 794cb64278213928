package script

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// What scripts may touch. The tables of libraries, and that of global variables, are seen
// through empty tables whose metatable finds what is in them, and refuses to change it. So
// no script can leave anything behind for another.

const (
	msgReadonly = "Attempt to modify a readonly table"
	msgNoGlobal = "Script attempted to access nonexistent global variable '%s'"
)

// kept are the functions that scripts find as global variables.
var kept = []string{
	"_VERSION", "assert", "collectgarbage", "error", "getmetatable", "ipairs", "next", "pcall", "rawequal", "rawget",
	"rawset", "select", "setmetatable", "tonumber", "tostring", "type", "unpack", "xpcall",
}

// libraries are those of Lua that scripts have, with what they lack there.
var libraries = []struct {
	name string
	open lua.LGFunction
}{
	{lua.TabLibName, lua.OpenTable}, {lua.StringLibName, lua.OpenString}, {lua.MathLibName, lua.OpenMath},
	{lua.CoroutineLibName, lua.OpenCoroutine},
}

// open sets the environment of scripts up.
func (r *Runtime) open() {
	l := r.l
	call := func(open lua.LGFunction, name string) {
		l.Push(l.NewFunction(open))
		l.Push(lua.LString(name))
		l.Call(1, 0)
	}
	call(lua.OpenBase, lua.BaseLibName)
	base := l.G.Global
	r.own = l.NewTable()
	for _, name := range kept {
		r.own.RawSetString(name, base.RawGetString(name))
	}
	r.own.RawSetString("_VERSION", lua.LString("Lua 5.1"))
	for _, lib := range libraries {
		call(lib.open, lib.name)
		r.own.RawSetString(lib.name, base.RawGetString(lib.name))
	}
	r.replaceBase()
	r.replaceLibraries()
	r.openRedis()
	r.openBit()
	r.openJSON()
	r.openMsgpack()
	r.openStruct()
	r.own.ForEach(func(name, value lua.LValue) {
		if t, ok := value.(*lua.LTable); ok {
			r.own.RawSet(name, r.protect(t, nil))
		}
	})
	r.globals = r.protect(r.own, l.NewFunction(func(l *lua.LState) int {
		l.RaiseError(msgNoGlobal, text(l.Get(2)))
		return 0
	}))
	r.own.RawSetString("_G", r.globals)
	// Methods of strings are found in the library, which the metatable must not give away.
	mt := l.NewTable()
	mt.RawSetString("__index", r.own.RawGetString(lua.StringLibName))
	mt.RawSetString("__metatable", r.protect(l.NewTable(), nil))
	l.SetMetatable(lua.LString(""), mt)
	l.Env = r.globals
}

// protect returns a table that shows what is in t, and cannot be changed. missing, unless
// nil, is called for what is not there.
func (r *Runtime) protect(t *lua.LTable, missing *lua.LFunction) *lua.LTable {
	proxy, mt := r.l.NewTable(), r.l.NewTable()
	mt.RawSetString("__index", t)
	mt.RawSetString("__newindex", r.l.NewFunction(func(l *lua.LState) int {
		l.RaiseError(msgReadonly)
		return 0
	}))
	shown := r.l.NewTable()
	mt.RawSetString("__metatable", shown)
	proxy.Metatable = mt
	if missing != nil {
		inner := r.l.NewTable()
		inner.RawSetString("__index", missing)
		t.Metatable = inner
	}
	r.protected[proxy] = t
	r.protected[shown] = r.l.NewTable()
	return proxy
}

// of is the table itself behind one that is protected.
func (r *Runtime) of(t *lua.LTable) *lua.LTable {
	if behind := r.protected[t]; behind != nil {
		return behind
	}
	return t
}

// refuseProtected raises an error if an argument is a protected table.
func (r *Runtime) refuseProtected(l *lua.LState, n int) {
	if t, ok := l.Get(n).(*lua.LTable); ok && r.protected[t] != nil {
		r.raise("ERR " + msgReadonly)
	}
}

// replaceBase replaces functions that would see through protection, or that Redis has in
// another way.
func (r *Runtime) replaceBase() {
	set := func(name string, f lua.LGFunction) { r.own.RawSetString(name, r.l.NewFunction(f)) }
	wrapped := func(name string, before func(*lua.LState)) {
		f := r.own.RawGetString(name).(*lua.LFunction).GFunction
		set(name, func(l *lua.LState) int {
			before(l)
			return f(l)
		})
	}
	guard := func(l *lua.LState) { r.refuseProtected(l, 1) }
	wrapped("rawset", guard)
	wrapped("setmetatable", guard)
	wrapped("error", func(l *lua.LState) {
		if n, ok := l.Get(1).(lua.LNumber); ok {
			l.Replace(1, lua.LString(number(float64(n))))
		}
	})
	through := func(l *lua.LState) {
		if t, ok := l.Get(1).(*lua.LTable); ok {
			if behind := r.protected[t]; behind != nil {
				l.Replace(1, behind)
			}
		}
	}
	wrapped("rawget", through)
	next := r.l.NewFunction(func(l *lua.LState) int {
		t := r.of(l.CheckTable(1))
		key, value := t.Next(l.Get(2))
		if key == lua.LNil {
			l.Push(lua.LNil)
			return 1
		}
		l.Push(key)
		l.Push(value)
		return 2
	})
	r.own.RawSetString("next", next)
	set("pairs", func(l *lua.LState) int {
		t := l.CheckTable(1)
		l.Push(next)
		l.Push(t)
		l.Push(lua.LNil)
		return 3
	})
	set("tostring", func(l *lua.LState) int {
		l.CheckAny(1)
		if n, ok := l.Get(1).(lua.LNumber); ok {
			l.Push(lua.LString(number(float64(n))))
		} else {
			l.Push(l.ToStringMeta(l.Get(1)))
		}
		return 1
	})
	set("gcinfo", func(l *lua.LState) int {
		l.Push(lua.LNumber(0))
		return 1
	})
	set("loadstring", func(l *lua.LState) int { return r.load(l, l.CheckString(1), l.OptString(2, "")) })
	set("load", func(l *lua.LState) int {
		f := l.CheckFunction(1)
		var code strings.Builder
		for {
			l.Push(f)
			l.Call(0, 1)
			piece := l.Get(-1)
			l.Pop(1)
			s, ok := piece.(lua.LString)
			if !ok || s == "" || code.Len() > MaxBody {
				break
			}
			code.WriteString(string(s))
		}
		return r.load(l, code.String(), l.OptString(2, "=(load)"))
	})
	r.replacePcall(set)
	unpack := r.own.RawGetString("unpack").(*lua.LFunction).GFunction
	set("unpack", func(l *lua.LState) int {
		from := l.OptInt(2, 1)
		if to := l.OptInt(3, l.CheckTable(1).Len()); to >= from && uint64(to)-uint64(from) >= maxUnpacked {
			l.RaiseError("too many results to unpack")
		}
		return unpack(l)
	})
}

func (r *Runtime) load(l *lua.LState, code, name string) int {
	if name == "" {
		name = code
		if i := strings.IndexByte(name, '\n'); i >= 0 {
			name = name[:i] + "..."
		}
		name = `[string "` + name + `"]`
	}
	proto, err := compile(code, strings.TrimLeft(name, "=@"))
	if err != nil {
		l.Push(lua.LNil)
		l.Push(lua.LString(err.Error()))
		return 2
	}
	l.Push(l.NewFunctionFromProto(proto))
	return 1
}

// replacePcall has errors of commands, which are tables, come out of pcall as their texts.
func (r *Runtime) replacePcall(set func(string, lua.LGFunction)) {
	pcall := r.own.RawGetString("pcall").(*lua.LFunction).GFunction
	set("pcall", func(l *lua.LState) int {
		n := pcall(l)
		if n == 2 && l.Get(-2) == lua.LFalse {
			if said := inWords(l.Get(-1)); said != l.Get(-1) {
				l.Pop(1)
				l.Push(said)
			}
			if t, ok := l.Get(-1).(*lua.LTable); ok {
				if msg, ok := t.RawGetString("err").(lua.LString); ok {
					l.Pop(1)
					l.Push(msg)
				}
			}
		}
		return n
	})
}

// replaceLibraries takes away from Lua's libraries what would take memory without bound or
// differ from one run to the next.
func (r *Runtime) replaceLibraries() {
	str := r.own.RawGetString(lua.StringLibName).(*lua.LTable)
	rep := str.RawGetString("rep").(*lua.LFunction).GFunction
	str.RawSetString("rep", r.l.NewFunction(func(l *lua.LState) int {
		if n := l.CheckInt(2); n > 0 && len(l.CheckString(1)) > maxRepeat/n {
			l.RaiseError("not enough memory")
		}
		return rep(l)
	}))
	str.RawSetString("dump", lua.LNil)
	bytesOf := str.RawGetString("byte").(*lua.LFunction).GFunction
	str.RawSetString("byte", r.l.NewFunction(func(l *lua.LState) int {
		if n := len(l.CheckString(1)); n > maxUnpacked {
			at := func(i int) int {
				if i < 0 {
					i += n + 1
				}
				return min(max(i, 0), n)
			}
			from := l.OptInt(2, 1)
			if at(l.OptInt(3, from))-max(at(from), 1) >= maxUnpacked-1 {
				l.RaiseError("stack overflow (string slice too long)")
			}
		}
		return bytesOf(l)
	}))
	co := r.own.RawGetString(lua.CoroutineLibName).(*lua.LTable)
	for _, name := range []string{"resume", "wrap"} {
		f := co.RawGetString(name).(*lua.LFunction).GFunction
		co.RawSetString(name, r.l.NewFunction(func(l *lua.LState) int {
			refuseNested(l)
			return f(l)
		}))
	}
	mathlib := r.own.RawGetString(lua.MathLibName).(*lua.LTable)
	mathlib.RawSetString("random", r.l.NewFunction(r.mathRandom))
	mathlib.RawSetString("randomseed", r.l.NewFunction(func(l *lua.LState) int {
		r.random.seed(uint32(int64(l.CheckNumber(1))))
		return 0
	}))
}

func (r *Runtime) mathRandom(l *lua.LState) int {
	x := r.random.next()
	switch l.GetTop() {
	case 0:
		l.Push(lua.LNumber(x))
	case 1:
		most := l.CheckInt64(1)
		if most < 1 {
			l.ArgError(1, "interval is empty")
		}
		l.Push(lua.LNumber(floor(x*float64(most)) + 1))
	case 2:
		least, most := l.CheckInt64(1), l.CheckInt64(2)
		if least > most {
			l.ArgError(2, "interval is empty")
		}
		l.Push(lua.LNumber(floor(x*float64(most-least+1)) + float64(least)))
	default:
		l.RaiseError("wrong number of arguments")
	}
	return 1
}
