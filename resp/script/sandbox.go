package script

import (
	"github.com/ringside-kv/ringside/resp/script/lua"
	"github.com/ringside-kv/ringside/resp/script/luaext"
)

// The environment of scripts is that of Redis 7.0. Its tables are read-only, so no script can
// leave anything behind for another.

// open makes the environment of scripts.
func (r *Runtime) open(t *lua.Thread) {
	r.openLibraries(t, r.openRedis)
	r.globals.SetReadonly(false)
	t.Register(r.globals, map[string]lua.GoFunction{
		"__redis__err__handler": func(t *lua.Thread) int {
			t.Push(locateFrom(t, t.Arg(1), 1))
			return 1
		},
	})
	r.keysName, r.argvName = t.String("KEYS"), t.String("ARGV")
	r.setLists(t, lua.False, lua.False)
}

// openLibraries makes the environment that scripts and functions share.
func (r *Runtime) openLibraries(t *lua.Thread, openRedis func(*lua.Thread) *lua.Table) {
	g := r.state.Globals()
	r.globals = g
	lua.OpenBase(t, g)
	for _, library := range []struct {
		name string
		open func(*lua.Thread) *lua.Table
	}{
		{"string", lua.OpenString}, {"table", lua.OpenTable}, {"math", lua.OpenMath}, {"coroutine", lua.OpenCoroutine},
		{"os", lua.OpenOS}, {"bit", luaext.OpenBit}, {"cjson", func(t *lua.Thread) *lua.Table { return luaext.OpenJSON(t, &r.json) }}, {"cmsgpack", luaext.OpenMsgpack},
		{"struct", luaext.OpenStruct}, {"redis", openRedis},
	} {
		table := library.open(t)
		t.SetField(g, library.name, table.Value())
		table.SetReadonly(true)
	}
	t.Register(g, map[string]lua.GoFunction{"pcall": pcall})
	r.state.StringMetatable().SetReadonly(true)
	r.strict(t, g)
}

// strict makes a table read-only, and each read of a field that it does not have an error.
func (r *Runtime) strict(t *lua.Thread, table *lua.Table) {
	meta := t.NewTable(0, 1)
	table.SetMetatable(meta)
	t.SetField(meta, "__index", t.NewFunction(func(t *lua.Thread) int {
		t.Errorf("Script attempted to access nonexistent global variable '%s'", t.ToText(t.Arg(2)))
		return 0
	}))
	meta.SetReadonly(true)
	table.SetReadonly(true)
}

// pcall returns of an error that is a table, as those of commands are, the text.
func pcall(t *lua.Thread) int {
	t.CheckAny(1)
	n, failed := t.PCall()
	if !failed {
		return n
	}
	e := t.Top(1).Table()
	if e == nil {
		return n
	}
	msg := e.GetField("err")
	if _, ok := lua.ToText(msg); ok {
		t.Pop()
		t.Push(msg)
		return n
	}
	t.Push(msg) // as Redis does
	return n + 1
}
