package lua_test

import "github.com/ringside-kv/ringside/resp/script/lua"

// newState returns a state with the libraries of the language.
func newState(limit int) *lua.State {
	s := lua.NewState(limit)
	s.Setup(func(t *lua.Thread) {
		g := s.Globals()
		lua.OpenBase(t, g)
		for name, open := range map[string]func(*lua.Thread) *lua.Table{
			"coroutine": lua.OpenCoroutine, "string": lua.OpenString, "table": lua.OpenTable, "math": lua.OpenMath,
		} {
			t.SetField(g, name, open(t).Value())
		}
	})
	return s
}
