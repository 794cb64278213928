package lua_test

import (
	"errors"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/resp/script/lua"
)

const boundedMemory = 64 << 20

// greedyPrograms need more than they get. want is a part of the error that they raise, or
// "memory" if the state ends them, or "" if they succeed.
var greedyPrograms = []struct{ name, source, want string }{
	{"DistantIndex", `local t = {} t[5e7] = 1 t[2^53] = 1 t[-1e9] = 1 return #t`, ""},
	{"StringDoubling", `local s = "x" while true do s = s .. s end`, "memory"},
	{"StringDoublingInPcall", `while true do pcall(function() local s = "x" while true do s = s .. s end end) end`, "memory"},
	{"StringsInXpcall", `local function f() local s = "x" while true do s = s .. s end end xpcall(f, f)`, "memory"},
	{"StringsInCoroutine", `coroutine.wrap(function() local s = "x" while true do s = s .. s end end)()`, "memory"},
	{"ConcatOfManyOperands", `local s = string.rep("x", 2^20) local t = {} for i = 1, 100 do t[i] = s end
		local f = loadstring("local s = ... return " .. string.rep("s..", 150) .. "s") return f(s)`, "memory"},
	{"TableOfStrings", `local t = {} for i = 1, 1e9 do t[i] = "x" .. i end`, "memory"},
	{"TableOfTables", `local t = {} while true do t = {t} end`, "memory"},
	{"TableGrowth", `local t = {} for i = 1, 1e9 do t[i] = i end`, "memory"},
	{"NodeGrowth", `local t = {} for i = 1, 1e9 do t[i + 0.5] = i end`, "memory"},
	{"TableInsert", `local t = {} while true do table.insert(t, 1) end`, "memory"},
	{"WideConstructors", `local t = {} for i = 1, 1e9 do t[i] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, a = 1, b = 2} end`, "memory"},
	{"Closures", `local t = {} for i = 1, 1e9 do t[i] = function() return i end end`, "memory"},
	{"SharedUpvalues", `local f = function() end while true do local g = f f = function() return g end end`, "memory"},
	{"Coroutines", `local t = {} for i = 1, 1e9 do t[i] = coroutine.create(function() end) end`, "memory"},
	{"SuspendedCoroutines", `local t = {} for i = 1, 1e9 do t[i] = coroutine.wrap(function() coroutine.yield() end) t[i]() end`, "memory"},
	{"NestedCoroutines", `local function f() return coroutine.wrap(f)() end f()`, "C stack overflow"},
	{"StacksOfCoroutines", `local function deep(n) if n == 0 then coroutine.yield() else deep(n - 1) end return 1 end
		local t = {} for i = 1, 1e9 do t[i] = coroutine.wrap(deep) t[i](5000) end`, "memory"},
	{"Rep", `return string.rep("x", 1e9)`, "memory"},
	{"RepOfLongString", `return string.rep(string.rep("x", 1e6), 1e6)`, "memory"},
	{"RepWithHugeCount", `return string.rep("x", 2^62)`, ""},
	{"Gsub", `return (string.gsub(string.rep("x", 1e6), "x", string.rep("y", 1e3)))`, "memory"},
	{"Concat", `local t = {} for i = 1, 1e4 do t[i] = "x" end return table.concat(t, string.rep("y", 1e5))`, "memory"},
	{"Format", `local s = string.rep("x", 1e7) return string.format("%s%s%s%s%s%s%s%s%s%s", s, s, s, s, s, s, s, s, s, s)`, "memory"},
	{"LongSource", `return loadstring(string.rep("x = 1 ", 5e6))`, "memory"},
	{"ManyConstants", `local t = {} for i = 1, 1e6 do t[i] = "x = " .. i end return loadstring(table.concat(t, " "))`, "memory"},
	{"CompiledChunks", `local t = {} for i = 1, 1e9 do t[i] = loadstring("return function() return " .. i .. " end") end`, "memory"},
	{"ReaderWithoutEnd", `load(function() return "x = 1 " end)`, "memory"},
	{"Recursion", `local function f() return 1 + f() end f()`, "stack overflow"},
	{"RecursionWithArguments", `local function f(...) return 1 + f(1, ...) end f()`, "memory"},
	{"RecursionThroughPcall", `local function f() local ok, e = pcall(f) error(e, 0) end f()`, "C stack overflow"},
	{"RecursionThroughIndex", `local t = setmetatable({}, {}) getmetatable(t).__index = function(t, k) return t[k .. "x"] end return t.x`, "C stack overflow"},
	{"RecursionThroughAdd", `local m = {} m.__add = function(a, b) return a + b end local t = setmetatable({}, m) return t + t`, "C stack overflow"},
	{"RecursionThroughCall", `local t = setmetatable({}, {}) getmetatable(t).__call = t return t()`, "attempt to call"},
	{"RecursionThroughGsub", `local function f(s) return (s:gsub(".", f)) end return f("x")`, "C stack overflow"},
	{"RecursionThroughSort", `local function f() table.sort({1, 2, 3}, f) end f()`, "C stack overflow"},
	{"RecursionThroughToString", `local t = setmetatable({}, {__tostring = function(t) return tostring(t) end}) tostring(t)`, "C stack overflow"},
	{"RecursionThroughLoad", `local function f() return load(f) end f()`, ""},
	{"HandlerThatFails", `local function f() error("x") end print(xpcall(f, f)) error(select(2, xpcall(f, f)))`, "error in error handling"},
	{"Unpack", `return unpack({}, -9e8, 9e8)`, "too many results to unpack"},
	{"UnpackMuch", `return unpack({}, 1, 7e3 + 1e3)`, "too many results to unpack"},
	{"DeepParentheses", `assert(loadstring("return " .. string.rep("(", 1e5) .. "1" .. string.rep(")", 1e5)))`, "chunk has too many syntax levels"},
	{"DeepTables", `assert(loadstring("return " .. string.rep("{", 1e5) .. string.rep("}", 1e5)))`, "chunk has too many syntax levels"},
	{"DeepFunctions", `assert(loadstring(string.rep("return function() ", 1e4) .. string.rep(" end", 1e4)))`, "chunk has too many syntax levels"},
	{"DeepBlocks", `assert(loadstring(string.rep("do ", 1e5) .. string.rep(" end", 1e5)))`, "chunk has too many syntax levels"},
	{"DeepUnary", `assert(loadstring("return " .. string.rep("- ", 1e5) .. "x"))`, "chunk has too many syntax levels"},
	{"LongChainOfSums", `local f = assert(loadstring("local x = 1 return x" .. string.rep(" + x", 9000))) return f()`, ""},
	{"LongChainOfConcats", `local f = assert(loadstring("local x = 1 return x" .. string.rep(" .. x", 1e5))) return f()`, "chunk has too many syntax levels"},
	{"LongChainOfIndexes", `local f = assert(loadstring("local x = {} x.x = x return x" .. string.rep(".x", 9000))) return f()`, ""},
	{"LongChainOfElseifs", `local f = assert(loadstring("if x then " .. string.rep("elseif x then ", 1e4) .. "end")) return f()`, ""},
	{"ManyFunctionsInALine", `return loadstring(string.rep("f = function() return x end ", 20000))`, ""},
	{"LongConstructor", `local f = assert(loadstring("return {" .. string.rep("0,", 1e5) .. "}")) return f()`, ""},
	{"PatternRecursion", `return string.find(string.rep("a", 1e6), string.rep("a?", 1e5))`, ""},
	{"PatternTooComplex", `return string.find(string.rep("x", 3e5), string.rep("(.", 1e5))`, "too many captures"},
}

// heapPeak runs a function and returns by how much the heap has grown at most meanwhile.
func heapPeak(run func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // whatever GOGC says
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before, peak := m.HeapAlloc, m.HeapAlloc
	done, sampled := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(sampled)
		for ticker := time.NewTicker(2 * time.Millisecond); ; {
			select {
			case <-done:
				return
			case <-ticker.C:
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapAlloc)
			}
		}
	}()
	run()
	close(done)
	<-sampled
	return peak - before
}

func TestGreedyProgramsAreBounded(t *testing.T) {
	randomtest.Draw(t, 4)
	for _, test := range greedyPrograms {
		t.Run(test.name, func(t *testing.T) {
			s := newState(boundedMemory)
			var v lua.Value
			var failed bool
			var err error
			peak := heapPeak(func() {
				v, failed, err = s.Run(s.Closure(compile(test.source)), nil, func(*lua.Thread) {})
			})
			switch {
			case test.want == "memory":
				if !errors.Is(err, lua.ErrMemory) {
					t.Errorf("got %q, failed %t, error %v; want an end for memory", s.Main().ToText(v), failed, err)
				}
			case err != nil:
				t.Error(err)
			case failed != (test.want != "") || failed && !strings.Contains(s.Main().ToText(v), test.want):
				t.Errorf("got %q, failed %t, want %q", s.Main().ToText(v), failed, test.want)
			}
			if peak > 4*boundedMemory {
				t.Errorf("the heap has grown by %d MiB", peak>>20)
			}
			t.Logf("heap: %d MiB", peak>>20)
			v, failed, err = s.Run(s.Closure(compile("return 1 + 1")), nil, func(*lua.Thread) {})
			if failed || err != nil || v.Float() != 2 {
				t.Errorf("afterwards: %v, %t, %v", v, failed, err)
			}
		})
	}
}

// endlessPrograms stop their state before, or within, the loop that must end.
var endlessPrograms = []struct{ name, source string }{
	{"While", `stop() while true do end`},
	{"WhileWithBody", `local x = 0 stop() while x < 1 do x = x * 1 end`},
	{"WhileNot", `local x stop() while not x do end`},
	{"For", `stop() for i = 1, math.huge do end`},
	{"ForWithoutStep", `stop() for i = 2, 1, 0 do end`},
	{"Repeat", `stop() repeat until false`},
	{"RepeatWithLocal", `stop() repeat local x local function f() return x end until x`},
	{"NestedLoops", `for i = 1, 1e9 do stop() for j = 1, 1e9 do local x = i + j end end`},
	{"Pairs", `local t = {1, 2, 3} for k, v in pairs(t) do stop() while true do for k, v in pairs(t) do end end end`},
	{"Iterator", `local f = function() return 1 end stop() for x in f do end`},
	{"TailCalls", `local function f() return f() end stop() f()`},
	{"MutualTailCalls", `local f, g function f() return g() end function g() return f() end stop() return f()`},
	{"PcallOfStop", `while true do pcall(stop) end`},
	{"PcallWithin", `local function f() while true do pcall(stop) pcall(f) end end f()`},
	{"PcallOfEndlessLoop", `while true do pcall(function() stop() while true do end end) end`},
	{"PcallTailCalls", `local function f() stop() return pcall(f) end while true do f() end`},
	{"Xpcall", `while true do xpcall(function() stop() while true do end end, function() while true do end end) end`},
	{"Handler", `xpcall(error, function() stop() while true do end end)`},
	{"Recursion", `local function f() stop() f() end while true do pcall(f) end`},
	{"Coroutines", `while true do local c = coroutine.wrap(function() stop() coroutine.yield() end) c() end`},
	{"PingPong", `local c = coroutine.wrap(function() while true do stop() coroutine.yield() end end) while true do c() end`},
	{"LoopInCoroutine", `coroutine.wrap(function() stop() while true do end end)()`},
	{"LoopInNestedCoroutines", `local function f(n) if n == 0 then stop() while true do end end return coroutine.wrap(f)(n - 1) end f(100)`},
	{"Index", `local t = setmetatable({}, {__index = function(t, k) stop() while true do end end}) return t.x`},
	{"GsubFunction", `string.gsub("xx", "x", function() stop() end) while true do end`},
	{"SortFunction", `local t = {} for i = 1, 1e3 do t[i] = i end table.sort(t, function(a, b) stop() return a > b end)`},
	{"Foreach", `table.foreach({1, 2}, function() stop() end) while true do end`},
	{"Rehash", `local t = {} for i = 1, 1024 do t[i .. ""] = i end stop() t.x = 1`},
	{"LoadReader", `load(function() stop() return "x = 1 " end)`},
}

func TestStopEndsEveryLoop(t *testing.T) {
	stop := errors.New("stopped")
	for _, test := range endlessPrograms {
		t.Run(test.name, func(t *testing.T) {
			s := newState(256 << 20)
			s.Setup(func(t *lua.Thread) {
				t.SetField(s.Globals(), "stop", t.NewFunction(func(*lua.Thread) int {
					s.Stop(stop)
					return 0
				}))
			})
			if _, _, err := s.Run(s.Closure(compile(test.source)), nil, func(*lua.Thread) {}); !errors.Is(err, stop) {
				t.Fatalf("ended with %v", err)
			}
			s.Continue()
			if v, failed, err := s.Run(s.Closure(compile("return 1 + 1")), nil, func(*lua.Thread) {}); failed || err != nil || v.Float() != 2 {
				t.Errorf("afterwards: %v, %t, %v", v, failed, err)
			}
		})
	}
}
