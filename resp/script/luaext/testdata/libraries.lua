local function rnd(n) seed = (seed * 16807) % 2147483647; return seed % n end
local out = {}
local function esc(s) return (string.gsub(s, '[%c\127-\255"\\]', function(c) return string.format('\\%03d', string.byte(c)) end)) end
local show
local function show1(v, d)
  if type(v) == 'string' then return '"'..esc(v)..'"' end
  if type(v) == 'number' then return string.format('%.17g', v) end
  if type(v) == 'table' then
    if d > 8 then return '{...}' end
    local u = {} for k, x in pairs(v) do u[#u+1] = show1(k, d+1)..'='..show1(x, d+1) end return '{'..table.concat(u, ',')..'}' end
  if type(v) == 'function' then return 'function' end
  return tostring(v)
end
function show(...)
  local t = {}
  for i = 1, select('#', ...) do t[i] = show1((select(i, ...)), 0) end
  return table.concat(t, ' ')
end
local function p(...) local t = {...} for i = 1, select('#', ...) do t[i] = tostring(t[i]) end out[#out+1] = table.concat(t, ' ') end
local nums = {0,-0,1,-1,2,7,127,128,255,256,-32,-33,-128,-129,32767,32768,65535,65536,-32768,-32769,2^31-1,2^31,2^32-1,2^32,-2^31,-2^31-1,2^53,-2^53,2^62,2^63,-2^63,2^64,-2^64,1e300,-1e300,1/0,-1/0,0/0,0.5,-0.5,1.5,2.5,3.7,1/3,0.1,1e-5,123.456,1e14,1e15,99999999999999,123456789012345,100000000000000,5e-324,'12','0x10','abc',''}
local strs = {'','a','hello','a\0b','"\\/\b\f\n\r\t\127\1\31\255\128','\195\169',('x'):rep(31),('x'):rep(32),('x'):rep(255),('x'):rep(256),'1.5','null'}
local keys = {'a','b','cc',1,2,3,4,10,1.5,-1,0,2^31,2^31+1,true,'1'}
local function val(d)
  local r = rnd(12)
  if r < 4 then return nums[rnd(#nums)+1] elseif r < 7 then return strs[rnd(#strs)+1] elseif r == 7 then return rnd(2) == 0 elseif r == 8 and d < 4 then
    local t = {} for i = 1, rnd(20) do t[i] = val(d+1) end return t
  elseif r == 9 and d < 4 then local t = {} for i = 1, rnd(6) do t[keys[rnd(#keys)+1]] = val(d+1) end return t
  elseif r == 10 then return cjson.null elseif r == 11 and rnd(4) == 0 then return function() end end
  return nil
end
local toks = {'{','}','[',']',',',':','"a"','"b"','1','2.5','-3','true','false','null','nan','inf','-inf','Infinity','0x10','01','.5','+1','1e5','1e','-','"\\u0041"','"\\ud83d\\ude00"','"\\ud800"','"\\x"','"abc','\\','tru',' ','\n','\t','\0','x','"','1.','0x','1E+3','-0','123456789012345678','NaN','nan(12)','0x1p3','0x.8','1.5e-3','"\\n\\t\\/\\b"','-nan','-x','\f','nul','1e400','0xg','[1,2]','{"k":1}','[[]]'}
for i = 1, 400 do
  local v = val(0)
  p(i, show(v))
  p('json', show(pcall(cjson.encode, v)))
  p('pack', show(pcall(cmsgpack.pack, v)))
  local ok, s = pcall(cmsgpack.pack, v, val(0))
  if ok then
    p('unpack', show(pcall(cmsgpack.unpack, s)))
    local m = string.sub(s, 1, rnd(#s+1)) p('cut', show(pcall(cmsgpack.unpack, m)))
    local a = rnd(#s+1) m = string.sub(s, 1, a)..string.char(rnd(256))..string.sub(s, a+2) p('changed', show(pcall(cmsgpack.unpack, m)))
    p('one', show(pcall(cmsgpack.unpack_one, s)), show(pcall(cmsgpack.unpack_one, s, rnd(5)-1)), show(pcall(cmsgpack.unpack_limit, s, rnd(4)-1, rnd(5)-1)))
  end
  local j = {} for k = 1, rnd(7) do j[k] = toks[rnd(#toks)+1] end
  j = table.concat(j)
  p('decode', show(j), show(pcall(cjson.decode, j)))
  j = '['..j..']' p('decode', show(j), show(pcall(cjson.decode, j)))
  local set = rnd(30)
  if set == 0 then p('set', show(pcall(cjson.encode_sparse_array, rnd(2)==0, rnd(4), rnd(12)))) elseif set == 1 then p('set', show(pcall(cjson.encode_max_depth, rnd(6)))) elseif set == 2 then p('set', show(pcall(cjson.decode_max_depth, rnd(6))))
  elseif set == 3 then p('set', show(pcall(cjson.encode_number_precision, rnd(18)))) elseif set == 4 then p('set', show(pcall(cjson.encode_invalid_numbers, ({'on','off','null',true,false,'x',5})[rnd(7)+1]))) elseif set == 5 then p('set', show(pcall(cjson.decode_invalid_numbers, ({'on','off','null',true,false,'x',{}})[rnd(7)+1])))
  elseif set == 6 then p('set', show(pcall(cjson.encode_keep_buffer, ({'on','off',true,false,nil,'x',5})[rnd(7)+1]))) end
  -- struct
  local opts = {'b','B','h','H','l','L','T','i','I','i2','I3','i8','I16','i12','f','d','c','c0','c3','s','x','!','!4','!16','!3','<','>',' ','q','i33','c10','i0','I0','Z','\200','!0','c99999999999','i3'}
  local f = {} for k = 1, rnd(6) do f[k] = opts[rnd(#opts)+1] end f = table.concat(f)
  local a, b, c, d = val(9), val(9), val(9), val(9)
  p('struct', f, show(pcall(struct.size, f)), show(pcall(struct.pack, f, a, b, c, d)), show(pcall(struct.pack, f, nums[rnd(#nums)+1], nums[rnd(#nums)+1], 'hello', 3)))
  local data = {} for k = 1, rnd(40) do data[k] = string.char(rnd(3) == 0 and rnd(256) or rnd(6)) end data = table.concat(data)
  p('su', f, show(data), show(pcall(struct.unpack, f, data)), show(pcall(struct.unpack, f, data, rnd(9)-2)))
  -- bit
  for _, n in ipairs{'tobit','bnot','band','bor','bxor','lshift','rshift','arshift','rol','ror','bswap','tohex'} do
    local x, y, z = nums[rnd(#nums)+1], nums[rnd(#nums)+1], nums[rnd(#nums)+1]
    if rnd(20) == 0 then y = nil end
    p(n, show(x, y, z), show(pcall(bit[n], x, y, z)), show(pcall(bit[n], x, y)))
  end
end
cjson.encode_sparse_array(false, 2, 10) cjson.encode_max_depth(1000) cjson.decode_max_depth(1000) cjson.encode_number_precision(14) cjson.encode_invalid_numbers(false) cjson.decode_invalid_numbers(true) cjson.encode_keep_buffer(true)
for _, l in ipairs{bit, struct, cmsgpack, cjson, cjson.new()} do
  local t = {} for k in pairs(l) do t[#t+1] = k end p(table.concat(t, ' '))
  for k, f in pairs(l) do if type(f) == 'function' and k ~= 'new' then p(k, show(pcall(f)), show(pcall(f, {})), show(pcall(f, nil)), show(pcall(f, 'x', {})), show(pcall(f, 1, 2, 3, 4)), show(pcall(f,'','',{}))) else p(k, show(f)) end end
end
return table.concat(out, '\n')
