package luaext_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/resp/script/lua"
	"github.com/ringside-kv/ringside/resp/script/luaext"
)

// newState returns a state with all libraries that scripts have.
func newState(limit int) *lua.State {
	s := lua.NewState(limit)
	s.Setup(func(t *lua.Thread) {
		g := s.Globals()
		lua.OpenBase(t, g)
		for name, open := range map[string]func(*lua.Thread) *lua.Table{
			"string": lua.OpenString, "table": lua.OpenTable, "math": lua.OpenMath,
			"bit": luaext.OpenBit, "struct": luaext.OpenStruct, "cmsgpack": luaext.OpenMsgpack,
		} {
			t.SetField(g, name, open(t).Value())
		}
		t.SetField(g, "cjson", luaext.OpenJSON(t, new(luaext.JSONSettings)).Value())
	})
	return s
}

// run returns the text of what a chunk returns or raises.
func run(t testing.TB, s *lua.State, chunk string) (result string, err error) {
	t.Helper()
	p, err := lua.Compile(chunk, "@user_script")
	if err != nil {
		t.Fatal(err)
	}
	v, _, err := s.Run(s.Closure(p), nil, func(*lua.Thread) {})
	return s.Main().ToText(v), err
}

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
	return 'error: ' .. string.gsub(string.gsub(tostring((...)), '^[%w_]+:%d+: ', ''), '[%c\127-\255]', '?')
end
`

// cases are expressions and what they result in, as Redis 7.0.15 shows it.
var cases = [][2]string{
	{`bit.tobit(0xffffffff)`, `-1`},
	{`bit.tobit(0xffffffff + 1)`, `0`},
	{`bit.tobit(2^40 + 1234)`, `1234`},
	{`bit.tobit(-1.5)`, `-2`},
	{`bit.tobit(2.5)`, `2`},
	{`bit.tobit(1/0)`, `0`},
	{`bit.tobit('0x10')`, `16`},
	{`bit.tobit()`, `error: bad argument #1 to 'tobit' (number expected, got no value)`},
	{`bit.tobit({})`, `error: bad argument #1 to 'tobit' (number expected, got table)`},
	{`bit.tohex(1)`, `"00000001"`},
	{`bit.tohex(-1)`, `"ffffffff"`},
	{`bit.tohex(0x12abcdef, -4)`, `"CDEF"`},
	{`bit.tohex(0x12abcdef, 100)`, `"12abcdef"`},
	{`bit.tohex(255, -2^31)`, `"000000FF"`},
	{`bit.tohex(255, 0)`, `""`},
	{`bit.bnot(0)`, `-1`},
	{`bit.band(0x12345678, 0xff, 0xf0)`, `112`},
	{`bit.bor(1, 2, 4, 8)`, `15`},
	{`bit.bxor(0xa5a5f0f0, 0xaa55ff00)`, `267390960`},
	{`bit.band(1, {})`, `error: bad argument #2 to 'band' (number expected, got table)`},
	{`bit.lshift(1, 31)`, `-2147483648`},
	{`bit.lshift(1, 32)`, `1`},
	{`bit.rshift(-256, 8)`, `16777215`},
	{`bit.arshift(-256, 8)`, `-1`},
	{`bit.rol(0x12345678, 12)`, `1164411171`},
	{`bit.ror(0x12345678, 12)`, `1736516421`},
	{`bit.bswap(0x12345678)`, `2018915346`},
	{`struct.pack('>I2i4', 1, -2)`, `"\0\1\255\255\255\254"`},
	{`struct.pack('<I2i4', 1, -2)`, `"\1\0\254\255\255\255"`},
	{`struct.pack('bBhHlLT', 1, 2, 3, 4, 5, 6, 7)`, `"\1\2\3\0\4\0\5\0\0\0\0\0\0\0\6\0\0\0\0\0\0\0\7\0\0\0\0\0\0\0"`},
	{`struct.pack('>fd', 1.5, -2.25)`, `"?\192\0\0\192\2\0\0\0\0\0\0"`},
	{`struct.pack('s', 'abc')`, `"abc\0"`},
	{`struct.pack('c0c2', 'abc', 'xyz')`, `"abcxy"`},
	{`struct.pack('c5', 'abc')`, `error: bad argument #3 to 'pack' (string too short)`},
	{`struct.pack('!4bi', 1, 2)`, `"\1\0\0\0\2\0\0\0"`},
	{`struct.pack('!bd', 1, 2)`, `"\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0@"`},
	{`struct.pack('!8bi3', 1, 2)`, `"\1\0\0\2\0\0"`},
	{`struct.pack('!3', 1)`, `error: alignment 3 is not a power of 2`},
	{`struct.pack('xx')`, `"\0\0"`},
	{`struct.pack('i33', 1)`, `error: integral size 33 is larger than limit of 32`},
	{`struct.pack('i99999999999', 1)`, `error: integral size overflow`},
	{`struct.pack('>I16', 5)`, `"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\5"`},
	{`struct.pack('y', 1)`, `error: bad argument #1 to 'pack' (invalid format option 'y')`},
	{`struct.pack('\200', 1)`, `error: bad argument #1 to 'pack' (invalid format option '?')`},
	{`struct.pack('i')`, `error: bad argument #2 to 'pack' (number expected, got nil)`},
	{`struct.pack('ii', 1)`, `error: bad argument #3 to 'pack' (number expected, got nil)`},
	{`struct.pack('i', 'x')`, `error: bad argument #2 to 'pack' (number expected, got string)`},
	{`struct.pack('i', {})`, `error: bad argument #2 to 'pack' (number expected, got table)`},
	{`struct.pack('b', 300)`, `","`},
	{`struct.pack('L', 2^64)`, `"\0\0\0\0\0\0\0\0"`},
	{`struct.pack('L', -1)`, `"\255\255\255\255\255\255\255\255"`},
	{`struct.pack('l', 0/0)`, `"\0\0\0\0\0\0\0\128"`},
	{`struct.pack('i\0i', 1)`, `"\1\0\0\0"`},
	{`struct.pack()`, `error: bad argument #1 to 'pack' (string expected, got no value)`},
	{`struct.unpack('>I2i4', '\0\1\255\255\255\254')`, `1 -2 7`},
	{`struct.unpack('<h', '\255\127')`, `32767 3`},
	{`struct.unpack('bB', '\255\255')`, `-1 255 3`},
	{`struct.unpack('>d', '\192\2\0\0\0\0\0\0')`, `-2.25 9`},
	{`struct.unpack('s', 'abc\0def')`, `"abc" 5`},
	{`struct.unpack('s', 'abc')`, `error: unfinished string in data`},
	{`struct.unpack('Bc0', '\3abcdef')`, `"abc" 5`},
	{`struct.unpack('c0', 'abc')`, `error: format 'c0' needs a previous size`},
	{`struct.unpack('c1c0', '3abc')`, `"abc" 5`},
	{`struct.unpack('dc0', struct.pack('d', 1/0))`, `"" 9`},
	{`struct.unpack('Bc0', '\9abc')`, `error: bad argument #2 to 'unpack' (data string too short)`},
	{`struct.unpack('c2', 'abc', 2)`, `"bc" 4`},
	{`struct.unpack('c2', 'abc', 3)`, `error: bad argument #2 to 'unpack' (data string too short)`},
	{`struct.unpack('c2', 'abc', 0)`, `error: bad argument #3 to 'unpack' (offset must be 1 or greater)`},
	{`struct.unpack('', 'abc', -5)`, `-5`},
	{`struct.unpack('i', 'abc')`, `error: bad argument #2 to 'unpack' (data string too short)`},
	{`struct.unpack('<i12', struct.pack('<i12', 2^32))`, `-2147483648 13`},
	{`struct.unpack('!4bi', '\1\0\0\0\2\0\0\0')`, `1 2 9`},
	{`select('#', struct.unpack(string.rep('b', 7996), string.rep('x', 8000)))`, `7997`},
	{`struct.unpack(string.rep('b', 7999), string.rep('x', 8000))`, `error: stack overflow (too many results)`},
	{`struct.size('!4bi')`, `8`},
	{`struct.size('s')`, `error: bad argument #1 to 'size' (option 's' has no fixed size)`},
	{`struct.size('c0')`, `error: bad argument #1 to 'size' (option 'c0' has no fixed size)`},
	{`struct.size('q')`, `0`},
	{`struct.size('.')`, `error: bad argument #1 to 'size' (invalid format option '.')`},
	{`cmsgpack.pack(0, 127, 128, 255, 256, 65535, 65536, 4294967295, 4294967296)`, `"\0\127\204\128\204\255\205\1\0\205\255\255\206\0\1\0\0\206\255\255\255\255\207\0\0\0\1\0\0\0\0"`},
	{`cmsgpack.pack(-1, -32, -33, -128, -129, -32768, -32769, -2147483648, -2147483649)`, `"\255\224\208\223\208\128\209\255\127\209\128\0\210\255\255\127\255\210\128\0\0\0\211\255\255\255\255\127\255\255\255"`},
	{`cmsgpack.pack(1.5, 0.1, 1e300, 2^63, -2^63, 1/0, -1/0)`, `"\202?\192\0\0\203?\185\153\153\153\153\153\154\203~7\228<\136\0u\156\202_\0\0\0\211\128\0\0\0\0\0\0\0\202\127\128\0\0\202\255\128\0\0"`},
	{`cmsgpack.pack('', 'abc', string.rep('x', 31), string.rep('x', 32))`, `"\160\163abc\191xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\217 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"`},
	{`#cmsgpack.pack(string.rep('x', 255)) .. ' ' .. #cmsgpack.pack(string.rep('x', 256)) .. ' ' .. #cmsgpack.pack(string.rep('x', 65536))`, `"257 259 65541"`},
	{`cmsgpack.pack(true, false, nil, cjson.null)`, `"\195\194\192\192"`},
	{`cmsgpack.pack({1, 2, 3}, {}, {a = 1})`, `"\147\1\2\3\144\129\161a\1"`},
	{`cmsgpack.pack({1, nil, 3})`, `"\130\1\1\3\3"`},
	{`cmsgpack.pack({[1] = 1, [1.5] = 2})`, `"\130\1\1\202?\192\0\0\2"`},
	{`cmsgpack.pack({[2147483648] = 1})`, `"\129\206\128\0\0\0\1"`},
	{`cmsgpack.pack(bit.band)`, `"\192"`},
	{`cmsgpack.pack()`, `error: bad argument #0 to 'pack' (MessagePack pack needs input.)`},
	{`cmsgpack.pack((function() local t = {} for i = 1, 20 do t = {t} end return t end)())`, `"\145\145\145\145\145\145\145\145\145\145\145\145\145\145\145\145\192"`},
	{`cmsgpack.pack((function() local t = {} t[1] = t return t end)())`, `"\145\145\145\145\145\145\145\145\145\145\145\145\145\145\145\145\192"`},
	{`cmsgpack.pack(unpack((function() local t = {} for i = 1, 4001 do t[i] = i end return t end)()))`, `error: bad argument #0 to 'pack' (Too many arguments for MessagePack pack.)`},
	{`#cmsgpack.pack((function() local t = {} for i = 1, 70000 do t[i] = 1 end return t end)())`, `70005`},
	{`cmsgpack.unpack(cmsgpack.pack(1, 'a', {1, {x = true}}, nil, -5.5))`, `1 "a" {1=1 2={x=true}} nil -5.5`},
	{`cmsgpack.unpack('')`, ``},
	{`cmsgpack.unpack('\204\255\205\1\2\206\1\2\3\4\207\255\255\255\255\255\255\255\255')`, `255 258 16909060 -1`},
	{`cmsgpack.unpack('\208\255\209\255\1\210\255\2\3\4\211\255\255\255\255\255\255\255\255')`, `-1 -255 -16645372 -1`},
	{`cmsgpack.unpack('\202\63\192\0\0\203\63\248\0\0\0\0\0\0')`, `1.5 1.5`},
	{`cmsgpack.unpack('\217\3abc\218\0\3abc\219\0\0\0\3abc')`, `"abc" "abc" "abc"`},
	{`cmsgpack.unpack('\220\0\1\1\221\0\0\0\1\2\222\0\1\1\2\223\0\0\0\1\3\4')`, `{1=1} {1=2} {1=2} {3=4}`},
	{`cmsgpack.unpack('\193')`, `error: Bad data format in input.`},
	{`cmsgpack.unpack('\196\1a')`, `error: Bad data format in input.`},
	{`cmsgpack.unpack('\146\1')`, `error: Missing bytes in input.`},
	{`cmsgpack.unpack('\219\255\255\255\255')`, `error: Missing bytes in input.`},
	{`cmsgpack.unpack('\221\255\255\255\255')`, `error: Missing bytes in input.`},
	{`cmsgpack.unpack('\129\192\1')`, `error: table index is nil`},
	{`cmsgpack.unpack('\129\203\127\248\0\0\0\0\0\0\1')`, `error: table index is NaN`},
	{`cmsgpack.unpack(string.rep('\145', 10000))`, `error: stack overflow (in function mp_decode_to_lua_array)`},
	{`cmsgpack.unpack(string.rep('\129\1', 10000))`, `error: stack overflow (too many return values at once; use unpack_one or unpack_limit instead.)`},
	{`cmsgpack.unpack(string.rep('\1', 8000))`, `error: stack overflow (too many return values at once; use unpack_one or unpack_limit instead.)`},
	{`select('#', cmsgpack.unpack(string.rep('\1', 7999)))`, `7999`},
	{`cmsgpack.unpack()`, `error: bad argument #1 to 'unpack' (string expected, got no value)`},
	{`cmsgpack.unpack({})`, `error: bad argument #1 to 'unpack' (string expected, got table)`},
	{`cmsgpack.unpack(1)`, `49`},
	{`cmsgpack.unpack_one('\1\2\3')`, `1 1`},
	{`cmsgpack.unpack_one('\1\2\3', 1)`, `2 2`},
	{`cmsgpack.unpack_one('\1\2\3', 2)`, `-1 3`},
	{`cmsgpack.unpack_one('\1\2\3', 3)`, `-1`},
	{`cmsgpack.unpack_one('\1\2\3', 4)`, `error: Start offset 4 greater than input length 3.`},
	{`cmsgpack.unpack_one('\1\2\3', -1)`, `error: Invalid request to unpack with offset of -1 and limit of 3.`},
	{`cmsgpack.unpack_one('\1', 'x')`, `error: bad argument #2 to 'unpack_one' (number expected, got string)`},
	{`cmsgpack.unpack_limit('\1\2\3', 2)`, `2 1 2`},
	{`cmsgpack.unpack_limit('\1\2\3', 2, 1)`, `-1 2 3`},
	{`cmsgpack.unpack_limit('\1\2\3', 0)`, `1 2 3`},
	{`cmsgpack.unpack_limit('\1\2\3', 0, 1)`, `1`},
	{`cmsgpack.unpack_limit('\1\2\3', -1)`, `error: Invalid request to unpack with offset of 0 and limit of 3.`},
	{`cmsgpack.unpack_limit('\1\2\3')`, `error: bad argument #2 to 'unpack_limit' (number expected, got no value)`},
	{`cjson.encode({1, 2, 3})`, `"[1,2,3]"`},
	{`cjson.encode({})`, `"{}"`},
	{`cjson.encode({a = 1})`, `"{\34a\34:1}"`},
	{`cjson.encode({[1] = 'a', [3] = 'c'})`, `"[\34a\34,null,\34c\34]"`},
	{`cjson.encode({[100] = 'a'})`, `error: Cannot serialise table: excessively sparse array`},
	{`cjson.encode({[2^31] = 1})`, `"{\342147483648\34:1}"`},
	{`cjson.encode({[1.5] = 1})`, `"{\341.5\34:1}"`},
	{`cjson.encode({[true] = 1})`, `error: Cannot serialise boolean: table key must be a number or string`},
	{`cjson.encode({[0] = 1})`, `"{\340\34:1}"`},
	{`cjson.encode('a/b"\\\b\f\n\r\t\1\31\127\128\255')`, `"\34a\92/b\92\34\92\92\92b\92f\92n\92r\92t\92u0001\92u001f\92u007f\128\255\34"`},
	{`cjson.encode(1.5)`, `"1.5"`},
	{`cjson.encode(1e14)`, `"1e+14"`},
	{`cjson.encode(99999999999999)`, `"99999999999999"`},
	{`cjson.encode(123456789012345678)`, `"1.2345678901235e+17"`},
	{`cjson.encode(1/3)`, `"0.33333333333333"`},
	{`cjson.encode(1e20)`, `"1e+20"`},
	{`cjson.encode(-0)`, `"-0"`},
	{`cjson.encode(true)`, `"true"`},
	{`cjson.encode(nil)`, `"null"`},
	{`cjson.encode(cjson.null)`, `"null"`},
	{`cjson.encode({cjson.null, false, 'x'})`, `"[null,false,\34x\34]"`},
	{`cjson.encode(1/0)`, `error: Cannot serialise number: must not be NaN or Inf`},
	{`cjson.encode({0/0})`, `error: Cannot serialise number: must not be NaN or Inf`},
	{`cjson.encode(bit.band)`, `error: Cannot serialise function: type not supported`},
	{`cjson.encode()`, `error: bad argument #1 to 'encode' (expected 1 argument)`},
	{`cjson.encode(1, 2)`, `error: bad argument #1 to 'encode' (expected 1 argument)`},
	{`cjson.encode((function() local t = {} for i = 1, 1001 do t = {t} end return t end)())`, `error: Cannot serialise, excessive nesting (1001)`},
	{`cjson.encode((function() local t = {} t[1] = t return t end)())`, `error: Cannot serialise, excessive nesting (1001)`},
	{`(function() cjson.encode_max_depth(2147483647) local t = {} t[1] = t return cjson.encode(t) end)()`, `error: Cannot serialise, excessive nesting (7998)`},
	{`(function() cjson.encode_max_depth(2147483647) local t = {} t.t = t return cjson.encode(t) end)()`, `error: Cannot serialise, excessive nesting (4000)`},
	{`(function() cjson.encode_max_depth(3) return cjson.encode({{{1}}}), pcall(cjson.encode, {{{{}}}}) end)()`, `"[[[1]]]" false "Cannot serialise, excessive nesting (4)"`},
	{`(function() cjson.encode_sparse_array(true) return cjson.encode({[100] = 'a'}) end)()`, `"{\34100\34:\34a\34}"`},
	{`(function() cjson.encode_sparse_array(false, 0) return cjson.encode({[12] = 'a'}) end)()`, `"[null,null,null,null,null,null,null,null,null,null,null,\34a\34]"`},
	{`(function() cjson.encode_sparse_array(true, 3, 2) return cjson.encode({[4] = 'a'}), cjson.encode({[3] = 'a'}) end)()`, `"{\344\34:\34a\34}" "[null,null,\34a\34]"`},
	{`(function() cjson.encode_number_precision(3) return cjson.encode(1/3), cjson.encode(12345) end)()`, `"0.333" "1.23e+04"`},
	{`(function() cjson.encode_invalid_numbers('null') return cjson.encode({1/0, 0/0}) end)()`, `"[null,null]"`},
	{`(function() cjson.encode_invalid_numbers(true) return cjson.encode({1/0, -1/0, 0/0}) end)()`, `"[inf,-inf,nan]"`},
	{`(function() cjson.decode_invalid_numbers(false) return pcall(cjson.decode, '[0x10]'), pcall(cjson.decode, 'nan'), pcall(cjson.decode, '-inf'), pcall(cjson.decode, '012'), pcall(cjson.decode, '+1') end)()`, `false false false false false "Expected value but found invalid token at character 1"`},
	{`cjson.encode_sparse_array()`, `false 2 10`},
	{`cjson.encode_sparse_array(1)`, `error: bad argument #1 to 'encode_sparse_array' (invalid option '1')`},
	{`cjson.encode_sparse_array(true, -1)`, `error: bad argument #1 to 'encode_sparse_array' (expected integer between 0 and 2147483647)`},
	{`cjson.encode_max_depth(0)`, `error: bad argument #1 to 'encode_max_depth' (expected integer between 1 and 2147483647)`},
	{`cjson.encode_max_depth(1, 2)`, `error: bad argument #2 to 'encode_max_depth' (found too many arguments)`},
	{`cjson.encode_number_precision(15)`, `error: bad argument #1 to 'encode_number_precision' (expected integer between 1 and 14)`},
	{`cjson.encode_invalid_numbers('x')`, `error: bad argument #1 to 'encode_invalid_numbers' (invalid option 'x')`},
	{`cjson.decode_invalid_numbers('null')`, `error: bad argument #1 to 'decode_invalid_numbers' (invalid option 'null')`},
	{`cjson.encode_keep_buffer('on')`, `true`},
	{`cjson.new().encode({1})`, `"[1]"`},
	{`cjson.decode('[1,2,3]')`, `{1=1 2=2 3=3}`},
	{`cjson.decode('{"a":[1,{"b":"x"}],"c":null}')`, `{a={1=1 2={b="x"}} c=userdata: (nil)}`},
	{`cjson.decode('"\\u00e9\\ud83d\\ude00\\n\\/\\u0000"')`, `"\195\169\240\159\152\128\10/\0"`},
	{`cjson.decode(' [ ] ')`, `{}`},
	{`cjson.decode('true'), cjson.decode('false'), cjson.decode('null') == cjson.null`, `true false true`},
	{`cjson.decode('1.5e3'), cjson.decode('-12'), cjson.decode('0x1F'), cjson.decode('01'), cjson.decode('+5'), cjson.decode('-.5'), cjson.decode('5.')`, `1500 -12 31 1 5 -0.5 5`},
	{`tostring(cjson.decode('inf')) .. tostring(cjson.decode('-Infinity')) .. tostring(cjson.decode('nan')) .. tostring(cjson.decode('-NaN'))`, `"inf-infnan-nan"`},
	{`cjson.decode('0x1.8p1'), cjson.decode('1e400'), cjson.decode('123456789012345678')`, `3 inf 1.2345678901234568e+17`},
	{`cjson.decode('')`, `error: Expected value but found T_END at character 1`},
	{`cjson.decode('x')`, `error: Expected value but found invalid token at character 1`},
	{`cjson.decode('[1,')`, `error: Expected value but found T_END at character 4`},
	{`cjson.decode('[1 2]')`, `error: Expected comma or array end but found T_NUMBER at character 4`},
	{`cjson.decode('[1,]')`, `error: Expected value but found T_ARR_END at character 4`},
	{`cjson.decode('{1:2}')`, `error: Expected object key string but found T_NUMBER at character 2`},
	{`cjson.decode('{"a" 1}')`, `error: Expected colon but found T_NUMBER at character 6`},
	{`cjson.decode('{"a":1 "b"}')`, `error: Expected comma or object end but found T_STRING at character 8`},
	{`cjson.decode('{"a":1,}')`, `error: Expected object key string but found T_OBJ_END at character 8`},
	{`cjson.decode('[1] x')`, `error: Expected the end but found invalid token at character 5`},
	{`cjson.decode('"abc')`, `error: Expected value but found unexpected end of string at character 5`},
	{`cjson.decode('"\\x"')`, `error: Expected value but found invalid escape code at character 2`},
	{`cjson.decode('"ab\\u12"')`, `error: Expected value but found invalid unicode escape code at character 4`},
	{`cjson.decode('"\\ud800"')`, `error: Expected value but found invalid unicode escape code at character 2`},
	{`cjson.decode('"\\udc00"')`, `error: Expected value but found invalid unicode escape code at character 2`},
	{`cjson.decode('"\\')`, `error: Expected value but found invalid escape code at character 2`},
	{`cjson.decode('tru')`, `error: Expected value but found invalid token at character 1`},
	{`cjson.decode('-')`, `error: Expected value but found invalid number at character 1`},
	{`cjson.decode('-x')`, `error: Expected value but found invalid number at character 1`},
	{`cjson.decode('.5')`, `error: Expected value but found invalid token at character 1`},
	{`cjson.decode('1e')`, `error: Expected the end but found invalid token at character 2`},
	{`cjson.decode('0x')`, `error: Expected the end but found invalid token at character 2`},
	{`cjson.decode('nul')`, `error: Expected value but found invalid token at character 1`},
	{`cjson.decode('12\0abc')`, `12`},
	{`cjson.decode('"a\0b"')`, `error: Expected value but found unexpected end of string at character 3`},
	{`cjson.decode('\0\0')`, `error: JSON parser does not support UTF-16 or UTF-32`},
	{`cjson.decode('[\f1]')`, `error: Expected value but found invalid token at character 2`},
	{`cjson.decode(string.rep('[', 1001) .. string.rep(']', 1001))`, `error: Found too many nested data structures (1001) at character 1001`},
	{`#cjson.decode(string.rep('[', 1000) .. string.rep(']', 1000))`, `1`},
	{`(function() cjson.decode_max_depth(2147483647) return cjson.decode(string.rep('[', 10000)) end)()`, `error: Found too many nested data structures (7999) at character 7999`},
	{`(function() cjson.decode_max_depth(2147483647) return cjson.decode(string.rep('{"a":', 10000)) end)()`, `error: Found too many nested data structures (4000) at character 19996`},
	{`cjson.decode(1)`, `1`},
	{`cjson.decode({})`, `error: bad argument #1 to 'decode' (string expected, got table)`},
	{`cjson.decode()`, `error: bad argument #1 to 'decode' (expected 1 argument)`},
	{`cjson.decode('1', '2')`, `error: bad argument #1 to 'decode' (expected 1 argument)`},
	{`cjson._NAME .. cjson._VERSION .. cmsgpack._NAME .. cmsgpack._VERSION .. cmsgpack._COPYRIGHT .. cmsgpack._DESCRIPTION`, `"cjson2.1.0cmsgpacklua-cmsgpack 0.4.0Copyright (C) 2012, Salvatore SanfilippoMessagePack C implementation for Lua"`},
}

func TestLibrariesHaveTheResultsOfRedis(t *testing.T) {
	for _, c := range cases {
		got, err := run(t, newState(64<<20), prelude+"return result(pcall(function() return "+c[0]+" end))")
		if err != nil || got != c[1] {
			t.Errorf("%s\ngot  %s %v\nwant %s", c[0], got, err, c[1])
		}
	}
}

// The script of testdata tries many arguments, most of them odd, and returns all results.
func TestLibrariesReturnAsRedis(t *testing.T) {
	addr := redistest.Start7(t)
	client := redistest.Client(&redis.Options{Addr: addr})
	defer client.Close()
	source, err := os.ReadFile("testdata/libraries.lua")
	if err != nil {
		t.Fatal(err)
	}
	for _, seed := range []string{"1", "20261125", "77"} {
		script := "local seed = " + seed + "\n" + string(source)
		want, err := client.Eval(t.Context(), script, nil).Text()
		if err != nil {
			t.Fatal(err)
		}
		got, err := run(t, newState(256<<20), script)
		if err != nil {
			t.Fatal(err)
		}
		gotLines, wantLines := strings.Split(got, "\n"), strings.Split(want, "\n")
		for i := range wantLines {
			// Where tables are keys, their order is that of addresses.
			if i >= len(gotLines) || gotLines[i] != wantLines[i] && !strings.Contains(wantLines[i], "}=") {
				t.Fatalf("seed %s, line %d\ngot  %q\nwant %q", seed, i+1, gotLines[min(i, len(gotLines)-1)], wantLines[i])
			}
		}
	}
}

func TestSettingsOfJSONAreReset(t *testing.T) {
	settings := new(luaext.JSONSettings)
	s := newState(1 << 20)
	s.Setup(func(t *lua.Thread) { t.SetField(s.Globals(), "cjson", luaext.OpenJSON(t, settings).Value()) })
	const change = "cjson.encode_max_depth(1) cjson.encode_number_precision(3) cjson.encode_invalid_numbers('null') cjson.encode_sparse_array(true)"
	const check = "return cjson.encode({1/0 == 1/0, 1/3, {1}})"
	if got, _ := run(t, s, change+check); !strings.Contains(got, "excessive nesting (2)") {
		t.Error(got)
	}
	settings.Reset()
	if got, _ := run(t, s, check); got != "[true,0.33333333333333,[1]]" {
		t.Error(got)
	}
}

var errStopped = errors.New("stopped")

func TestLibrariesEndWhenTheStateStops(t *testing.T) {
	for _, chunk := range []string{
		"local t = {} for i = 1, 1e5 do t[i] = i end while true do cjson.encode(t) end",
		"local t = {} for i = 1, 1e5 do t['k' .. i] = i end while true do cjson.encode(t) end",
		"local s = string.rep('x', 1e7) while true do cjson.encode(s) end",
		"local s = '[' .. string.rep('1,', 1e6) .. '1]' while true do cjson.decode(s) end",
		"local s = '\"' .. string.rep('x', 1e7) .. '\"' while true do cjson.decode(s) end",
		"local s = string.rep(' ', 1e7) while true do pcall(cjson.decode, s) end",
		"local s = string.rep('1', 1e7) while true do pcall(cjson.decode, s) end",
		"local t = {} for i = 1, 1e5 do t[i] = i end while true do cmsgpack.pack(t) end",
		"local s = '\\221\\0\\16\\0\\0' .. string.rep('\\1', 2^20) while true do cmsgpack.unpack(s) end",
		"local s = string.rep('x', 1e7) while true do struct.pack('c0', s) end",
		"local s = string.rep('x', 1e7) while true do pcall(struct.unpack, 's', s) end",
		"local f = string.rep(' ', 1e7) while true do struct.size(f) end",
		"local f = string.rep('b', 7000) while true do struct.unpack(f, f) end",
	} {
		s := newState(512 << 20)
		timer := time.AfterFunc(10*time.Millisecond, func() { s.Stop(errStopped) })
		if result, err := run(t, s, chunk); !errors.Is(err, errStopped) {
			t.Errorf("%s: %.100s %v", chunk, result, err)
		}
		timer.Stop()
	}
}

// What would take memory without bound ends with an error.
func TestLibrariesRespectTheLimitOfMemory(t *testing.T) {
	for _, chunk := range []string{
		"local t = {} for i = 1, 40 do t = {t, t} end return cjson.encode(t)",
		"local t = {} for i = 1, 14 do t = {t, t, t, t, t, t, t, t} end return cmsgpack.pack(t)",
		"cjson.encode_sparse_array(false, 0, 0) local t = {} t[67108864] = 1 return cjson.encode(t)",
		"local s = string.rep('x', 1e6) return cjson.encode({s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s})",
		"local s = string.rep('x', 1e6) return struct.pack(string.rep('c0', 20), s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s)",
		"return cjson.decode('[' .. string.rep('{},', 1e6) .. '1]')",
		"return cmsgpack.unpack('\\221\\0\\16\\0\\0' .. string.rep('\\128', 2^20))",
		"local t = {} for i = 1, 1000 do t[i] = cjson.decode('[\"' .. string.rep('x', 1e5) .. i .. '\"]') end",
	} {
		if result, err := run(t, newState(16<<20), chunk); !errors.Is(err, lua.ErrMemory) {
			t.Errorf("%s: %.100s %v", chunk, result, err)
		}
	}
}

// fuzz runs a chunk with each input, which it gets of the function input. The chunk returns
// "fine", or what is wrong.
func fuzz(f *testing.F, chunk string) {
	var input string
	s := newState(16 << 20)
	s.Setup(func(t *lua.Thread) {
		t.SetField(s.Globals(), "input", t.NewFunction(func(t *lua.Thread) int {
			t.PushString(input)
			return 1
		}))
	})
	p, err := lua.Compile(chunk, "@fuzz")
	if err != nil {
		f.Fatal(err)
	}
	fn := s.Closure(p)
	f.Fuzz(func(t *testing.T, b string) {
		input = b
		timer := time.AfterFunc(2*time.Second, func() { s.Stop(errStopped) })
		v, failed, err := s.Run(fn, nil, func(*lua.Thread) {})
		timer.Stop()
		if text := s.Main().ToText(v); err == nil && (failed || text != "fine") || err != nil && !errors.Is(err, lua.ErrMemory) {
			t.Errorf("%q: %s %v", b, text, err)
		}
	})
}

// FuzzJSON decodes any text. What that gives is encoded and decoded to the same.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,null,"\u00e9\ud83d\ude00"],"b":-1.5e3}`, "[[[", `[0x1p-3,nan,inf,1e999]`, `"\"\\\/\b\f\n\r\t"`, "\x00", `{"":{}}`} {
		f.Add(s)
	}
	fuzz(f, `cjson.encode_invalid_numbers(true)
		local ok, v = pcall(cjson.decode, input())
		if not ok then return type(v) == 'string' and 'fine' or 'the error is no text' end
		local text = cjson.encode(v)
		local again = cjson.encode(cjson.decode(text))
		if again ~= text and not string.find(text, '{', 1, true) then return text .. ' became ' .. again end
		return 'fine'`)
}

// FuzzMsgpack unpacks any bytes. What that gives is packed and unpacked to the same.
func FuzzMsgpack(f *testing.F) {
	for _, s := range []string{"\x93\x01\xa1x\xc0", "\xcb\x3f\xf8\x00", "\xdf\xff\xff\xff\xff", "\x81\xc0\x01", "\xd9\x03abc", "\xd3\x80\x00\x00\x00\x00\x00\x00\x00"} {
		f.Add(s)
	}
	fuzz(f, `local s = input()
		pcall(cmsgpack.unpack_limit, s, 3, 1)
		pcall(cmsgpack.unpack_one, s)
		local ok, v = pcall(cmsgpack.unpack, s)
		if not ok then return type(v) == 'string' and 'fine' or 'the error is no text' end
		local packed = cmsgpack.pack(v)
		if type(v) ~= 'table' and v == v and cmsgpack.unpack(packed) ~= v then return 'another value' end
		return 'fine'`)
}

// FuzzStruct takes any text for a format.
func FuzzStruct(f *testing.F) {
	for _, s := range []string{">I4s!8c0", "<i16Bc0", "!4bhilxfd", "c2147483647", "i0T s"} {
		f.Add(s)
	}
	fuzz(f, `local s = input()
		local ok, size = pcall(struct.size, s)
		local packed, b = pcall(struct.pack, s, 1, 2, 3, 4, 5, 6, 7, 8, 9)
		if ok and packed and #b ~= size then return 'size' end
		if packed then
			local unpacked, v = pcall(struct.unpack, s, b)
			if not unpacked and not string.find(s, '[cs]') then return v end
		end
		for at = -1, 3 do pcall(struct.unpack, s, string.rep('\1\0\2\255', 100), at) end
		return 'fine'`)
}
