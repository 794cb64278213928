package lua_test

import "github.com/ringside-kv/ringside/resp/script/lua"

// newState returns a state with the libraries of the language, and what tests of it use.
func newState(limit int) *lua.State {
	s := lua.NewState(limit)
	err := s.Setup(func(t *lua.Thread) {
		g := s.Globals()
		lua.OpenBase(t, g)
		for name, open := range map[string]func(*lua.Thread) *lua.Table{
			"coroutine": lua.OpenCoroutine, "string": lua.OpenString, "table": lua.OpenTable, "math": lua.OpenMath, "os": lua.OpenOS,
			"debug": openDebug,
		} {
			t.SetField(g, name, open(t).Value())
		}
		t.SetField(g, "print", t.NewFunction(func(*lua.Thread) int { return 0 }))
	})
	if err != nil {
		panic(err)
	}
	return s
}

// openDebug returns a library debug that knows lines.
func openDebug(t *lua.Thread) *lua.Table {
	debug := t.NewTable(0, 1)
	t.Register(debug, map[string]lua.GoFunction{"getinfo": func(t *lua.Thread) int {
		_, line, _ := t.Where(t.CheckInt(1))
		info := t.NewTable(0, 1)
		t.Push(info.Value())
		t.SetField(info, "currentline", lua.Number(float64(line)))
		return 1
	}})
	return debug
}
