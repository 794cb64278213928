package lua_test

import (
	"testing"

	"github.com/ringside-kv/ringside/resp/script/lua"
)

// errorsOfLua51 are chunks, and the errors that lua5.1 raises for them.
var errorsOfLua51 = []struct{ source, want string }{
	{"local a, b = {} do local c = a.x; (b)() end", "p:1: attempt to call local 'b' (a nil value)"},
	{"local f = coroutine.wrap(function() error(1, 0) end) f()", "p:1: 1"},
	{"for k in nil do end", "p:1: attempt to call a nil value"},
	{"do local x = a.b.c end", "p:1: attempt to index global 'a' (a nil value)"},
	{"local t = {} do local f = t.g for k in f do end end", "p:1: attempt to call a nil value"},
	{"local t = {} do local a, b, c, d = 1, 2, 3, t.f end for k in nil do end", "p:1: attempt to call field 'f' (a nil value)"},
	{"local t = {} do local a, b, c, d = 1, 2, 3, t[1] end for k in nil do end", "p:1: attempt to call field '?' (a nil value)"},
	{"do local a, b, c, d = 1, 2, 3, x end for k in nil do end", "p:1: attempt to call global 'x' (a nil value)"},
	{"for k in nil, 2, 3, x do end", "p:1: attempt to call global 'x' (a nil value)"},
	{"for k in nil, 2, 3, (x) do end", "p:1: attempt to call global 'x' (a nil value)"},
	{"local y for k in {n = x, 1; 2, y} do end", "p:1: attempt to call local 'y' (a table value)"},
	{"local u local function f() do local a, b, c, d = 1, 2, 3, u end for k in nil do end end f()", "p:1: attempt to call upvalue 'u' (a nil value)"},
	{"y = 1 do local a, b, c = 1, 2, y < 2 end for k in nil do end", "p:1: attempt to call a nil value"},
	{"y = 1 do local a, b, c = 1, 2, 2 > y end for k in nil do end", "p:1: attempt to call a nil value"},
	{"y, z = 1, 2 do local a, b, c = 1, 2, y < z end for k in nil do end", "p:1: attempt to call global 'z' (a nil value)"},
	{"y, z = 1, 2 do local a, b, c = 1, 2, y .. z end for k in nil do end", "p:1: attempt to call global 'z' (a nil value)"},
	{"y, z = 1, 2 do local a, b, c = 1, 2, y + z end for k in nil do end", "p:1: attempt to call global 'z' (a nil value)"},
	{"z = 2 do local a, b, c = 1, 2, -z end for k in nil do end", "p:1: attempt to call a nil value"},
	{"z = 2 do local a, b, c = 1, 2, not z end for k in nil do end", "p:1: attempt to call a nil value"},
	{"do local a, b, c, d = 1, 2, 3, (z or 1) end for k in nil do end", "p:1: attempt to call a nil value"},
	{"do local a, b, c, d = 1, 2, 3, x end if y then local a, b, c, d = 1, 2, 3, z end for k in nil do end", "p:1: attempt to call global 'x' (a nil value)"},
	{"do local a, b, c, d = 1, 2, 3, x end for i = 1, 0 do local a = 1 end for k in nil do end", "p:1: attempt to call global 'x' (a nil value)"},
	{"do local a, b, c, d = 1, 2, 3, x end for i in next, {} do end for k in nil do end", "p:1: attempt to call a nil value"},
	{"do local a, b, c, d = 1, 2, 3, x end repeat local a, b, c, d = 1, 2, 3, z until true for k in nil do end", "p:1: attempt to call global 'z' (a nil value)"},
	{"local function f(...) do local a, b, c, d = 1, 2, 3, x end do local a, b, c, d = ... end for k in nil do end end f()", "p:1: attempt to call global 'x' (a nil value)"},
	{"local function f(...) do local a, b, c, d = 1, 2, 3, x end do local a, b, c, d = 1, 2, 3, ... end for k in nil do end end f()", "p:1: attempt to call a nil value"},
	{"do local a, b, c, d = 1, 2, 3, x end do local a, b, c if d then end for k in nil do end end", "p:1: attempt to call a nil value"},
	{"do local a, b, c, d = 1, 2, 3, x end if y then end for k in nil do end", "p:1: attempt to call global 'x' (a nil value)"},
	{"do local a, b, c, d = 1, 2, 3, f end f() for k in nil do end", "p:1: attempt to call global 'f' (a nil value)"},
	{"do local a, b, c, d = 1, 2, 3, x end tostring(1) for k in nil do end", "p:1: attempt to call a nil value"},
	{"do local a = 1, x, {y, y} end for k in nil do end", "p:1: attempt to call global 'y' (a nil value)"},
	{"do local a, b, c, d = 1, 2, 3, x and 1 or z end for k in nil do end", "p:1: attempt to call global 'z' (a nil value)"},
	{"do local a, b, c, d = 1, 2, 3, nil or z end for k in nil do end", "p:1: attempt to call global 'z' (a nil value)"},
	{"do local a, b, c, d = 1, 2, 3, 1 < 2 and z end for k in nil do end", "p:1: attempt to call a nil value"},
	{"do local a, b, c, d = 1, 2, 3, not x and z end for k in nil do end", "p:1: attempt to call a nil value"},
	{"g(t2) for k, v in 1 do end", "p:1: attempt to call global 'g' (a nil value)"},
	{"do local q = 5 end for x in {} do end", "p:1: attempt to call a table value"},
	{"local a = {} print(a.x) for k in nil, 1 do end", "p:1: attempt to call a nil value"},
	{"local function f(a, a) return a.b end f(1)", "p:1: attempt to index local 'a' (a nil value)"},
	{"local function f(a, b, a) return a + 1, b() end f(1)", "p:1: attempt to perform arithmetic on local 'a' (a nil value)"},
	{"return 1 +\n2 +\nx +\ny", "p:3: attempt to perform arithmetic on global 'x' (a nil value)"},
	{"local x\nreturn (x\n.\ny)", "p:4: attempt to index local 'x' (a nil value)"},
	{"local a = 1\nlocal b = a\n..\n{}", "p:4: attempt to concatenate a table value"},
	{"local t = {}\nt.x.y\n=\n1", "p:4: attempt to index field 'x' (a nil value)"},
	{"local t = {x\n.y,\n1}", "p:2: attempt to index global 'x' (a nil value)"},
	{"local t = {x.y,\n}", "p:2: attempt to index global 'x' (a nil value)"},
	{"local t = {x.y\n}", "p:2: attempt to index global 'x' (a nil value)"},
	{"local t = {x.y,\nk = 1}", "p:1: attempt to index global 'x' (a nil value)"},
	{"f\n{}", "p:2: attempt to call global 'f' (a nil value)"},
	{"return (a or b).c", "p:1: attempt to index a nil value"},
	{"return (a and b or c).d", "p:1: attempt to index global 'c' (a nil value)"},
	{"local a return (a and a.x or a).y", "p:1: attempt to index local 'a' (a nil value)"},
	{"local t = {} t.a.b()", "p:1: attempt to index field 'a' (a nil value)"},
	{"local t = {} return t.x:y()", "p:1: attempt to index field 'x' (a nil value)"},
	{"local t = {} return t:y()", "p:1: attempt to call method 'y' (a nil value)"},
	{"local t = {} return t[1]()", "p:1: attempt to call field '?' (a nil value)"},
	{"local t = {} local k = 'n' return t[k]()", "p:1: attempt to call field '?' (a nil value)"},
	{"local u local function f() return u.x end f()", "p:1: attempt to index upvalue 'u' (a nil value)"},
	{"return -{}", "p:1: attempt to perform arithmetic on a table value"},
	{"local t = {} return -t.x", "p:1: attempt to perform arithmetic on field 'x' (a nil value)"},
	{"return #nil1", "p:1: attempt to get length of global 'nil1' (a nil value)"},
	{"local a, b = 1 return a .. b .. 'c'", "p:1: attempt to concatenate local 'b' (a nil value)"},
	{"return 'a' .. x .. 'b'", "p:1: attempt to concatenate global 'x' (a nil value)"},
	{"x.y = 1", "p:1: attempt to index global 'x' (a nil value)"},
	{"local x x.y = 1", "p:1: attempt to index local 'x' (a nil value)"},
	{"local x = 1 x[nil] = 2", "p:1: attempt to index local 'x' (a number value)"},
	{"return not a.b", "p:1: attempt to index global 'a' (a nil value)"},
	{"local function g() return nil end return g().x", "p:1: attempt to index a nil value"},
	{"return ((x)).y", "p:1: attempt to index global 'x' (a nil value)"},
	{"return (1).x", "p:1: attempt to index a number value"},
	{"return ('x').y.z", "p:1: attempt to index field 'y' (a nil value)"},
	{"local a <const> = 1", "p:1: unexpected symbol near '<'"},
	{"for i = 1, {} do end", "p:1: 'for' limit must be a number"},
	{"local t = setmetatable({}, {__index = function() end}) return t.x.y.z", "p:1: attempt to index field 'x' (a nil value)"},
	{"a.b:c(1)(2)", "p:1: attempt to index global 'a' (a nil value)"},
	{"local a = {} a.b = function() error('x') end a\n.b\n()", "p:3: ambiguous syntax (function call x new statement) near '('"},
	{"goto = 1 return goto.x.y", "p:1: attempt to index global 'goto' (a number value)"},
	{"string.rep()", "p:1: bad argument #1 to 'rep' (string expected, got no value)"},
	{"('x'):rep()", "p:1: bad argument #1 to 'rep' (number expected, got no value)"},
	{"('x'):rep({})", "p:1: bad argument #1 to 'rep' (number expected, got table)"},
	{"local s = string s.rep()", "p:1: bad argument #1 to 'rep' (string expected, got no value)"},
	{"local r = string.rep r()", "p:1: bad argument #1 to 'r' (string expected, got no value)"},
	{"return string.rep(nil)", "p:1: bad argument #1 to 'rep' (string expected, got nil)"},
	{"for a in string.rep do end", "p:1: bad argument #1 to '(for generator)' (string expected, got nil)"},
	{"for a in string.gmatch('x') do end", "p:1: bad argument #2 to 'gmatch' (string expected, got no value)"},
	{"setmetatable({}, {__index = string.rep}).x = 1 return setmetatable({}, {__index = string.rep}).x", "p:1: bad argument #1 to '?' (string expected, got table)"},
}

func TestErrorsNameVariablesAndLinesAsLua51(t *testing.T) {
	for _, c := range errorsOfLua51 {
		s := newState(1 << 20)
		p, err := lua.Compile(c.source, "=p")
		if err != nil {
			if err.Error() != c.want {
				t.Errorf("%s\ngot  %v\nwant %s", c.source, err, c.want)
			}
			continue
		}
		v, failed, err := s.Run(s.Closure(p), nil, func(*lua.Thread) {})
		if got := s.Main().ToText(v); !failed || err != nil || got != c.want {
			t.Errorf("%s\ngot  %s %v\nwant %s", c.source, got, err, c.want)
		}
	}
}
