package resp

import (
	"slices"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// loads are the words of FUNCTION LOAD REPLACE in turn, for both servers.
var loads = []string{
	"", "#!", "#!\n", "#!lua", "#!lua\n", "#!lua name=\n", "#!lua name=a", "#!lua name=a\n", "#!lua name=a\x00\nx", "\n#!lua name=a\n", "#! name=a\n", "#! lua name=a\n",
	"#!js name=a\n", "#!lua name=a b\n", "#!lua name=a name=b\n", "#!lua name=a-b\n", "#!lua \"name=a\n", "#!lua NAME='a'\nredis.register_function('f', function() return 1 end)",
	"#!LUA   name=\"a\"  \nredis.register_function('f', function() return 1 end)", "#!lua name=a\nif", "#!lua name=a\nreturn 1",
	"#!lua name=a\nredis.call('ping')", "#!lua name=a\nredis.setresp(3)", "#!lua name=a\nmath.random()", "#!lua name=a\nreturn _G", "#!lua name=a\npcall(1)", "#!lua name=a\na = 1", "#!lua name=a\nredis.x = 1",
	"#!lua name=a\nlocal x = nil + 1", "#!lua name=a\nredis.log()", "#!lua name=a\nredis.log(1, 'x')", "#!lua name=a\nlocal s = ('x'):rep(3) .. nil",
	"#!lua name=a\nredis.register_function()", "#!lua name=a\nredis.register_function('f')", "#!lua name=a\nredis.register_function('f', 1)", "#!lua name=a\nredis.register_function({}, function() end)",
	"#!lua name=a\nredis.register_function('f', function() end, 1)", "#!lua name=a\nredis.register_function('f g', function() end)", "#!lua name=a\nredis.register_function('', function() end)", "#!lua name=a\nredis.register_function(1, function() end)",
	"#!lua name=a\nredis.register_function('f', function() end) redis.register_function('f', function() end)", "#!lua name=a\nredis.register_function{}", "#!lua name=a\nredis.register_function{function_name='f'}",
	"#!lua name=a\nredis.register_function{callback=function() end}", "#!lua name=a\nredis.register_function{function_name={}}", "#!lua name=a\nredis.register_function{callback=1}", "#!lua name=a\nredis.register_function{description={}}",
	"#!lua name=a\nredis.register_function{flags=1}", "#!lua name=a\nredis.register_function{flags={1}}", "#!lua name=a\nredis.register_function{flags={'none'}}", "#!lua name=a\nredis.register_function{function() end}", "#!lua name=a\nredis.register_function{x=1}",
	"#!lua name=a\nredis.register_function{Function_Name='f', CALLBACK=function() return 2 end, flags={'NO-writes'}, description='d'}",
	"#!lua name=b\nredis.register_function('F', function() end)", "#!lua name=A\nredis.register_function('h', function() return 'h' end)",
	"#!lua name=a\nlocal n = 0\nredis.register_function('f', function() n = n + 1 return n end)\nredis.register_function('g', function() error('oops') end)",
}

// calls are the words behind FCALL or FCALL_RO, for both servers.
var calls = [][]string{
	{"id", "0"}, {"ID", "0"}, {"nosuch", "0"}, {"id", "x"}, {"id", "-1"}, {"id", "1"}, {"id", "2", "a"}, {"id", "1", "a", "b", "c"},
	{"set", "1", "k", "v"}, {"get", "1", "k"}, {"get", "1", "none"}, {"err", "0"}, {"err2", "0"}, {"err3", "0"}, {"table", "0"}, {"status", "0"}, {"keys", "0"}, {"global", "0"},
	{"resp3", "0"}, {"resp3", "0"}, {"nocmd", "0"}, {"pnocmd", "0"}, {"wrong", "0"}, {"writes", "0"}, {"write3", "0"}, {"register", "0"}, {"library", "0"}, {"noscript", "0"},
	{"counted", "0"}, {"counted", "0"}, {"nested", "0"}, {"version", "0"}, {"api", "0"}, {"meta", "0"}, {"gcheck", "0"}, {"cj", "0"}, {"nothing", "0"}, {"badreply", "0"}, {"undeclared", "0"},
}

const library = `#!lua name=all
local count = 0
local lib = redis
local function id(keys, args) return {keys, args} end
redis.register_function{function_name='id', callback=id, flags={'no-writes'}}
redis.register_function('set', function(keys, args) return redis.call('set', keys[1], args[1]) end)
redis.register_function{function_name='get', callback=function(keys) return redis.call('get', keys[1]) end, flags={'no-writes', 'allow-stale'}}
redis.register_function('err', function() error('boo') end)
redis.register_function('err2', function() error({err='MY boo'}) end)
redis.register_function('err3', function() return redis.error_reply('MY boo') end)
redis.register_function('table', function() return {1, 'a', {2}, true, false, 3.7} end)
redis.register_function('status', function() return redis.status_reply('fine') end)
redis.register_function('keys', function() return KEYS end)
redis.register_function('global', function() x = 1 end)
redis.register_function('resp3', function() local a = redis.call('hgetall', 'nosuch') redis.setresp(3) return {a, redis.call('hgetall', 'nosuch'), true} end)
redis.register_function('nocmd', function() return redis.call('nosuch') end)
redis.register_function('pnocmd', function() return redis.pcall('nosuch') end)
redis.register_function('wrong', function() return redis.call('get') end)
redis.register_function{function_name='writes', callback=function() return redis.call('set', 'x', 1) end, flags={'no-writes'}}
redis.register_function{function_name='write3', callback=function() return redis.pcall('set', 'x', 1) end, flags={'no-writes'}}
redis.register_function('register', function() lib.register_function('z', id) end)
redis.register_function('library', function() lib.redis = redis end)
redis.register_function('noscript', function() return redis.call('fcall', 'id', 0) end)
redis.register_function('counted', function() count = count + 1 return count end)
redis.register_function('nested', function() local ok, e = pcall(error, {err='x y'}) return {tostring(ok), e} end)
redis.register_function('version', function() return redis.REDIS_VERSION_NUM > 0 end)
redis.register_function('api', function() return {type(redis.register_function), type(redis.replicate_commands), type(redis.debug), type(redis.sha1hex), type(__redis__err__handler)} end)
redis.register_function('meta', function() local mt = getmetatable(_G) mt.__index = nil end)
redis.register_function('gcheck', function() return {_G == _G._G, type(_G.string), type(rawget(_G, 'redis'))} end)
redis.register_function('cj', function() return cjson.encode({a={1, 2}}) .. #cmsgpack.pack(1) .. bit.band(7, 2) end)
redis.register_function('nothing', function() end)
redis.register_function('badreply', function() return function() end end)
redis.register_function('undeclared', function() redis.call('set', 'u', 1) return redis.call('incr', 'u') end)
`

func TestFunctionsAnswerAsRedis(t *testing.T) {
	differential(t, func(d *differ) {
		same := func(words ...string) {
			d.t.Helper()
			want, got := d.both(words)
			if g, w := orderless(got), orderless(want); g != w {
				d.t.Errorf("%q:\n got %s\nwant %s", words, g, w)
			}
		}
		d.redis.Do("FUNCTION", "FLUSH")
		for _, code := range loads {
			same("FUNCTION", "LOAD", "REPLACE", code)
		}
		same("FUNCTION", "LOAD", loads[len(loads)-1])
		same("FCALL", "f", "0")
		same("FCALL", "F", "0")
		same("FCALL", "g", "0")
		same("FUNCTION", "LIST")
		same("FUNCTION", "STATS")
		same("FUNCTION", "LOAD", "REPLACE", library)
		same("FUNCTION", "LOAD", "x", library)
		same("FUNCTION", "LOAD", "replace", "replace", "#!lua name=all\nredis.register_function('f', function() end)")
		for _, name := range []string{"FCALL", "FCALL_RO"} {
			for _, words := range calls {
				same(append([]string{name}, words...)...)
			}
		}
		for _, words := range []string{
			"FUNCTION", "FUNCTION NOSUCH", "FUNCTION LOAD", "FUNCTION LOAD REPLACE", "FUNCTION DELETE", "FUNCTION DELETE nosuch", "FUNCTION KILL", "FUNCTION KILL x", "FUNCTION LIST x",
			"FUNCTION LIST WITHCODE", "FUNCTION LIST LIBRARYNAME", "FUNCTION LIST LIBRARYNAME A*", "FUNCTION LIST WITHCODE LIBRARYNAME nosuch", "FUNCTION LIST WITHCODE WITHCODE",
			"FUNCTION LIST LIBRARYNAME a LIBRARYNAME b", "FUNCTION RESTORE", "FUNCTION RESTORE x", "FUNCTION RESTORE x y", "FUNCTION RESTORE x FLUSH y", "FUNCTION STATS x", "FUNCTION DUMP x", "FUNCTION FLUSH x",
			"FUNCTION FLUSH SYNC x", "FCALL", "FCALL x", "FCALL_RO x", "COMMAND GETKEYS FCALL x 2 a b c", "COMMAND GETKEYSANDFLAGS FCALL_RO x 1 a b", "MULTI", "FCALL set 1 m 1", "FUNCTION DELETE A", "FCALL get 1 m",
			"FUNCTION NOSUCH", "EXEC", "MULTI", "FCALL set 1 m 1", "FUNCTION DELETE A", "FCALL get 1 m", "FCALL h 0", "EXEC", "FUNCTION STATS", "FLUSHALL", "FUNCTION STATS", "SCRIPT FLUSH", "FUNCTION STATS",
		} {
			same(strings.Fields(words)...)
		}
		d.exchange()
		for _, words := range []string{"FUNCTION DELETE a", "FUNCTION FLUSH ASYNC", "FUNCTION LIST", "FUNCTION STATS", "FUNCTION FLUSH", "FUNCTION DUMP", "FCALL f 0"} {
			same(strings.Fields(words)...)
		}
	})
}

// exchange has each server restore what the other one has dumped.
func (d *differ) exchange() {
	d.t.Helper()
	const added, other = "#!lua name=added\nredis.register_function('f', function() return 1 end)", "#!lua name=other\nredis.register_function('f', function() return 2 end)"
	d.do("FUNCTION", "DELETE", "all")
	d.do("FUNCTION", "LOAD", "REPLACE", added)
	dumped, ours := d.both([]string{"FUNCTION", "DUMP"})
	if dumped.Text != ours.Text {
		d.t.Errorf("a dump of one library is %q, of Redis %q", ours.Text, dumped.Text)
	}
	// Some libraries have another order: see [functions.Set].
	d.do("FUNCTION", "LOAD", "REPLACE", "#!lua name=second\nredis.register_function('s', function() return '"+strings.Repeat("long ", 200)+"' end)")
	dumped, ours = d.both([]string{"FUNCTION", "DUMP"})
	for i, payload := range []string{dumped.Text, ours.Text} {
		for _, policy := range []string{"", "APPEND", "REPLACE", "FLUSH"} {
			words := []string{"FUNCTION", "RESTORE", payload, policy}
			if policy == "" {
				words = words[:3]
			}
			want, got := d.both(words)
			if g, w := orderless(got), orderless(want); g != w && !strings.HasPrefix(w, "-ERR Library ") {
				d.t.Errorf("payload %d, %s: %s, want %s", i, policy, g, w)
			}
			d.do("FUNCTION", "STATS")
			d.do("FCALL", "s", "0")
		}
	}
	d.do("FUNCTION", "FLUSH")
	d.do("FUNCTION", "LOAD", other)
	for _, policy := range []string{"APPEND", "REPLACE", "FLUSH"} {
		d.do("FUNCTION", "RESTORE", dumped.Text, policy)
		d.do("FCALL", "f", "0")
	}
	for _, payload := range []string{dumped.Text[:len(dumped.Text)-1], dumped.Text[1:], dumped.Text + "x", ""} {
		d.do("FUNCTION", "RESTORE", payload)
	}
}

// orderless is a reply with the elements of its arrays sorted, since the order of libraries and functions is not
// that of Redis. Only the code of compilers' errors is left out.
func orderless(v resptest.Value) string {
	if i := strings.Index(v.Text, "Error compiling function: user_function:"); i >= 0 {
		return v.Text[:i]
	}
	if len(v.Elems) == 0 {
		return v.String()
	}
	var all []string
	for _, e := range v.Elems {
		all = append(all, orderless(e))
	}
	slices.Sort(all)
	return string(rune(v.Kind)) + "(" + strings.Join(all, " ") + ")"
}
