package lua_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/resp/script/lua"
)

// library runs a chunk in a new state with all libraries. Print collects lines; result is the
// text of what the chunk returns or raises.
func library(t testing.TB, limit int, stop <-chan struct{}, chunk string) (lines, result string, err error) {
	t.Helper()
	var out bytes.Buffer
	s := newState(limit)
	s.Setup(func(t *lua.Thread) {
		t.SetField(s.Globals(), "print", t.NewFunction(func(t *lua.Thread) int {
			for i := 1; i <= t.NArgs(); i++ {
				out.WriteString(t.ToStringMeta(t.Arg(i)).Text())
				out.WriteByte("\t\n"[i/t.NArgs()])
			}
			return 0
		}))
	})
	p, err := lua.Compile(chunk, "=stdin")
	if err != nil {
		t.Fatal(err)
	}
	if stop != nil {
		done := make(chan struct{})
		defer func() { <-done }()
		ended := make(chan struct{})
		defer close(ended)
		go func() {
			defer close(done)
			select {
			case <-stop:
				s.Stop(errStopped)
			case <-ended:
			}
		}()
	}
	v, _, err := s.Run(s.Closure(p), nil, func(*lua.Thread) {})
	return out.String(), s.Main().ToText(v), err
}

var errStopped = errors.New("stopped")

// prelude has the functions that cases are shown with.
const prelude = `
local show
function show(...)
	local t = {}
	for i = 1, select('#', ...) do
		local v = select(i, ...)
		if type(v) == 'string' then
			v = '"' .. string.gsub(v, '[%c\127-\255"\\]', function(c) return string.format('\\%d', string.byte(c)) end) .. '"'
		elseif type(v) == 'number' then
			v = string.format('%.17g', v)
		elseif type(v) == 'table' then
			local u = {}
			for k, x in pairs(v) do u[#u + 1] = tostring(k) .. '=' .. show(x) end
			v = '{' .. table.concat(u, ' ') .. '}'
		end
		t[i] = tostring(v)
	end
	return table.concat(t, ' ')
end
local function result(ok, ...)
	if ok then return show(...) end
	return 'error: ' .. string.gsub(tostring((...)), '^stdin:%d+: ', '')
end
`

// libraryCases are expressions and what they result in, as lua5.1 shows it.
var libraryCases = [][2]string{
	{`string.byte('hello')`, `104`},
	{`string.byte('hello', -1)`, `111`},
	{`string.byte('hello', 2, 4)`, `101 108 108`},
	{`string.byte('hello', 10)`, ``},
	{`string.byte('hello', 0)`, ``},
	{`string.byte('hello', -100, 2)`, `104 101`},
	{`string.byte(string.rep('a', 9000), 1, -1)`, `error: stack overflow (string slice too long)`},
	{`select('#', string.byte(string.rep('a', 9000), 1, 7997))`, `7997`},
	{`string.byte(string.rep('a', 9000), 1, 7998)`, `error: stack overflow (string slice too long)`},
	{`string.char()`, `""`},
	{`string.char(104, 105, 0, 255)`, `"hi\0\255"`},
	{`string.char(256)`, `error: bad argument #1 to 'char' (invalid value)`},
	{`string.char(-1)`, `error: bad argument #1 to 'char' (invalid value)`},
	{`string.char('65', 66.9)`, `"AB"`},
	{`string.char(2^32 + 65)`, `"A"`},
	{`string.dump(string.len)`, `error: unable to dump given function`},
	{`string.len('a\0b')`, `3`},
	{`string.len(12)`, `2`},
	{`string.lower('ABCxyz\192 1')`, `"abcxyz\192 1"`},
	{`string.upper('abcXYZ\224 1')`, `"ABCXYZ\224 1"`},
	{`string.reverse('abc')`, `"cba"`},
	{`string.reverse('')`, `""`},
	{`string.rep('ab', 3)`, `"ababab"`},
	{`string.rep('ab', 0)`, `""`},
	{`string.rep('ab', -1)`, `""`},
	{`string.rep('', 1e9)`, `""`},
	{`string.rep('x', 2^32 + 2)`, `"xx"`},
	{`string.sub('hello', 2)`, `"ello"`},
	{`string.sub('hello', -3, -2)`, `"ll"`},
	{`string.sub('hello', 0)`, `"hello"`},
	{`string.sub('hello', 4, 2)`, `""`},
	{`string.sub('hello', -100, 100)`, `"hello"`},
	{`string.sub('hello', 2^53, -2^53)`, `""`},
	{`string.sub('hello', 1/0)`, `"hello"`},
	{`string.sub(12345, 2, 3)`, `"23"`},
	{`('x'):rep(3)`, `"xxx"`},
	{`('%d'):format(3)`, `"3"`},
	{`#'abc'`, `3`},
	{`string.gfind == string.gmatch`, `true`},
	{`string.format('%d %i %5d|%-5d|%05d|%+d|% d', 1, 2, 3, 4, 5, 6, 7)`, `"1 2     3|4    |00005|+6| 7"`},
	{`string.format('%d %d %d %d', 2^31, -2^63, 2^63, 0/0)`, `"2147483648 -9223372036854775808 -9223372036854775808 -9223372036854775808"`},
	{`string.format('%u %u %u %u', -1, 2^63, 2^64, 1/0)`, `"18446744073709551615 9223372036854775808 0 0"`},
	{`string.format('%o %#o %x %#x %X %#X %#.3x', 8, 8, 255, 255, 255, 255, 255)`, `"10 010 ff 0xff FF 0XFF 0x0ff"`},
	{`string.format('%.0d|%.d|%5.3d|%-8.3d|%08.3d|', 0, 0, 7, 7, 7)`, `"||  007|007     |     007|"`},
	{`string.format('%e %E %.0e %#.0e', 12345.678, 0.00012, 5, 5)`, `"1.234568e+04 1.200000E-04 5e+00 5.e+00"`},
	{`string.format('%f %.0f %#.0f %10.2f|%-10.2f|%010.2f', 1/3, 0.5, 1, 2.5, 2.5, -2.5)`, `"0.333333 0 1.       2.50|2.50      |-000002.50"`},
	{`string.format('%g %g %g %g %G', 100000, 1e6, 1e-4, 1e-5, 1e-10)`, `"100000 1e+06 0.0001 1e-05 1E-10"`},
	{`string.format('%#g %#.3g %#g %#g', 1, 100, 0, 1e20)`, `"1.00000 100. 0.00000 1.00000e+20"`},
	{`string.format('%.14g %.17g %.99f', 0.1, 0.1, 0.1)`, `"0.1 0.10000000000000001 0.100000000000000005551115123125782702118158340454101562500000000000000000000000000000000000000000000"`},
	{`string.format('%f %F', 1, 1)`, `error: invalid option '%F' to 'format'`},
	{`string.format('%.3f', 1/0) .. string.format('%5.1f|%+f|% f|%05f|%-8f|%G', 1/0, 1/0, 1/0, -1/0, 0/0, 1/0)`, `"inf  inf|+inf| inf| -inf|-nan    |INF"`},
	{`string.format('%c%c%5c|%-5c|', 65, 66.9, 67, 68)`, `"AB    C|D    |"`},
	{`string.format('a%cb', 0)`, `"ab"`},
	{`string.format('%s %s %5s|%-5s|%.2s|%5.1s', 'a', 1.5, 'b', 'c', 'def', 'xyz')`, `"a 1.5     b|c    |de|    x"`},
	{`string.format('%s|%5s', 'a\0b', 'a\0b')`, `"a|    a"`},
	{`#string.format('%s', string.rep('a\0', 60))`, `120`},
	{`#string.format('%200s', 'x')`, `error: invalid format (width or precision too long)`},
	{`#string.format('%99s', string.rep('x', 100))`, `100`},
	{`string.format('%q', 'a"b\\c\nd\re\0f\255')`, `"\34a\92\34b\92\92c\92\10d\92re\92000f\255\34"`},
	{`string.format('%%')`, `"%"`},
	{`string.format('%5%', 1)`, `error: invalid option '%%' to 'format'`},
	{`string.format('%')`, `error: bad argument #2 to 'format' (no value)`},
	{`string.format('%', 1)`, `error: invalid option '%' to 'format'`},
	{`string.format('%y', 1)`, `error: invalid option '%y' to 'format'`},
	{`string.format('%10q', 'x')`, `"\34x\34"`},
	{`string.format('%d')`, `error: bad argument #2 to 'format' (no value)`},
	{`string.format('%d', 'x')`, `error: bad argument #2 to 'format' (number expected, got string)`},
	{`string.format('%d', '0x10')`, `"16"`},
	{`string.format('%s', {})`, `error: bad argument #2 to 'format' (string expected, got table)`},
	{`string.format('%s', nil)`, `error: bad argument #2 to 'format' (string expected, got nil)`},
	{`string.format('%-+ #0d', 1)`, `"+1"`},
	{`string.format('%-+ #00d', 1)`, `error: invalid format (repeated flags)`},
	{`string.format('%123d', 1)`, `error: invalid format (width or precision too long)`},
	{`string.format('%.123d', 1)`, `error: invalid format (width or precision too long)`},
	{`string.format('a\0%d\0b', 1)`, `"a\01\0b"`},
	{`string.find('hello', 'l')`, `3 3`},
	{`string.find('hello', 'xyz')`, `nil`},
	{`string.find('hello', '')`, `1 0`},
	{`string.find('hello', '', 10)`, `6 5`},
	{`string.find('hello', '', 6)`, `6 5`},
	{`string.find('hello', 'l', -2)`, `4 4`},
	{`string.find('a.b', '.', 2, true)`, `2 2`},
	{`string.find('a+b', '+', 1, true)`, `2 2`},
	{`string.find('a\0b', '\0')`, `2 2`},
	{`string.find('a\0b', '%z')`, `2 2`},
	{`string.find('ab', 'b\0c')`, `nil`},
	{`string.find('ab', 'b.\0c')`, `nil`},
	{`string.find('hello', '(l)(l)')`, `3 4 "l" "l"`},
	{`string.find('hello', '()ll()')`, `3 4 3 5`},
	{`string.match('key = value', '(%w+)%s*=%s*(%w+)')`, `"key" "value"`},
	{`string.match('2024-01-02', '^(%d+)-(%d+)-(%d+)$')`, `"2024" "01" "02"`},
	{`string.match('hello', '^ell')`, `nil`},
	{`string.match('hello', 'l+', 4)`, `"l"`},
	{`string.match('hello', '.-l')`, `"hel"`},
	{`string.match('hello', '.*l')`, `"hell"`},
	{`string.match('[[x]]', '%[%[(.-)%]%]')`, `"x"`},
	{`string.match('f(a(b)c)d', '%b()')`, `"(a(b)c)"`},
	{`string.match('THE (quick) fox', '%f[%a]%a+%f[%A]')`, `"THE"`},
	{`string.match('abcabc', '(abc)%1')`, `"abc"`},
	{`string.match('x', '()')`, `1`},
	{`string.match('  trim  ', '^%s*(.-)%s*$')`, `"trim"`},
	{`string.match('a-b', '[a%-]+')`, `"a-"`},
	{`string.match(']x', '[]]')`, `"]"`},
	{`string.match('^x', '[x^]+')`, `"^x"`},
	{`string.match('az', '[a-]+')`, `"a"`},
	{`string.match('\200\201', '[\128-\255]+')`, `"\200\201"`},
	{`string.match('abc', '[^%s]*$')`, `"abc"`},
	{`string.match('a$b', 'a$b')`, `"a$b"`},
	{`string.match('0x1F', '%x+', 3)`, `"1F"`},
	{`string.match('aaa', 'a?a?a?a?')`, `"aaa"`},
	{`string.match('abc', '((a)(b)(c))')`, `"abc" "a" "b" "c"`},
	{`string.match(string.rep('a', 40), string.rep('(a)', 33))`, `error: too many captures`},
	{`string.match('a', '%')`, `error: malformed pattern (ends with '%')`},
	{`string.match('a', '[a')`, `error: malformed pattern (missing ']')`},
	{`string.match('a', '[a%')`, `error: malformed pattern (missing ']')`},
	{`string.match('a', '[]')`, `error: malformed pattern (missing ']')`},
	{`string.match('a', '(')`, `error: unfinished capture`},
	{`string.match('a', ')')`, `error: invalid pattern capture`},
	{`string.match('a', '(a')`, `error: unfinished capture`},
	{`string.match('a', '%1')`, `error: invalid capture index`},
	{`string.match('a', '(a%1)')`, `error: invalid capture index`},
	{`string.match('a', '%0')`, `error: invalid capture index`},
	{`string.match('a', '%f')`, `error: missing '[' after '%f' in pattern`},
	{`string.match('a', '%b')`, `error: unbalanced pattern`},
	{`string.match('b', 'a[')`, `nil`},
	{`string.gsub('hello', 'l', 'L')`, `"heLLo" 2`},
	{`string.gsub('hello', 'l', 'L', 1)`, `"heLlo" 1`},
	{`string.gsub('hello', 'l', 'L', 0)`, `"hello" 0`},
	{`string.gsub('hello', 'l', 'L', 2^32)`, `"hello" 0`},
	{`string.gsub('hello', '', '-')`, `"-h-e-l-l-o-" 6`},
	{`string.gsub('abc', '%w*', 'x')`, `"xx" 2`},
	{`string.gsub('hello world', '(%w+) (%w+)', '%2 %1')`, `"world hello" 1`},
	{`string.gsub('abc', '%w', '%0%0')`, `"aabbcc" 3`},
	{`string.gsub('abc', '%w', '%1')`, `"abc" 3`},
	{`string.gsub('abc', '(%w)', '%2')`, `error: invalid capture index`},
	{`string.gsub('abc', 'b', '%%')`, `"a%c" 1`},
	{`string.gsub('abc', 'b', '%x')`, `"axc" 1`},
	{`string.gsub('abc', 'b', 'x%')`, `"ax\0c" 1`},
	{`string.gsub('abc', '()', '%1')`, `"1a2b3c4" 4`},
	{`string.gsub('abc', '^a', 'x')`, `"xbc" 1`},
	{`string.gsub('aaa', '^a', 'x')`, `"xaa" 1`},
	{`string.gsub('abc', '%w', {a = 1, b = true, c = false})`, `error: invalid replacement value (a boolean)`},
	{`string.gsub('abc', '%w', {a = 'x'})`, `"xbc" 3`},
	{`string.gsub('abc', '(%w)', function(c) if c == 'b' then return '[' .. c .. ']' end end)`, `"a[b]c" 3`},
	{`string.gsub('abc', '()', function(n) return n end, 2)`, `"1a2bc" 2`},
	{`string.gsub('abc', '%w', function() return {} end)`, `error: invalid replacement value (a table)`},
	{`string.gsub('abc', '%w', setmetatable({}, {__index = function(_, k) return k .. k end}))`, `"aabbcc" 3`},
	{`string.gsub('abc', 'b', 5)`, `"a5c" 1`},
	{`string.gsub('abc', 'b')`, `error: bad argument #3 to 'gsub' (string/function/table expected)`},
	{`string.gsub('abc', 'b', true)`, `error: bad argument #3 to 'gsub' (string/function/table expected)`},
	{`string.gsub('abc', '(b', 'x')`, `"axc" 1`},
	{`string.gsub('abc', 'b', error)`, `error: b`},
	{`string.gsub()`, `error: bad argument #1 to 'gsub' (string expected, got no value)`},
	{`(function() local t = {} for k, v in string.gmatch('a=1, b=2', '(%w+)=(%w+)') do t[#t + 1] = k .. v end return table.concat(t, ' ') end)()`, `"a1 b2"`},
	{`(function() local t = {} for w in string.gmatch('one two', '%a+') do t[#t + 1] = w end return table.concat(t, '|') end)()`, `"one|two"`},
	{`(function() local n = 0 for _ in string.gmatch('abc', '') do n = n + 1 end return n end)()`, `4`},
	{`(function() local t = {} for w in string.gmatch('^a^a', '^a') do t[#t + 1] = w end return table.concat(t, '|') end)()`, `"^a|^a"`},
	{`string.gmatch('a')`, `error: bad argument #2 to 'gmatch' (string expected, got no value)`},
	{`table.concat({1, 2, 3})`, `"123"`},
	{`table.concat({1, 'x', 2.5}, ', ')`, `"1, x, 2.5"`},
	{`table.concat({}, 'x')`, `""`},
	{`table.concat({1, 2, 3}, '-', 2)`, `"2-3"`},
	{`table.concat({1, 2, 3}, '-', 2, 3)`, `"2-3"`},
	{`table.concat({1, 2, 3}, '-', 3, 2)`, `""`},
	{`table.concat({1, {}, 3})`, `error: invalid value (table) at index 2 in table for 'concat'`},
	{`table.concat({1, 2, 3}, '-', 1, 4)`, `error: invalid value (nil) at index 4 in table for 'concat'`},
	{`table.concat({1, 2}, {})`, `error: bad argument #2 to 'concat' (string expected, got table)`},
	{`table.concat(1)`, `error: bad argument #1 to 'concat' (table expected, got number)`},
	{`(function() local t = {1, 2} table.insert(t, 3) table.insert(t, 1, 0) return t, #t end)()`, `{1=0 2=1 3=2 4=3} 4`},
	{`(function() local t = {1, 2} table.insert(t, 5, 'x') return t end)()`, `{1=1 2=2 5="x"}`},
	{`(function() local t = {1, 2} table.insert(t, -1, 'x') return t end)()`, `{3=2 2=1 -1="x"}`},
	{`table.insert({}, 1, 2, 3)`, `error: wrong number of arguments to 'insert'`},
	{`table.insert({})`, `error: wrong number of arguments to 'insert'`},
	{`table.insert({}, 'x', 2)`, `error: bad argument #2 to 'insert' (number expected, got string)`},
	{`table.insert(nil, 2)`, `error: bad argument #1 to 'insert' (table expected, got nil)`},
	{`(function() local t = {1, 2, 3} return table.remove(t), table.remove(t, 1), t, #t end)()`, `3 1 {1=2} 1`},
	{`table.remove({})`, ``},
	{`table.remove({1, 2, 3}, 7)`, ``},
	{`table.remove({1, 2, 3}, 0)`, ``},
	{`table.getn({1, 2, 3})`, `3`},
	{`table.maxn({1, 2, [10] = 3, [3.5] = 1, [-1] = 2})`, `10`},
	{`table.maxn({})`, `0`},
	{`table.setn({}, 3)`, `error: 'setn' is obsolete`},
	{`table.foreach({10, 20}, function(k, v) if k == 2 then return v end end)`, `20`},
	{`table.foreachi({10, 20}, function(k, v) if k == 2 then return v end end)`, `20`},
	{`table.foreach({}, 1)`, `error: bad argument #2 to 'foreach' (function expected, got number)`},
	{`(function() local t = {3, 1, 2} table.sort(t) return t end)()`, `{1=1 2=2 3=3}`},
	{`(function() local t = {'b', 'a', 'c'} table.sort(t, function(a, b) return a > b end) return t end)()`, `{1="c" 2="b" 3="a"}`},
	{`(function() local t, n = {}, {} for i = 1, 12 do t[i] = i * 7 % 13 end table.sort(t, function(a, b) n[#n + 1] = a .. '<' .. b return a < b end) return table.concat(n, ' ') end)()`, `"6<7 3<6 1<6 8<6 6<5 2<6 9<6 6<11 6<4 12<6 6<10 6<12 6<4 4<3 5<3 4<5 1<4 2<4 4<4 4<2 2<3 1<2 7<10 11<7 10<11 9<10 12<10 10<8 12<10 10<8 11<12 8<7 9<7 8<9"`},
	{`(function() local t = {} for i = 1, 9 do t[i] = i end table.sort(t, function(a, b) return true end) return t end)()`, `error: invalid order function for sorting`},
	{`(function() local t = {} for i = 1, 9 do t[i] = i end table.sort(t, function(a, b) return (a or 0) <= (b or 0) end) return t end)()`, `{1=1 2=2 3=3 4=4 5=5 6=6 7=7 8=8 9=9}`},
	{`table.sort({1, 'x'})`, `error: attempt to compare string with number`},
	{`table.sort({1, {}, 2})`, `error: attempt to compare table with number`},
	{`table.sort({{}, {}})`, `error: attempt to compare two table values`},
	{`table.sort({1, 2}, 3)`, `error: bad argument #2 to 'sort' (function expected, got number)`},
	{`math.abs(-2.5) + math.ceil(1.2) + math.floor(-1.2)`, `2.5`},
	{`math.max(1, 5, 3) - math.min(4, 2, 8)`, `3`},
	{`math.max()`, `error: bad argument #1 to 'max' (number expected, got no value)`},
	{`math.fmod(7, 3) .. ' ' .. math.fmod(-7, 3) .. ' ' .. math.mod(7, -3)`, `"1 -1 1"`},
	{`tostring(math.fmod(1, 0)) .. ' ' .. tostring(math.sqrt(-1)) .. ' ' .. tostring(math.log(-1)) .. ' ' .. tostring(math.log10(-1)) .. ' ' .. tostring(math.acos(2))`, `"-nan -nan -nan nan nan"`},
	{`math.fmod(1)`, `error: bad argument #2 to 'fmod' (number expected, got no value)`},
	{`math.fmod()`, `error: bad argument #2 to 'fmod' (number expected, got no value)`},
	{`math.modf(3.7)`, `3 0.70000000000000018`},
	{`math.modf(-3.7)`, `-3 -0.70000000000000018`},
	{`(function() local z = 0 return 1 / -(0) end)()`, `inf`},
	{`(function() return -0 + 1/0 end)()`, `inf`},
	{`(function() return -0 <= -1/0 end)()`, `true`},
	{`(function() return 1 / -(0), (2) + (3) end)()`, `-inf 5`},
	{`math.modf(-1/0)`, `-inf -0`},
	{`math.frexp(10)`, `0.625 4`},
	{`math.frexp(0)`, `0 0`},
	{`math.ldexp(0.5, 4)`, `8`},
	{`math.ldexp(1, -1074)`, `4.9406564584124654e-324`},
	{`math.ldexp(1, 2^31)`, `0`},
	{`math.pow(2, 10)`, `1024`},
	{`math.pow(2, 0.5)`, `1.4142135623730951`},
	{`math.pow(10, -2)`, `0.01`},
	{`math.pow(1.1, 10)`, `2.5937424601000023`},
	{`tostring(math.pow(-8, 1/3)) .. ' ' .. math.pow(0, 0) .. ' ' .. math.pow(1, 0/0)`, `"-nan 1 1"`},
	{`math.sqrt(2)`, `1.4142135623730951`},
	{`math.exp(1)`, `2.7182818284590451`},
	{`math.exp(10.5)`, `36315.502674246636`},
	{`math.log(10)`, `2.3025850929940459`},
	{`math.log10(1000)`, `3`},
	{`math.log10(1e-15)`, `-15`},
	{`math.log10(801917)`, `5.9041294202699834`},
	{`math.deg(math.pi)`, `180`},
	{`math.rad(180)`, `3.1415926535897931`},
	{`math.pi`, `3.1415926535897931`},
	{`math.huge`, `inf`},
	{`math.random(0)`, `error: bad argument #1 to 'random' (interval is empty)`},
	{`tonumber('101', 2^32 + 2)`, `5`},
	{`(function() local t = {3, 1, 2, 1/0, -1/0, 0.5} table.sort(t) return unpack(t) end)()`, `-inf 0.5 1 2 3 inf`},
	{`(function() local t = {'b', 'a\0b', 'a', '', 'a\255'} table.sort(t) return unpack(t) end)()`, `"" "a" "a\0b" "a\255" "b"`},
	{`(function() local z = 0 local t = {0, -1, -z, 1, 0} table.sort(t) for i, v in ipairs(t) do t[i] = 1 / v end return unpack(t) end)()`, `-1 inf -inf inf 1`},
	{`(function() local t = {} for i = 1, 5 do table.insert(t, i) end table.insert(t, 2, 9) return table.remove(t), table.remove(t, 1), #t, unpack(t) end)()`, `5 1 4 9 2 3 4`},
	{`select('#', unpack({}, 1, 7997))`, `7997`},
	{`unpack({}, 1, 7998)`, `error: too many results to unpack`},
	{`loadstring(string.dump(function() end))`, `nil "[string \34\27LuaQ\34]:1: unexpected symbol near 'char(27)'"`},
	{`error('x', 2^32)`, `error: x`},
	{`math.random(5, 4)`, `error: bad argument #2 to 'random' (interval is empty)`},
	{`math.random(1, 2, 3)`, `error: wrong number of arguments`},
	{`math.sin()`, `error: bad argument #1 to 'sin' (number expected, got no value)`},
	{`math.sin({})`, `error: bad argument #1 to 'sin' (number expected, got table)`},
}

func TestLibrariesHaveTheResultsOfLua51(t *testing.T) {
	for _, c := range libraryCases {
		_, got, err := library(t, 64<<20, nil, prelude+"return result(pcall(function() return "+c[0]+" end))")
		if err != nil || got != c[1] {
			t.Errorf("%s\ngot  %s %v\nwant %s", c[0], got, err, c[1])
		}
	}
}

// The programs of testdata try many arguments, most of them odd, and print all results.
func TestLibrariesPrintAsLua51(t *testing.T) {
	path, err := exec.LookPath("lua5.1")
	if err != nil {
		t.Skip("there is no lua5.1")
	}
	for _, name := range []string{"patterns", "strings", "tables"} {
		t.Run(name, func(t *testing.T) {
			source, err := os.ReadFile("testdata/" + name + ".lua")
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, path, "-")
			cmd.Stdin = bytes.NewReader(source)
			want, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			got, result, err := library(t, 256<<20, nil, string(source))
			if err != nil || result != "nil" {
				t.Fatal(result, err)
			}
			gotLines, wantLines := strings.Split(got, "\n"), strings.Split(string(want), "\n")
			for i := range wantLines {
				if i >= len(gotLines) || gotLines[i] != wantLines[i] {
					t.Fatalf("line %d\ngot  %q\nwant %q", i+1, gotLines[min(i, len(gotLines)-1)], wantLines[i])
				}
			}
		})
	}
}

// Each of these takes seconds to years.
var endlessChunks = []string{
	`return string.find(string.rep('a', 3000), '.-.-.-.-b')`,
	`return string.match(string.rep('a', 3000), '(.-)(.-)(.-)(.-)b')`,
	`return string.match(string.rep('a', 3000), '.*.*.*.*b')`,
	`return string.match(string.rep('a', 3000), 'a*a*a*a*[b]')`,
	`return string.gsub(string.rep('a', 100000), '.-b', 'x')`,
	`return string.gsub(string.rep('(', 100000), '%b()', 'x')`,
	`for i = 1, 1e9 do string.find(string.rep('a', 1e6), 'b') end`,
	`for i = 1, 1e9 do string.upper(string.rep('a', 1e6)) end`,
	`for i = 1, 1e9 do string.reverse(string.rep('a', 1e6)) end`,
	`local t = {} for i = 1, 1e5 do t[i] = 'x' end for i = 1, 1e9 do table.concat(t, ',') end`,
	`local t = {} for i = 1, 1e5 do t[i] = i end while true do table.sort(t, function() return true end) end`,
	`local t = {} for i = 1, 1e5 do t[i] = i % 10 end while true do table.sort(t) end`,
	`table.insert({}, -2147483648, 1)`,
	`local t = {} for i = 1, 1e5 do t[i] = i end while true do table.insert(t, 1, 0) table.remove(t, 1) end`,
	`local t = {} for i = 1, 1e6 do t[i] = i end while true do table.maxn(t) end`,
	`while true do string.format('%s%d', string.rep('x', 1e5), 1) end`,
	`while true do string.byte(string.rep('x', 7000), 1, -1) end`,
	`while true do for w in string.gmatch(string.rep('x', 1e5), '.') do end end`,
}

func TestLibrariesEndWhenTheStateStops(t *testing.T) {
	for _, chunk := range endlessChunks {
		stop := make(chan struct{})
		time.AfterFunc(10*time.Millisecond, func() { close(stop) })
		if _, result, err := library(t, 256<<20, stop, "while true do pcall(function() "+chunk+" end) end"); !errors.Is(err, errStopped) {
			t.Errorf("%s: %s %v", chunk, result, err)
		}
	}
}

// What would take memory without bound ends with an error, most of them before it takes any.
func TestLibrariesRespectTheLimitOfMemory(t *testing.T) {
	for _, chunk := range []string{
		`return string.rep('x', 2147483647)`,
		`return string.rep(string.rep('x', 1e6), 1000)`,
		`local s = 'x' while true do s = s .. s s = string.upper(s) end`,
		`local t = {} for i = 1, 1e6 do t[i] = string.sub(string.rep('x', 1e6), 2, 500000 + i) end`,
		`local t = {} for i = 1, 1e6 do t[i] = string.gmatch(string.rep('x', 1e6) .. i, 'x') end`,
		`local s = string.rep('x', 1e5) return string.gsub(s, 'x', s)`,
		`local t = {} for i = 1, 1000 do t[i] = string.rep('x', 1e5) end return table.concat(t)`,
		`return string.format(string.rep('%s', 200), unpack((function() local t, s = {}, string.rep('x', 1e6) for i = 1, 200 do t[i] = s end return t end)()))`,
		`return string.match(string.rep('a', 1e6), string.rep('a?', 1e6))`,
	} {
		_, result, err := library(t, 32<<20, nil, chunk)
		if !errors.Is(err, lua.ErrMemory) && !strings.Contains(result, "pattern too complex") {
			t.Errorf("%s: %.100s %v", chunk, result, err)
		}
	}
}

// A part of a text must not keep the whole of it: this holds some 2 MB.
func TestPartsOfTextsAreCopied(t *testing.T) {
	_, result, err := library(t, 32<<20, nil, `local t = {}
		for i = 1, 200 do
			local s = string.rep('x', 1e6)
			t[i] = {string.sub(s, 2, 100), string.match(s, 'x', 5), string.gsub(s, '.*(xx)$', '%1')}
		end
		return #t`)
	if err != nil || result != "200" {
		t.Error(result, err)
	}
}

// random has the first numbers of Redis, whose generator begins in the same way each time.
func TestRandomNumbersAreThoseOfRedis(t *testing.T) {
	for chunk, want := range map[string]string{
		`math.randomseed(0) return string.format('%.17g %.17g', math.random(), math.random())`:                         "0.1708280361121651 0.74990198051086721",
		`math.randomseed(42) return string.format('%d %d %d', math.random(100), math.random(100), math.random(-5, 5))`: "75 35 -4",
		`math.randomseed(-1.5) return string.format('%d', math.random(1000000))`:                                       "300026",
	} {
		if _, got, err := library(t, 1<<20, nil, chunk); err != nil || got != want {
			t.Errorf("%s: %s %v", chunk, got, err)
		}
	}
}

// FuzzPattern matches any text with any pattern: there is a result or an error, in bounded time.
func FuzzPattern(f *testing.F) {
	for _, c := range [][2]string{{"hello world", "(%w+) (%w+)"}, {"a(b)c", "%b()"}, {"x=1", "^(.-)=(.*)$"}, {"THE fox", "%f[%a]%a+"}, {"a\x00b", "[%z-\xff]*"}, {"aa", "(a)%1()"}} {
		f.Add(c[0], c[1], "%1")
	}
	var src, pat, with string
	s := newState(16 << 20)
	s.Setup(func(t *lua.Thread) {
		t.SetField(s.Globals(), "input", t.NewFunction(func(t *lua.Thread) int {
			t.PushString(src)
			t.PushString(pat)
			t.PushString(with)
			return 3
		}))
	})
	p, err := lua.Compile(`local s, p, r = input()
		local ok, from, to = pcall(string.find, s, p)
		if ok and from and not (from >= 1 and to >= from - 1 and to <= #s) then return 'find' end
		local found, first = pcall(string.match, s, p)
		local plain = not string.find(string.match(p, '^[^%z]*'), '[%^%$%*%+%?%.%(%[%%%-]') -- find does not look at these as a pattern
		if plain then found, first = ok, from end
		if found ~= ok or ok and (from == nil) ~= (first == nil) then return 'match' end
		local ok, whole, n = pcall(string.gsub, s, p, '%0')
		if ok and whole ~= s then return 'gsub' end
		pcall(string.gsub, s, p, r)
		pcall(function() for _ in string.gmatch(s, p) do end end)
		pcall(string.format, p, s, s, s)
		pcall(string.format, p, 1, 2, 3)
		return 'fine'`, "=x")
	if err != nil {
		f.Fatal(err)
	}
	chunk := s.Closure(p)
	f.Fuzz(func(t *testing.T, a, b, c string) {
		src, pat, with = a[:min(len(a), 200)], b[:min(len(b), 30)], c[:min(len(c), 30)]
		timer := time.AfterFunc(time.Second, func() { s.Stop(errStopped) })
		v, failed, err := s.Run(chunk, nil, func(*lua.Thread) {})
		if !timer.Stop() || err != nil {
			s.Continue()
			return
		}
		if failed || s.Main().ToText(v) != "fine" {
			t.Errorf("%q %q %q: %s", src, pat, with, s.Main().ToText(v))
		}
	})
}
