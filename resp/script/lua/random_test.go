package lua_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/resp/script/lua"
)

// driver runs programs one after another. nextProgram and write are those of the host.
const driver = `
local nextProgram, write, budget = nextProgram, write
local type, rawget, next, pcall, select, loadstring = type, rawget, next, pcall, select, loadstring
local rawequal, concat, rep, sub, getmetatable = rawequal, table.concat, string.rep, string.sub, getmetatable
local rawset, pairs, gsub, realToString, realFormat = rawset, pairs, string.gsub, tostring, string.format

local function masked(s, ...) -- without addresses
	if type(s) == "string" then return gsub(s, "0x%x+", "0"), ... end
	return s, ...
end

local function tostring(...) return masked(realToString(...)) end

function tick()
	budget = budget - 1
	if budget < 0 then error("budget", 0) end
end

local function text(v, depth)
	if type(v) == "string" then
		return '"' .. sub(v, 1, 2000) .. '"'
	elseif type(v) ~= "table" then
		return tostring(v)
	elseif depth > 2 then
		return "{..}"
	end
	local parts, n = {}, 0
	for k, w in next, v do
		n = n + 1
		if n > 100 then break end
		parts[n] = text(k, depth + 1) .. "=" .. text(w, depth + 1)
	end
	return "{" .. concat(parts, " ") .. "}"
end

function show(v) tick() return text(v, 0) end

function out(...)
	tick()
	local parts = {}
	for i = 1, select("#", ...) do
		parts[i] = text((select(i, ...)), 0)
	end
	write(concat(parts, "\t") .. "\n")
end

function cut(s)
	tick()
	if type(s) == "string" and #s > 200 then return sub(s, 1, 50) end
	return s
end

function keep(...)
	tick()
	local n = select("#", ...)
	if n == 1 then return cut((...)) end
	local all = {...}
	for i = 1, n do all[i] = cut(all[i]) end
	return unpack(all, 1, n)
end

function N(n) -- a number that is a key
	if type(n) ~= "number" or n ~= n then return 0 end
	return n
end

function _G.tostring(...) tick() return tostring(...) end
function string.format(...) tick() return masked(realFormat(...)) end

-- How often a handler that fails is called again depends on the depth of C's stack.
local realXpcall = xpcall
function xpcall(f, h)
	if type(h) ~= "function" then return realXpcall(f, h) end
	local busy = false
	return realXpcall(f, function(e)
		if busy then return "nested" end
		busy = true
		local v = h(e)
		busy = false
		return v
	end)
end

mt = {
	__index = function(t, k) tick() return k end,
	__newindex = function(t, k, v) tick() if type(k) == "number" and k ~= k then k = 0 end rawset(t, k, cut(v)) end,
	__call = function(t, ...) tick() return t, ... end,
	__eq = function(a, b) tick() return a.n == b.n end,
	__lt = function(a, b) tick() return type(a) < type(b) end,
	__le = function(a, b) tick() return false, 1 end,
	__concat = function(a, b) tick() return type(a) .. type(b) end,
	__len = function(a) tick() return 42 end,
	__unm = function(a, b) tick() return rawequal(a, b) end,
	__add = function(a, b) tick() return a end,
	__sub = function(a, b) tick() return b end,
	__mul = function(a, b) tick() return type(a), type(b) end,
	__div = function(a, b) tick() return {a, b} end,
	__mod = function(a, b) tick() error("mod") end,
	__pow = function(a, b) tick() return end,
	__tostring = function(t) tick() return "T" end,
}

local saved, savedMeta, libraries = {}, {}, {}
for k, v in pairs(_G) do saved[k] = v end
for k, v in pairs(mt) do savedMeta[k] = v end
for _, name in pairs{"string", "table", "math", "coroutine"} do
	libraries[name] = {}
	for k, v in pairs(_G[name]) do libraries[name][k] = v end
end
local function restore(t, old)
	for k in next, t do if old[k] == nil then t[k] = nil end end
	for k, v in next, old do rawset(t, k, v) end
end
local setmetatable = setmetatable

for source in nextProgram do
	budget = 1500
	local f, err = loadstring(source, "=p")
	if not f then
		write("syntax: " .. err .. "\n")
	elseif sub(source, 1, 3) ~= "--!" then
		(function(...) pcall(out, ...) end)(pcall(f, 1, "two", nil))
	end
	write("\1\n")
	setmetatable(_G, nil)
	restore(_G, saved)
	restore(mt, savedMeta)
	for name, old in pairs(libraries) do restore(_G[name], old) end
end
`

// host is what the driver needs in the reference implementation.
const host = `
function nextProgram()
	local n = io.read("*n")
	if not n or n < 0 then return nil end
	io.read(1)
	return n == 0 and "" or io.read(n)
end
function write(s) io.write(s) end
for _, name in pairs{"io", "os", "debug", "package", "require", "module", "dofile", "loadfile", "setfenv", "getfenv", "newproxy", "print"} do
	_G["_" .. name], _G[name] = _G[name], nil
end
io = _io
`

var (
	addresses = regexp.MustCompile(`(table|function|thread|userdata): (0x)?[0-9a-f]+|0x5[0-9a-f]{11}`)
	builtins  = regexp.MustCompile(`function: builtin: [0-9a-f]+`)
)

// split returns the outputs of programs, without addresses.
func split(output string) []string {
	output = addresses.ReplaceAllString(builtins.ReplaceAllString(output, "function: 0"), "$1: 0")
	return strings.Split(strings.TrimSuffix(output, "\x01\n"), "\x01\n")
}

// patience is how long programs may run before they are ended.
func patience(programs []string) time.Duration {
	if len(programs) == 1 {
		return 2 * time.Second // it is being shrunk, perhaps to an endless loop
	}
	return time.Minute
}

// reference runs programs in Lua 5.1.
func reference(programs []string) ([]string, error) {
	var in, out bytes.Buffer
	for _, p := range append([]string{driver}, programs...) {
		fmt.Fprintf(&in, "%d\n%s", len(p), p)
	}
	in.WriteString("-1\n")
	cmd := exec.Command("lua5.1", "-e", host+"return loadstring(nextProgram(), '=test')()")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, &out, os.Stderr
	timer := time.AfterFunc(patience(programs), func() { cmd.Process.Kill() })
	defer timer.Stop()
	err := cmd.Run()
	return split(out.String()), err
}

// engine runs programs in this package.
func engine(programs []string) ([]string, error) {
	s := newState(1 << 30)
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	next := 0
	s.Setup(func(t *lua.Thread) {
		t.Register(s.Globals(), map[string]lua.GoFunction{
			"nextProgram": func(t *lua.Thread) int {
				if next++; next > len(programs) {
					return 0
				}
				t.PushString(programs[next-1])
				return 1
			},
			"write": func(t *lua.Thread) int {
				w.WriteString(t.CheckString(1))
				return 0
			},
		})
	})
	timer := time.AfterFunc(patience(programs), func() { s.Stop(errors.New("the program does not end")) })
	defer timer.Stop()
	var main lua.Value
	prepare := func(t *lua.Thread) {
		main = t.NewFunction(func(t *lua.Thread) int { // as deep as in lua5.1
			t.Push(s.Closure(compile(driver)))
			return t.Call(0, 0)
		})
	}
	s.Setup(prepare)
	v, failed, err := s.Run(main, nil, func(*lua.Thread) {})
	if failed {
		err = errors.New(s.Main().ToText(v))
	}
	w.Flush()
	return split(out.String()), err
}

func compile(source string) *lua.Proto {
	p, err := lua.Compile(source, "=test")
	if err != nil {
		panic(err)
	}
	return p
}

// differs reports how the engine and Lua 5.1 differ in a program.
func differs(program string) (want, got string, yes bool) {
	w, err1 := reference([]string{program})
	g, err2 := engine([]string{program})
	want, got = strings.Join(w, ""), strings.Join(g, "")
	if err2 != nil {
		got += err2.Error()
	}
	return want, got, want != got && err1 == nil
}

// shrink takes lines, then words, from a program that still differs without them.
func shrink(program string) string {
	for _, separator := range []string{"\n", " ", ","} {
		parts := strings.SplitAfter(program, separator)
		for size := len(parts) / 2; size > 0; size /= 2 {
			for i := 0; i+size <= len(parts); {
				fewer := strings.Join(parts[:i], "") + strings.Join(parts[i+size:], "")
				if _, _, yes := differs(fewer); yes {
					parts = append(parts[:i], parts[i+size:]...)
				} else {
					i += size
				}
			}
		}
		program = strings.Join(parts, "")
	}
	return program
}

// firstDifference returns the first line that differs of two outputs.
func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	i := 0
	for i < len(w)-1 && i < len(g)-1 && w[i] == g[i] {
		i++
	}
	return fmt.Sprintf("line %d of the output\nlua5.1: %s\nengine: %s", i+1, w[i], g[i])
}

func TestRandomProgramsRunAsInLua51(t *testing.T) {
	if _, err := exec.LookPath("lua5.1"); err != nil {
		t.Skip("lua5.1 is not installed")
	}
	const batch = 250
	batches := 2
	if os.Getenv("RINGSIDE_LONG") != "" {
		batches = 400
	}
	fresh := uint64(0)
	if batches > 2 {
		fresh = rand.Uint64() >> 20
	}
	faults := 0
	for b := range batches {
		first := uint64(b * batch)
		if b > 0 {
			first += fresh
		}
		programs := make([]string, batch)
		for i := range programs {
			programs[i] = program(first + uint64(i))
		}
		want, err := reference(programs)
		if err != nil {
			t.Fatalf("lua5.1: seeds from %d: %v after %d programs", first, err, len(want))
		}
		got, err := engine(programs)
		if err != nil {
			t.Errorf("seeds from %d: program %d: %v", first, len(got)-1, err)
		}
		for i := range programs {
			if i < len(got) && i < len(want) && want[i] == got[i] {
				continue
			}
			if faults++; faults > 5 {
				continue
			}
			small := shrink(programs[i])
			want, got, _ := differs(small)
			t.Errorf("seed %d:\n%s\n%s", first+uint64(i), small, firstDifference(want, got))
		}
	}
	if faults > 0 {
		t.Errorf("%d of %d programs differ", faults, batches*batch)
	}
}

// program returns the program of a seed. Every fourth is broken, and only compiled.
func program(seed uint64) string {
	text := generate(seed)
	if seed%4 == 3 {
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 2))}
		return "--!" + g.mutate(text)
	}
	return text
}
