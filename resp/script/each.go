package script

import lua "github.com/yuin/gopher-lua"

// each calls yield for what is in a table, in the order in which pairs comes by it. That of
// LTable.ForEach differs from one time to the next, and a script that packs a table, or
// encodes it, may take the bytes for a key.
func each(t *lua.LTable, yield func(key, value lua.LValue)) {
	for key, value := t.Next(lua.LNil); key != lua.LNil; key, value = t.Next(key) {
		yield(key, value)
	}
}
