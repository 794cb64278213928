// Package luaext has the libraries that Redis gives scripts beside those of Lua: bit, cjson,
// cmsgpack and struct. Their results and the texts of their errors are those of Redis 7.0, since
// scripts store the former and compare the latter.
//
// Each library is a function that returns its table: OpenBit, OpenJSON, OpenMsgpack, OpenStruct.
// What a script asks for is bounded by the memory of its state, and can be stopped at any time.
package luaext

import (
	"iter"

	"github.com/ringside-kv/ringside/resp/script/lua"
)

// maxStack is how many values a function of a library may have on the stack of Redis' Lua. Some
// errors tell where that ends.
const maxStack = 8000

// stepSlice is how much work loops do between two steps.
const stepSlice = 1 << 10

// A function is a function of a library by its name. Libraries keep them in the order in which
// Redis makes them, since pairs shows it.
type function struct {
	name string
	fn   lua.GoFunction
}

// register adds functions to a library.
func register(t *lua.Thread, lib *lua.Table, functions []function) {
	for _, f := range functions {
		t.SetField(lib, f.name, t.NewFunction(f.fn))
	}
}

// each returns what is in a table, in the order of pairs.
func each(t *lua.Thread, table *lua.Table) iter.Seq2[lua.Value, lua.Value] {
	return func(yield func(key, value lua.Value) bool) {
		for key, n := lua.Nil, 1; ; n++ {
			if n%stepSlice == 0 {
				t.Step(stepSlice)
			}
			k, v, ok := table.Next(key)
			if !ok || k.IsNil() || !yield(k, v) {
				return
			}
			key = k
		}
	}
}

func pushNumber(t *lua.Thread, f float64) int {
	t.Push(lua.Number(f))
	return 1
}
