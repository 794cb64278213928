// Package lua runs Lua 5.1, exactly as Lua 5.1.5 does in Redis 7.0: results, error texts and
// the order of tables are the same, byte for byte.
//
// It is code of our own where a library would be the rule, because no engine in pure Go
// passes: gopher-lua computes some programs wrongly and a script can end the process, and
// engines of Lua 5.2 to 5.5 run another language. The reference manual of Lua 5.1 is the
// specification; lua5.1 and redis-server are the oracles of the tests.
//
// The way of a script: scanner.go makes tokens of it. parse.go reads statements, parse_expr.go
// makes trees of expressions (expr.go), and compile.go makes code (code.go) of them, in the scopes
// and registers of function.go. names.go finds what errors call a value. vm.go executes code on
// the stack of a [Thread], thread.go calls functions, meta.go does what metamethods may change,
// table.go holds tables. Functions of the host, as those of the libraries in lib_*.go, use what
// is in api.go.
//
// Nothing that a script does is without bound. Each allocation counts toward the limit of its
// [State] before it is made; where the limit is reached, a trace finds out what is still in
// use (state.go). Calls within calls, nested constructs and matching are bounded as in Lua.
// Loops of the VM and of libraries look whether the state was stopped. A script that is
// stopped, or has no memory left, ends at once: it cannot catch that.
//
// Errors of scripts are Go panics with a *thrown, which Thread.try turns into values.
//
// A State and all that is in it belong to one goroutine at a time; State.Stop alone may be
// called from any. A [Proto] never changes: states share it.
package lua
