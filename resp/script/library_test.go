package script

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func noLog(int, string) {}

func load(code string) (*Library, error) { return NewLibrary(code, 8<<20, time.Minute, noLog) }

func callFunction(t *testing.T, r *Runtime, f *Function, words ...string) string {
	t.Helper()
	var args [][]byte
	for _, w := range words {
		args = append(args, []byte(w))
	}
	r.Begin(8 << 20)
	reply, err := r.Call(f, args, nil, tableHost{"ping": "+PONG\r\n"}, nil, false)
	if err != nil {
		return "!" + err.Error()
	}
	return strings.TrimSuffix(string(reply), "\r\n")
}

func TestLibraryRegistersFunctions(t *testing.T) {
	l, err := load(`
local n = 0
redis.register_function('count', function(keys) n = n + 1 return n + #keys end)
redis.register_function{function_name='Ping', callback=function() return redis.call('ping') end, description='pings', flags={'no-writes', 'allow-oom'}}
redis.register_function('bad', function() error('boo') end)
redis.register_function('globals', function() return {KEYS == nil} end)
redis.register_function('assigns', function() x = 1 end)`)
	if err != nil {
		t.Fatal(err)
	}
	if f := l.Functions[1]; f.Name != "Ping" || *f.Description != "pings" || f.Flags != NoWrites|AllowOOM || l.Functions[0].Description != nil {
		t.Errorf("%+v", l.Functions)
	}
	r, err := l.NewRuntime(8<<20, noLog, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		":3", "+PONG", "-ERR user_function:5: boo script: bad, on @user_function:5.",
		"-ERR user_function:6: Script attempted to access nonexistent global variable 'KEYS' script: globals, on @user_function:6.",
		"-ERR user_function:7: Attempt to modify a readonly table script: assigns, on @user_function:7.",
	} {
		if got := callFunction(t, r, &l.Functions[i], "a", "b"); got != want {
			t.Errorf("%s: %s, want %s", l.Functions[i].Name, got, want)
		}
	}
	if got := callFunction(t, r, &l.Functions[0]); got != ":2" {
		t.Errorf("a variable of the library is lost between calls: %s", got)
	}
}

func TestLibraryRefusesWhatRedisRefuses(t *testing.T) {
	const function = "function() return 1 end"
	for _, c := range []struct{ code, want string }{
		{"return 1", "No functions registered"},
		{"bad code", "Error compiling function: user_function:1: '=' expected near 'code'"},
		{"redis.register_function()", "wrong number of arguments to redis.register_function"},
		{"redis.register_function('f', " + function + "); redis.register_function('F', " + function + ")", "Function already exists in the library"},
		{"redis.register_function('a-b', " + function + ")", MsgName},
		{"redis.register_function{function_name='f', callback=" + function + ", flags={'none'}}", "unknown flag given"},
		{"redis.register_function{function_name='f', callback=" + function + ", flags={" + function + "}}", "unknown flag given"},
		{"redis.register_function{[1]='f'}", "unknown argument given to redis.register_function"},
		{"redis.register_function{callback=" + function + "}", "redis.register_function must get a function name argument"},
		{"redis.call('ping')", "Script attempted to access nonexistent global variable 'call'"},
		{"a = 1", "Attempt to modify a readonly table"},
		{"local t = {} while true do t[#t+1] = ('x'):rep(100000) end", "not enough memory"},
	} {
		if _, err := load(c.code); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.code, err, c.want)
		}
	}
	if _, err := NewLibrary("while true do end", 8<<20, time.Millisecond, noLog); err == nil || err.Error() != "ERR Error registering functions: ERR FUNCTION LOAD timeout" {
		t.Errorf("an endless library: %v", err)
	}
}

// What functions keep counts, however many calls it takes: the runtime ends and can be replaced.
func TestLibraryMemoryIsBoundedOverCalls(t *testing.T) {
	l, err := load(`local kept = {}
redis.register_function('keep', function(keys) kept[#kept+1] = keys[1] .. #kept return #kept end)
redis.register_function('drop', function(keys) local s = keys[1] .. 'x' return #s end)`)
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.NewRuntime(8<<20, noLog, nil)
	if err != nil {
		t.Fatal(err)
	}
	big := strings.Repeat("x", 256<<10)
	for i := range 100 {
		if got := callFunction(t, r, &l.Functions[1], big); got != fmt.Sprintf(":%d", len(big)+1) {
			t.Fatalf("call %d without anything kept: %s", i, got)
		}
	}
	for i := range 64 {
		got := callFunction(t, r, &l.Functions[0], big)
		if strings.HasPrefix(got, ":") {
			continue
		}
		if i < 16 || !strings.Contains(got, "not enough memory") || !r.Ended() {
			t.Errorf("call %d: %s, ended: %t", i, got, r.Ended())
		}
		return
	}
	t.Error("a library may keep twice as much as it may have")
}

// A coroutine that a library keeps goes on in a later call.
func TestLibraryKeepsCoroutines(t *testing.T) {
	l, err := load(`local co
redis.register_function('step', function()
  co = co or coroutine.create(function() for i = 1, 3 do local n = i * 10 coroutine.yield(n) end end)
  local ok, v = coroutine.resume(co)
  return v
end)`)
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.NewRuntime(8<<20, noLog, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{":10", ":20", ":30", "$-1", "$29\r\ncannot resume dead coroutine"} {
		if got := callFunction(t, r, &l.Functions[0]); got != want && !strings.HasPrefix(want, "$29") {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
