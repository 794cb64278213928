package resp

import (
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
)

// scripts are run by EVAL on both sides; keys and arguments follow after a line "--".
var differentialScripts = []string{
	"return 1", "return 'x'", "return nil", "return true", "return false", "return", "return {}", "return {1,2,3}",
	"return {1,'a',true,false,2.9,-2.9,{4,{5}}}", "return {1,nil,3}", "return 3.99", "return -3.99", "return 1e300", "return 0/0", "return 1e15",
	"return function() end", "return {ok='fine'}", "return {err='A b'}", "return {err='-A b'}", "return {ok=1}", "return {err=1}", "return {a=1}",
	"return {ok='a\\r\\nb'}", "return {err='a\\r\\nb'}", "return {double=3.5}", "return {map={a=1}}", "return {set={a=true}}",
	"return {big_number='12'}", "return {verbatim_string={format='txt',string='x'}}",
	"redis.setresp(3) return true", "redis.setresp(3) return false", "redis.setresp(3) return {true,false,nil}",
	"return redis.error_reply('My error')", "return redis.error_reply('-My error')", "return redis.error_reply('one')", "return redis.error_reply()",
	"return redis.error_reply(1)", "return redis.status_reply('fine')", "return redis.status_reply()", "return redis.sha1hex('abc')", "return redis.sha1hex('')",
	"return redis.sha1hex(1)", "return redis.sha1hex()", "return redis.call('PING')", "return redis.call('ping')", "return redis.call('nosuch')",
	"return redis.pcall('nosuch')", "return redis.call('get')", "return redis.call()", "return redis.call({})", "return redis.call('set','a',{})",
	"return redis.call('multi')", "return redis.call('eval','return 1','0')", "return redis.call('client','id')", "return redis.call('object','nosuch')",
	"return redis.pcall('get')", "local e = redis.pcall('nosuch') return e.err", "local ok, e = pcall(redis.call, 'nosuch') return {tostring(ok), e}",
	"local ok, e = pcall(error, {err='x y'}) return e", "local ok,e = pcall(error, {code=3}) return e.code",
	"error('x')", "error('x', 0)", "error({err='MY oops'})", "error(nil)", "error(12)",
	"local function f() error('deep') end\nlocal ok\nf()", "\n\nreturn nosuch", "nosuch = 1", "string.foo = 1", "redis.foo = 1", "return redis.foo",
	"KEYS = 1", "KEYS[1] = 'z' return KEYS[1]", "return #ARGV", "return rawset(_G,'x',1)", "return setmetatable(_G,{})", "return type(getmetatable(_G))",
	"getmetatable('').__index = 1", "return type(getmetatable(''))", "return _G.KEYS == KEYS", "_G.foo = 1", "return rawget(_G,'nosuch')", "return type(rawget(_G,'redis'))",
	"return print", "return io", "return dofile", "return require", "return getfenv", "return newproxy", "return debug", "return type(load)",
	"return loadstring('return 1+1')()", "return loadstring('nosuch=1')()", "return (loadstring('x x'))", "return load(function() return nil end)()", "return _VERSION",
	"return redis.LOG_WARNING", "return {redis.REPL_ALL,redis.REPL_AOF,redis.REPL_SLAVE,redis.REPL_REPLICA,redis.REPL_NONE}",
	"return redis.log()", "return redis.log(1)", "return redis.log('x','y')", "return redis.log(9,'y')", "return redis.log(redis.LOG_DEBUG,'y')",
	"return redis.setresp(4)", "return redis.setresp()", "return redis.set_repl(1)", "return redis.set_repl(99)", "return redis.set_repl()", "return redis.replicate_commands()",
	"return redis.breakpoint()", "return redis.acl_check_cmd('get','x')", "return redis.acl_check_cmd('nosuch')", "return redis.acl_check_cmd()",
	"math.randomseed(7) return math.random(1000)", "return math.random(0)",
	"return tostring(1e15)..tostring(0.1)..tostring(1/3)..tostring(100)..tostring(-0.5)", "return tostring(nil)..tostring(true)", "return tonumber('0x10')", "return tonumber('z',36)",
	"return tonumber('abc')", "return string.format('%5.2f|%d|%s|%x|%c', 3.14159, 42, 'x', 255, 65)", "return ('x'):rep(3)", "return ('abc'):upper()", "return string.byte('abc',1,-1)",
	"return select('#',1,2,3)", "return unpack({1,2,3})", "return {unpack({1,2,3})}", "return table.concat({1,2,3},',')", "local t={3,1,2} table.sort(t) return t",
	"return string.gsub('hello','l','L')", "return {string.find('hello','l')}", "return string.match('key:123','%d+')", "local t={} for w in string.gmatch('a b c','%a') do t[#t+1]=w end return t",
	"return next({})", "local n=0 for k,v in pairs({1,2,a=3}) do n=n+v end return n", "local t={} for i,v in ipairs({5,6}) do t[i]=v*i end return t",
	"local co = coroutine.wrap(function() coroutine.yield(1) coroutine.yield(2) end) return {co(),co()}", "return #_G.string.rep('x',10)",
	"local t = setmetatable({}, {__index=function(t,k) return k..'!' end}) return t.foo", "return type(cjson.null)", "return 10 % 3", "return -10 % 3", "return 2^10",
	"return 'a'..1", "return 1 == 1.0", "return '10'+5", "return '10'*'2'", "return 'a' < 'b'", "return not nil", "return #'abc'", "for i=1,3 do if i==2 then return i end end",
	"local i=0 while true do i=i+1 if i>5 then break end end return i", "local i=0 repeat i=i+1 until i>=4 return i", "local a,b,c=(function(...) return ... end)(1,2,3) return {a,b,c}",
	"#!lua\nreturn 1", "#!lua flags=no-writes\nreturn redis.call('set','a','1')", "#!lua flags=foo\nreturn 1", "#!lua flags=\nreturn 1", "#!lua flags=no-writes,\nreturn 1", "#!lua flags=,\nreturn 1", "#!lua x=foo\nreturn 1", "#!js\nreturn 1", "#!lua",
	"#!lua flags=no-writes,allow-stale\nreturn 7", "#!lua\n\nerror('x')", "return (", "while", "return 1 1", "local x = = 1",
	// Replies of commands.
	"return redis.call('set','str','v')", "return redis.call('get','str')", "return redis.call('get','none')", "return redis.call('get','none') == false",
	"return redis.call('incr','n')", "return redis.call('set','f',1.5)", "return redis.call('get','f')", "return redis.call('set','f',0.1)", "return redis.call('get','f')",
	"return redis.call('set','f',1e20)", "return redis.call('get','f')", "return redis.call('set','f',10)", "return redis.call('get','f')",
	"return redis.call('set','str','v').ok", "return redis.call('lpush','str','x')", "return redis.pcall('lpush','str','x')", "local e = redis.pcall('lpush','str','x') return {type(e), e.err}",
	"redis.call('lpush','str','x')", "return redis.call('rpush','list','a','b','c')", "return redis.call('lrange','list',0,-1)", "return redis.call('hset','hash','f','v')",
	"return redis.call('hgetall','hash')", "redis.setresp(3) return redis.call('hgetall','hash')", "redis.setresp(3) return redis.call('hgetall','hash').map.f",
	"redis.setresp(3) return redis.call('get','none')", "redis.setresp(3) return redis.call('get','none') == nil", "return redis.call('sadd','set','m')",
	"redis.setresp(3) return redis.call('smembers','set')", "redis.setresp(3) local r = redis.call('smembers','set') return type(r.set.m)", "return redis.call('mget','str','none','n')",
	"redis.setresp(3) return redis.call('incrbyfloat','x',1.5)", "return redis.call('type','list').ok", "return redis.call('exists','str','none')", "return redis.call('dbsize')",
	"redis.call('set','before','1') error('x')", "return redis.call('get','before')", "redis.call('set','k1','1') redis.call('set','k2','2') return redis.call('mget','k1','k2')",
	"for i=1,50 do redis.call('rpush','many',i) end return redis.call('llen','many')", "return redis.call('select','0')", "return redis.call('echo','x')",
	"redis.call('del','many') return redis.call('exists','many')", "return redis.call('expire','str',100)", "return redis.call('ttl','str')", "return redis.call('object','encoding','n')",
	"return redis.call('config','get','x')", "return {redis.call('get','str'), redis.call('nosuch')}",

	"redis.call('sadd','letters','z','aa','b','c') return redis.call('sort','letters','by','nosort')", "return redis.call('sort','letters','by','nosort','desc','limit','1','2')",
	"redis.call('mset','w_z',1,'w_b',2,'w_c',3,'w_aa',4) return redis.call('sort','letters','by','w_*','get','#','get','w_*')",
	"redis.call('set','w_b',9) return redis.pcall('sort','letters','by','w_*','get','h_*->f','desc')", "return redis.call('sort','letters','by','w_*','store','sorted')",
}

var differentialLibraries = []string{
	`return bit.tobit(0xffffffff)`, `return bit.tobit(1e10)`, `return bit.tobit(-1.5)`, `return bit.tobit(2.5)`, `return bit.bnot(5)`, `return bit.band(12,10,8)`, `return bit.bor(1,2,4)`, `return bit.bxor(6,3)`,
	`return bit.lshift(1,31)`, `return bit.lshift(1,33)`, `return bit.rshift(-1,28)`, `return bit.arshift(-256,4)`, `return bit.rol(0x12345678,12)`, `return bit.ror(0x12345678,12)`,
	`return bit.bswap(0x12345678)`, `return bit.tohex(255)`, `return bit.tohex(-1)`, `return bit.tohex(255,4)`, `return bit.tohex(255,-4)`, `return bit.tohex(255,0)`, `return bit.band()`, `return bit.bnot('x')`,
	`return bit.band('7','3')`,
	`return cjson.encode({1,2,3})`, `return cjson.encode({})`, `return cjson.encode({a=1})`, `return cjson.encode({[1]='a',[3]='c'})`, `return cjson.encode({[100]='a'})`, `return cjson.encode('a/b"\\\n\t\1\127')`,
	`return cjson.encode(1.5)`, `return cjson.encode(1e20)`, `return cjson.encode(100000000000000)`, `return cjson.encode(1e14)`, `return cjson.encode(0.1)`, `return cjson.encode(1/3)`, `return cjson.encode(-0)`, `return cjson.encode(true)`, `return cjson.encode(nil)`, `return cjson.encode(cjson.null)`,
	`return cjson.encode({cjson.null,false})`, `return cjson.encode(function() end)`, `return cjson.encode({[true]=1})`, `return cjson.encode(1/0)`, `return cjson.encode(0/0)`, `return cjson.encode()`, `return cjson.encode(1,2)`,
	`return cjson.encode({[1.5]=1})`, `return cjson.encode({a={b={c={}}}})`, `local t={} for i=1,1100 do t={t} end return cjson.encode(t)`, `cjson.encode_max_depth(3) return cjson.encode({{{{}}}})`,
	`cjson.encode_sparse_array(true) return cjson.encode({[100]='a'})`, `return cjson.encode_number_precision(3)`, `cjson.encode_number_precision(3) return cjson.encode(1/3)`,
	`cjson.encode_number_precision(14) return cjson.encode(1/3)`, `cjson.encode_sparse_array(false) return 1`, `cjson.encode_max_depth(1000) return 1`,
	`return cjson.encode_number_precision(20)`, `return cjson.decode('[1,2,3]')`, `return cjson.decode('{"a":[1,{"b":"x"}]}').a[2].b`, `return cjson.decode('"\u00e9\ud83d\ude00\n\/"')`,
	`return cjson.decode('null') == cjson.null`, `return cjson.decode('null')`, `return cjson.decode('true')`, `return cjson.decode('1.5e3')`, `return cjson.decode('-12')`, `return cjson.decode('')`, `return cjson.decode('x')`,
	`return cjson.decode('[1,')`, `return cjson.decode('[1 2]')`, `return cjson.decode('{1:2}')`, `return cjson.decode('{"a" 1}')`, `return cjson.decode('{"a":1 "b"}')`, `return cjson.decode('[1] x')`, `return cjson.decode('"abc')`,
	`return cjson.decode('"\x"')`, `return cjson.decode('"\u12"')`, `return cjson.decode('"\ud800"')`, `return cjson.decode('tru')`, `return cjson.decode('0x10')`, `return tostring(cjson.decode('inf'))`, `return cjson.decode('01')`, `return cjson.decode('-')`, `return cjson.decode('.5')`, `return cjson.decode('+5')`,
	`return cjson.decode(string.rep('[',1001)..string.rep(']',1001))`, `return #cjson.decode(string.rep('[',900)..string.rep(']',900))`, `return cjson.decode(1)`, `return cjson.decode()`, `return cjson.decode({})`, `return cjson.decode(' [ ] ')`, `return cjson.decode('{ }')`,
	`return tostring(cjson.decode('123456789012345678'))`, `return cjson.encode(cjson.decode('{"k":[]}'))`, `return cjson.encode(cjson.decode('[[],{},null]'))`, `return cjson._NAME`, `return cjson._VERSION`,
	`return cmsgpack.pack(1)`, `return cmsgpack.pack(127,128,255,256,65535,65536,4294967295,4294967296)`, `return cmsgpack.pack(-1,-32,-33,-128,-129,-32768,-32769,-2147483648,-2147483649)`, `return cmsgpack.pack(1.5,0.1,1e300)`,
	`return cmsgpack.pack('a',string.rep('x',40),string.rep('y',300))`, `return cmsgpack.pack(true,false,nil)`, `return cmsgpack.pack({1,2,3},{a=1},{})`, `return cmsgpack.pack({1,nil,3})`, `return cmsgpack.pack()`, `return cmsgpack.pack(function() end)`,
	`local t={} for i=1,20 do t[i]=i end return cmsgpack.pack(t)`, `local t={} for i=1,20 do t={t} end return cmsgpack.pack(t)`, `return cmsgpack.unpack(cmsgpack.pack({1,{a='x'},true}))`, `return {cmsgpack.unpack(cmsgpack.pack(1,2,3))}`,
	`return {cmsgpack.unpack_one(cmsgpack.pack(1,2,3))}`, `return {cmsgpack.unpack_one(cmsgpack.pack(1,2,3),1)}`, `return {cmsgpack.unpack_limit(cmsgpack.pack(1,2,3),2)}`, `return {cmsgpack.unpack_limit(cmsgpack.pack(1,2,3),2,1)}`, `return {cmsgpack.unpack_limit(cmsgpack.pack(1,2,3),-1)}`,
	`return {cmsgpack.unpack_one(cmsgpack.pack(1,2,3),-1)}`, `return {cmsgpack.unpack_one(cmsgpack.pack(1,2,3),10)}`, `return cmsgpack.unpack('\255')`, `return cmsgpack.unpack('\146\1')`, `return cmsgpack.unpack('\193')`, `return cmsgpack.unpack('\219\255\255\255\255')`, `return {cmsgpack.unpack('')}`,
	`return cmsgpack.unpack({})`, `return cmsgpack.unpack('\207\255\255\255\255\255\255\255\255')`, `return cmsgpack.unpack('\203\63\248\0\0\0\0\0\0') * 2`, `return cmsgpack.unpack('\217\3abc')`, `return cmsgpack.unpack('\196\3abc')`,
	`return struct.pack('>I4',1)`, `return struct.pack('<I4',1)`, `return struct.pack('bBhHlLTfd',1,2,3,4,5,6,7,1.5,2.5)`, `return struct.pack('!4bI4',1,2)`, `return struct.pack('!bl',1,2)`, `return struct.pack('s','abc')`, `return struct.pack('c3','abcdef')`, `return struct.pack('c0','abc')`, `return struct.pack('c5','abc')`,
	`return struct.pack('x')`, `return struct.pack('i3',-1)`, `return struct.pack('>i16',5)`, `return struct.pack('i33',1)`, `return struct.pack('z',1)`, `return struct.pack('I4')`, `return struct.pack()`, `return {struct.unpack('>I4','\0\0\1\0')}`, `return {struct.unpack('<i2h','\255\255\1\0')}`,
	`return {struct.unpack('s','abc\0def')}`, `return {struct.unpack('s','abc')}`, `return {struct.unpack('Bc0','\3abcdef')}`, `return {struct.unpack('c2','abc')}`, `return {struct.unpack('I4','ab')}`, `return {struct.unpack('B','abc',2)}`, `return {struct.unpack('B','abc',0)}`, `return {struct.unpack('B','abc',9)}`, `return {struct.unpack('c0','abc')}`,
	`return {struct.unpack('d',struct.pack('d',2.5))}`, `return struct.size('bhild')`, `return struct.size('!bhild')`, `return struct.size('s')`, `return struct.size('c0')`, `return struct.size('c10')`, `return struct.size('>!8 I4')`, `return struct.pack('!3b',1)`,
	`return struct.pack('>Ls','5','x')`, `return struct.unpack('>l', struct.pack('>l', -5))`,
}

func TestLibrariesOfScriptsAnswerAsRedis(t *testing.T) {
	differential(t, func(d *differ) {
		for _, text := range differentialLibraries {
			want, got := d.both([]string{"EVAL", text, "0"})
			if got.String() != want.String() {
				d.t.Errorf("%q:\n got %q\nwant %q", text, got, want)
			}
		}
	})
}

func TestScriptsAnswerAsRedis(t *testing.T) {
	differential(t, func(d *differ) {
		for _, text := range differentialScripts {
			want, got := d.both([]string{"EVAL", text, "0"})
			if g, w := comparableError(got), comparableError(want); g != w {
				d.t.Errorf("%q:\n got %s\nwant %s", text, g, w)
			}
		}
	})
}

// comparableError is a reply without what the compilers say of code that they cannot read.
func comparableError(v resptest.Value) string {
	s := v.String()
	if i := strings.Index(s, "Error compiling script (new function): user_script:"); i >= 0 {
		return s[:i]
	}
	return s
}

func TestScriptCommandsAnswerAsRedis(t *testing.T) {
	differential(t, func(d *differ) {
		d.run(`
EVAL
EVAL "return 1"
EVAL "return 1" x
EVAL "return 1" -1
EVAL "return 1" 2 a
EVAL "return 1" 1
EVAL "return {KEYS[1],KEYS[2],ARGV[1],#KEYS,#ARGV}" 2 a b c d
EVAL "return {KEYS,ARGV}" 0
EVAL "return ARGV" 0 "a\x00b" "\xff"
EVAL "return redis.call('set',KEYS[1],ARGV[1])" 1 k "a\x00\r\nb"
GET k
EVAL_RO "return redis.call('get',KEYS[1])" 1 k
EVAL_RO "return redis.call('set',KEYS[1],'1')" 1 k
EVAL_RO "#!lua\nreturn 1" 0
EVAL_RO "return redis.call('publish','c','m')" 0
EVAL "#!lua flags=no-writes\nreturn redis.call('publish','c','m')" 0
EVAL_RO "#!lua flags=no-writes\nreturn 1" 0
EVALSHA abc 0
EVALSHA abc x
EVALSHA ffffffffffffffffffffffffffffffffffffffff 0
EVALSHA ffffffffffffffffffffffffffffffffffffffff x
SCRIPT LOAD "return {KEYS[1],ARGV[1]}"
EVALSHA 9ce2a5d0a4a2bbd1d0b84eb1ca23ff39b5ee3b4c 1 a b
EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0
SCRIPT LOAD "return 1"
EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0
EVALSHA E0E1F9FABFC9D4800C877A703B823AC0578FF8DB 0
EVALSHA_RO e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0
SCRIPT EXISTS e0e1f9fabfc9d4800c877a703b823ac0578ff8db x E0E1F9FABFC9D4800C877A703B823AC0578FF8DB
SCRIPT EXISTS
SCRIPT FLUSH X
SCRIPT FLUSH ASYNC X
SCRIPT FLUSH ASYNC
SCRIPT EXISTS e0e1f9fabfc9d4800c877a703b823ac0578ff8db
EVAL "return 1" 0
SCRIPT EXISTS e0e1f9fabfc9d4800c877a703b823ac0578ff8db
SCRIPT FLUSH SYNC
SCRIPT FLUSH
SCRIPT KILL
SCRIPT NOSUCH
SCRIPT
SCRIPT LOAD
SCRIPT DEBUG NO
MULTI
EVAL "return redis.call('incr',KEYS[1])" 1 c
EVAL "return redis.call('incr','c')" 0
EVAL "error('x')" 0
EVALSHA ffffffffffffffffffffffffffffffffffffffff 0
INCR c
EXEC
GET c
WATCH c
EVAL "return redis.call('incr','c')" 0
MULTI
EXEC
WATCH c
EVAL "return redis.call('get','c')" 0
MULTI
EXEC
`)
	})
}
