package lua_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ringside-kv/ringside/resp/script/lua"
)

// speedPrograms are the kinds of work that scripts do. The directory RINGSIDE_SPEED gets
// them as files, for other implementations to be measured.
var speedPrograms = []struct{ name, source string }{
	{"Fibonacci", `local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end return fib(24)`},
	{"Loop", `local x = 0 for i = 1, 1e6 do x = x + i % 7 * 2 end return x`},
	{"While", `local i, n = 0, 0 while i < 5e5 do i = i + 1 if i % 3 == 0 and i % 5 ~= 0 then n = n + 1 end end return n`},
	{"BuildString", `local t = {} for i = 1, 3e4 do t[#t + 1] = "key:" .. i .. ":" .. (i * 2) end return #table.concat(t, ",")`},
	{"InsertRemove", `local t = {} for i = 1, 1e5 do table.insert(t, i) end for i = 1, 1e5 do table.remove(t) end return #t`},
	{"Sort", `local t, x = {}, 42 for i = 1, 2e4 do x = (x * 16807) % 2147483647 t[i] = x end table.sort(t) table.sort(t, function(a, b) return a > b end) return t[1]`},
	{"Closures", `local function counter() local n = 0 return function() n = n + 1 return n end end
		local s = 0 for i = 1, 3e4 do local c = counter() c() c() s = s + c() end return s`},
	{"Methods", `local P = {} P.__index = P function P.new(x, y) return setmetatable({x = x, y = y}, P) end
		function P:add(o) return P.new(self.x + o.x, self.y + o.y) end function P:len() return self.x * self.x + self.y * self.y end
		local p, q = P.new(0, 0), P.new(1, 2) for i = 1, 5e4 do p = p:add(q) if p:len() < 0 then break end end return p.x`},
	{"RateLimiter", `local store = {} local function call(op, key, value)
			if op == "INCR" then store[key] = (tonumber(store[key]) or 0) + 1 return store[key] end
			if op == "GET" then return store[key] end if op == "SET" then store[key] = value return {ok = "OK"} end end
		local allowed = 0 for i = 1, 5e4 do local key = "rate:" .. (i % 100)
			local n = call("INCR", key) if n == 1 then call("SET", key .. ":ttl", 60) end
			if tonumber(call("GET", key)) <= 250 then allowed = allowed + 1 end end return allowed`},
	{"Walk", `local function make(d) if d == 0 then return {id = d, name = "leaf", tags = {"a", "b", "c"}} end
			return {id = d, left = make(d - 1), right = make(d - 1), values = {1, 2, 3}} end
		local function walk(v) local n = 0 for k, x in pairs(v) do if type(x) == "table" then n = n + walk(x) elseif type(x) == "number" then n = n + x else n = n + #x end end return n end
		local t = make(10) local n = 0 for i = 1, 3 do n = n + walk(t) end return n`},
	{"Patterns", `local n = 0 for i = 1, 3e3 do local s = "user:" .. i .. ";name=foo bar;age=" .. i % 90
		for k, v in string.gmatch(s, "(%w+)=([^;]*)") do n = n + #k + #v end
		n = n + #string.gsub(s, "%d+", "<%0>") if string.find(s, "age=8%d$") then n = n + 1 end end return n`},
}

func BenchmarkPrograms(b *testing.B) {
	for _, program := range speedPrograms {
		b.Run(program.name, func(b *testing.B) {
			s := newState(256 << 20)
			p := compile(program.source)
			b.ReportAllocs()
			for b.Loop() {
				if v, failed, err := s.Run(s.Closure(p), nil, func(*lua.Thread) {}); failed || err != nil {
					b.Fatal(s.Main().ToText(v), err)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		compile(driver)
	}
}

func TestSpeedProgramsRun(t *testing.T) {
	dir := os.Getenv("RINGSIDE_SPEED")
	for _, program := range speedPrograms {
		if dir != "" {
			if err := os.WriteFile(filepath.Join(dir, program.name+".lua"), []byte(program.source), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		run(t, newState(256<<20), program.source)
	}
}
