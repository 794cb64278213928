// Package luaext has the libraries that Redis gives scripts beside those of Lua: bit, cjson,
// cmsgpack and struct. Their results and the texts of their errors are those of Redis 7.0, since
// scripts store the former and compare the latter.
//
// Each library is a function that returns its table: OpenBit, OpenJSON, OpenMsgpack, OpenStruct.
// What a script asks for is bounded by the memory of its state, and can be stopped at any time.
package luaext

import "github.com/ringside-kv/ringside/resp/script/lua"

// maxStack is how many values a function of a library may have on the stack of Redis' Lua. Some
// errors tell where that ends.
const maxStack = 8000

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

// checkInt32 is an argument that C takes as an int.
func checkInt32(t *lua.Thread, i int) int { return int(int32(t.CheckInt(i))) }

// toUint64 converts a number to an unsigned long as C on amd64 does.
func toUint64(f float64) uint64 {
	if f >= 1<<63 {
		return uint64(lua.Integer(f-1<<63)) ^ 1<<63
	}
	return uint64(lua.Integer(f))
}

func pushNumber(t *lua.Thread, f float64) int {
	t.Push(lua.Number(f))
	return 1
}
