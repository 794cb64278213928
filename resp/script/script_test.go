package script

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/resp/script/lua"
)

// A table host answers commands by their names.
type tableHost map[string]string

func (h tableHost) Call(args [][]byte, _ bool) ([]byte, string, error) {
	if string(args[0]) == "stop" {
		return nil, "", ErrStopped
	}
	if reply, ok := h[string(args[0])]; ok {
		return []byte(reply), "", nil
	}
	return nil, "ERR no such command", nil
}

func (tableHost) Log(int, string) {}

func (tableHost) CountError(string) {}

func (h tableHost) Room() int { return 1 << 20 }

func (h tableHost) Grow(int, bool) bool { return true }

func (h tableHost) Allows(args [][]byte) (known, allowed bool) {
	known = h[string(args[0])] != ""
	return known, known
}

func run(t *testing.T, r *Runtime, body string) string {
	t.Helper()
	s, err := Compile(body)
	if err != nil {
		return "-" + err.Error()
	}
	r.Begin(8 << 20)
	reply, err := r.Run(s, nil, nil, tableHost{"ping": "+PONG\r\n"}, nil, false)
	if err != nil {
		return "!" + err.Error()
	}
	return strings.TrimSuffix(string(reply), "\r\n")
}

// Code that is nested deeper than the compiler can follow is refused, at once.
func TestDeeplyNestedCodeIsRefused(t *testing.T) {
	const n = 256 << 10
	for _, c := range []struct{ body, want string }{
		{"return " + strings.Repeat("{", n/2) + strings.Repeat("}", n/2), "too many syntax levels"},
		{"return " + strings.Repeat("not ", n/4) + "1", "too many syntax levels"},
		{"return " + strings.Repeat("#", n) + "x", "too many syntax levels"},
		{"return " + strings.Repeat("a..", n/3) + "x", "too many syntax levels"},
		{"return " + strings.Repeat("a^", n/2) + "x", "too many syntax levels"},
		{"return " + strings.Repeat("(", n/2) + "1" + strings.Repeat(")", n/2), "too many syntax levels"},
		{strings.Repeat("do ", n/7) + strings.Repeat(" end", n/7), "too many syntax levels"},
		{"return " + strings.Repeat("function() return ", n/22) + "1" + strings.Repeat(" end", n/22), "too many syntax levels"},
		{"return a" + strings.Repeat(".b", n/2), "too complex"},
		{"return a" + strings.Repeat("()", n/2), "too complex"},
		{"return a" + strings.Repeat("+a", n/2), "too complex"},
		{"if a then " + strings.Repeat("elseif a then ", n/14) + " end", ""},
		{"return " + strings.Repeat("a..", 100) + "'x'", ""},
		{strings.Repeat(" ", MaxBody+1), "longer than"},
	} {
		if _, err := Compile(c.body); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.30q: %v, not %q", c.body, err, c.want)
		}
	}
}

// No script leaves anything behind that another one sees.
func TestScriptsAreApart(t *testing.T) {
	r := NewRuntime()
	for _, attempt := range []string{
		"x = 1", "_G.x = 1", "rawset(_G, 'x', 1)", "string.upper = 1", "rawset(string, 'upper', nil)", "getmetatable('').__index = nil",
		"getmetatable(_G).__index.x = 1", "getmetatable(string).__index.upper = 1", "setmetatable(string, nil)", "setmetatable(_G, {})",
		"getmetatable(redis).__newindex = nil", "redis.call = nil", "KEYS = nil", "local t = getmetatable(_G) t.__index = nil", "math.x = 1",
		"cjson.encode = 1", "local n = next(getmetatable(_G)) getmetatable(_G)[n] = 1", "rawset(getmetatable(_G), 'x', 1)", "table.insert(_G, 1)",
		"table.insert(string, 1)", "table.sort(_G)", "for k, v in pairs(_G) do if type(v) == 'table' then v.x = 1 end end", "cjson.encode_max_depth(1)",
		"local f = loadstring('x = 1') f()", "coroutine.wrap(function() x = 1 end)()", "xpcall(function() x = 1 end, function() string.upper = 1 end)",
		"table.remove(KEYS)", "ARGV.x = 1", "cjson.null.x = 1", "string.gsub('a', 'a', function() x = 1 end)",
	} {
		_ = run(t, r, attempt)
		if got := run(t, r, "return {('x'):upper(), redis.call('ping'), type(KEYS), cjson.encode({{{1}}}), tostring(rawget(_G, 'x')), tostring(string.x), tostring(getmetatable('').__index == string)}"); got !=
			"*7\r\n$1\r\nX\r\n+PONG\r\n$5\r\ntable\r\n$7\r\n[[[1]]]\r\n$3\r\nnil\r\n$3\r\nnil\r\n$4\r\ntrue" {
			t.Fatalf("after %s: %q", attempt, got)
		}
	}
}

// A script that encodes a table gets the same bytes each time.
func TestTablesAreEncodedInOneOrder(t *testing.T) {
	r := NewRuntime()
	const body = "local t = {z = 1, y = 2, x = {b = 1, a = 2, c = 3}, [7] = 4, [-1] = 5, v = 6, u = 7} " +
		"redis.setresp(3) return {cjson.encode(t), cmsgpack.pack(t), {map = t}, {set = t}}"
	first := run(t, r, body)
	if !strings.Contains(first, `{"y":2,"x":{"a":2,"c":3,"b":1},"z":1,"u":7,"7":4,"-1":5,"v":6}`) { // as redis-server does
		t.Errorf("%q", first)
	}
	for range 50 {
		if got := run(t, r, body); got != first {
			t.Fatalf("%q\nthen %q", first, got)
		}
	}
}

// What would take memory or stack without bound is an error, and the runtime goes on.
func TestScriptsAreBounded(t *testing.T) {
	r := NewRuntime()
	for _, body := range []string{
		"local function f() return f() + 1 end return f()", "return string.rep('x', 1e9)", "return ('x'):rep(1e9):rep(1e9)", "return unpack({}, 1, 1e8)",
		"local t = {} t[1] = t return t", "local function f(s) return (string.gsub(s, '.', f)) end return f('x')", "return struct.pack('c0', string.rep('x', 1e8))",
		"return cmsgpack.unpack(string.rep('\\145', 100000))", "return cjson.decode(string.rep('[', 100000))", "return load(function() return 'x' end)",
		"local t = setmetatable({}, {}) getmetatable(t).__index = t return t.x.y", "error(setmetatable({}, {__tostring = function() error('x') end}))", "error({})", "error()",
		// Cycles, depth, sharing and gaps in what libraries go over.
		"cjson.encode_max_depth(2147483647) local t = {} t[1] = t return cjson.encode(t)",
		"cjson.encode_max_depth(2147483647) local t = {} t.t = t return cjson.encode(t)",
		"cjson.encode_max_depth(2147483647) local t = {} for i = 1, 10000 do t = {t} end return cjson.encode(t)",
		"local t = {} for i = 1, 40 do t = {t, t} end return cjson.encode(t)",
		"local t = {} for i = 1, 14 do t = {t, t, t, t, t, t, t, t} end return cmsgpack.pack(t)",
		"local t = {} for i = 1, 40 do t = {t, t} end return t",
		"cjson.encode_sparse_array(false, 0, 0) local t = {} t[67108864] = 1 return cjson.encode(t)",
		"return string.byte(string.rep('a', 2000000), 1, -1)", "return string.byte(string.rep('a', 8001), -8000, 100000)",
		"return unpack({}, -9e18, 9e18)", "local function f() coroutine.wrap(f)() end f()",
		"local function f() coroutine.resume(coroutine.create(f)) end f() error('x')",
	} {
		if got := run(t, r, body); got == "" {
			t.Errorf("%s: %q", body, got)
		}
		if got := run(t, r, "return redis.call('ping')"); got != "+PONG" {
			t.Fatalf("after %s: %q", body, got)
		}
	}
}

// Arguments that are no proper numbers are refused as in Redis.
func TestOddNumbersAreRefused(t *testing.T) {
	r := NewRuntime()
	for body, want := range map[string]string{
		"redis.log(0/0, 'x')": "Invalid log level", "redis.log(-1, 'x')": "Invalid log level", "redis.log(1e300, 'x')": "Invalid log level",
		"redis.setresp(0/0)": "RESP version must be 2 or 3", "redis.setresp(1e300)": "RESP version must be 2 or 3", "redis.set_repl(0/0)": "Invalid replication flags",
	} {
		if got := run(t, r, body); !strings.Contains(got, want) {
			t.Errorf("%s: %q", body, got)
		}
	}
}

// A runtime that waits for the next script keeps nothing of the last one.
func TestRuntimeDropsKeysAndArguments(t *testing.T) {
	r := NewRuntime()
	s, err := Compile("return #KEYS")
	if err != nil {
		t.Fatal(err)
	}
	stopped := errors.New("ERR ended")
	for _, stop := range []bool{true, false} {
		r.Begin(defaultMemory)
		if stop {
			r.Stop(stopped) // before the first run has set anything
		}
		if _, err := r.Run(s, [][]byte{[]byte("k")}, [][]byte{[]byte("v")}, tableHost{}, nil, false); err != nil {
			t.Error(err)
		}
		for _, name := range []string{"KEYS", "ARGV"} {
			if r.globals.GetField(name).IsTable() {
				t.Errorf("stopped %t: %s is still there", stop, name)
			}
		}
	}
}

// The deepest table that cjson encodes is that of Redis, and the error is the same.
func TestEncodingACycleFailsAsInRedis(t *testing.T) {
	r := NewRuntime()
	got := run(t, r, "cjson.encode_max_depth(2147483647) local t = {} t[1] = t return cjson.encode(t)")
	if !strings.Contains(got, "Cannot serialise, excessive nesting (7998)") {
		t.Errorf("%q", got)
	}
}

// A runtime whose machine fails outside of what it protects says so instead of ending the
// process.
func TestRunReportsAFailureOfTheMachine(t *testing.T) {
	r := NewRuntime()
	if err := r.state.Setup(func(t *lua.Thread) {
		r.globals.SetReadonly(false)
		t.SetField(r.globals, "boom", t.NewFunction(func(t *lua.Thread) int { return t.Pop().Table().Len() / t.NArgs() }))
	}); err != nil {
		t.Fatal(err)
	}
	s, err := Compile("return boom()")
	if err != nil {
		t.Fatal(err)
	}
	if reply, err := r.Run(s, nil, nil, tableHost{}, nil, false); !errors.Is(err, ErrBroken) {
		t.Errorf("%q, %v", reply, err)
	}
}

// A panic of the host ends the process as any other does, whatever the script protects.
func TestPanicsOfTheHostPropagate(t *testing.T) {
	r := NewRuntime()
	s, err := Compile("while true do pcall(redis.call, 'panic') end")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if p := recover(); p != "host" {
			t.Errorf("recovered %v", p)
		}
	}()
	_, _ = r.Run(s, nil, nil, panicHost{}, nil, false)
}

type panicHost struct{ tableHost }

func (panicHost) Call([][]byte, bool) (reply []byte, refusal string, err error) { panic("host") }

// A script that is told to end does, whatever it has protected.
func TestScriptsEnd(t *testing.T) {
	r := NewRuntime()
	cause := errors.New("ERR ended")
	for _, body := range []string{
		"while true do end", "while true do pcall(function() while true do end end) end", "local co = coroutine.wrap(function() while true do end end) while true do pcall(co) end",
		"while true do xpcall(function() error('x') end, function() end) end",
	} {
		s, err := Compile(body)
		if err != nil {
			t.Fatal(err)
		}
		r.Begin(defaultMemory)
		time.AfterFunc(time.Millisecond, func() { r.Stop(cause) })
		reply, err := r.Run(s, nil, nil, tableHost{}, nil, false)
		if err != nil || !strings.HasPrefix(string(reply), "-ERR ended script: ") {
			t.Errorf("%s: %q, %v", body, reply, err)
		}
	}
	for _, body := range []string{
		"redis.call('stop') return 1", "pcall(redis.call, 'stop') return 1", "while true do pcall(redis.call, 'stop') end", "while true do redis.pcall('stop') end",
		"local co = coroutine.wrap(function() redis.call('stop') end) while true do pcall(co) end",
	} {
		if got := run(t, r, body); got != "!"+ErrStopped.Error() {
			t.Errorf("%s: %q", body, got)
		}
	}
	if got := run(t, r, "return 1"); got != ":1" {
		t.Error(got)
	}
}

// FuzzReplies makes values of replies, and replies of these.
func FuzzReplies(f *testing.F) {
	for _, s := range []string{"*2\r\n$1\r\na\r\n:1\r\n", "%1\r\n+a\r\n_\r\n", "~1\r\n#t\r\n", ",1.5\r\n", "=5\r\ntxt:x\r\n", "$-1\r\n", "*-1\r\n", "-ERR x\r\n", "(12\r\n"} {
		f.Add([]byte(s))
	}
	r := NewRuntime()
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := r.state.Setup(func(l *lua.Thread) {
			if _, err := value(l, b, 0); err != nil {
				return
			}
			v := l.Top(1)
			for _, three := range []bool{false, true} {
				e := replyEncoder{script3: three, client3: three, most: 1 << 30, granted: 1 << 30, host: tableHost{}}
				if rest, err := value(l, e.append(nil, v, 0), 0); err != nil || len(rest) > 0 {
					t.Errorf("%q: %v, %q is left", b, err, rest)
				}
			}
		}); err != nil {
			t.Error(err)
		}
	})
}

// FuzzLibraries hands any bytes to what decodes them: there is an error, or a value that is
// encoded and decoded again.
func FuzzLibraries(f *testing.F) {
	for _, s := range []string{`{"a":[1,null,"\u00e9\ud83d\ude00"],"b":-1.5e3}`, "[[[", "\x93\x01\xa1x\xc0", "\xcb\x3f\xf8\x00", "\xdf\xff\xff\xff\xff", ">I4s!8c0", "<i16Bc0"} {
		f.Add([]byte(s))
	}
	r := NewRuntime()
	s, err := Compile(`
local ok, v = pcall(cjson.decode, ARGV[1])
if ok then
  local text = cjson.encode(v)
  if cjson.encode(cjson.decode(text)) ~= text and not string.find(text, '{') then error('JSON: ' .. text) end
end
local ok, v = pcall(cmsgpack.unpack, ARGV[1])
if ok and type(v) ~= 'table' and v == v then
  if cmsgpack.unpack(cmsgpack.pack(v)) ~= v then error('MessagePack') end
end
pcall(struct.unpack, ARGV[1], string.rep('x', 300))
pcall(struct.pack, ARGV[1], 1, 2, 'three', 4, 5)
pcall(struct.size, ARGV[1])
pcall(cmsgpack.unpack_limit, ARGV[1], 3, 1)
return 'fine'`)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		reply, err := r.Run(s, nil, [][]byte{b}, tableHost{}, nil, false)
		if err != nil || string(reply) != "$4\r\nfine\r\n" && !strings.Contains(string(reply), "Cannot serialise") {
			t.Errorf("%q: %q, %v", b, reply, err)
		}
	})
}

// FuzzScripts runs any code.
func FuzzScripts(f *testing.F) {
	for _, s := range []string{"return redis.call('ping')", "#!lua flags=no-writes\nreturn 1", "local t = {} for i = 1, 3 do t[i] = i end return t", "return (("} {
		f.Add(s)
	}
	r := NewRuntime()
	f.Fuzz(func(t *testing.T, body string) {
		s, err := Compile(body)
		if err != nil {
			return
		}
		r.Begin(defaultMemory)
		defer time.AfterFunc(50*time.Millisecond, func() { r.Stop(errors.New("ERR ended")) }).Stop()
		_, _ = r.Run(s, nil, nil, tableHost{"ping": "+PONG\r\n"}, nil, true)
	})
}
