local seed = 20261125
local function rnd(n) seed = (seed * 16807) % 2147483647; return seed % n end
local function show(...)
  local t = {}
  for i = 1, select('#', ...) do
    local v = select(i, ...)
    if type(v) == 'function' then v = 'function' elseif type(v) == 'string' then v = string.gsub(string.format('%q', v), '\\\n', '\\n') elseif type(v)=='number' then v = string.format('%.17g', v) end
    t[i] = tostring(v)
  end
  return table.concat(t, ' ')
end
local flags = {'-','+',' ','#','0'}
local verbs = {'c','d','i','o','u','x','X','e','E','f','g','G','q','s','y','%','a','F','n','p','l','\0'}
local nums = {0,-0,1,-1,2,9,10,99,100,123456,1e5,1e6,1e15,1e16,1e20,1e21,-1e21,2^31,2^32,2^53,2^63,2^64,-2^63,1/3,-2/3,0.1,0.5,1.5,2.5,1e-5,1e-4,123.456,1e100,5e-324,1.7976931348623157e308,1/0,-1/0,0/0,-(0/0),255,256,65,'12','0x10','abc','',  'a\0b', ('x'):rep(99), ('y'):rep(100), ('z'):rep(300), 'q"\\\n\r\0', true, {}, false}
for i = 1, 1000 do
  local f = '%'
  for j = 1, rnd(4) do f = f .. flags[rnd(5)+1] end
  if rnd(30) == 0 then f = f .. '+++++' end
  if rnd(2) == 0 then f = f .. rnd(25) end
  if rnd(2) == 0 then f = f .. '.' if rnd(4) > 0 then f = f .. rnd(25) end end
  if rnd(40) == 0 then f = f .. '999' end
  f = f .. verbs[rnd(#verbs)+1]
  local v = nums[rnd(#nums)+1]
  local tv = type(v) == 'table' and 'T' or v
  -- flags with %s, %c and %q are undefined in C beyond width: still compare
  print(i, show(f, tv), show(pcall(string.format, 'a' .. f .. 'b', v)))
end
print(show(pcall(string.format)), show(pcall(string.format, '%d')), show(pcall(string.format, '%s %s', 1)), show(pcall(string.format,'%5%',1)), show(pcall(string.format, '%', 1)),  show(pcall(string.format, '%10', 1)))
local ints = {0,1,-1,2,3,5,-3,-100,100,2^31,-2^31,2^32,2^53,-2^53,1e300,-1e300,1/0,-1/0,0/0,1.5,-1.5,2.9,'2','x',nil,true}
local strs = {'', 'a', 'hello', 'he\0llo\255', 12, 1.5}
for i = 1, 1000 do
  local s, a, b, c = strs[rnd(#strs)+1], ints[rnd(#ints)+1], ints[rnd(#ints)+1], ints[rnd(#ints)+1]
  print(i, show(s, a, b))
  print(show(pcall(string.sub, s, a, b)), show(pcall(string.byte, s, a, b)))
  if not (type(a) == 'number' and math.abs(a) > 1000) then print(show(pcall(string.rep, s, a))) end
  print(show(pcall(string.upper, s)), show(pcall(string.lower, s)), show(pcall(string.reverse, s)), show(pcall(string.len, s)))
  print(show(pcall(string.char, a)), show(pcall(string.char, 65, b)))
  print(show(pcall(string.find, s, 'l', a)), show(pcall(string.find, s, 'l', a, true)), show(pcall(string.match, s, '.', a)))
  print(show(pcall(string.gsub, s, 'l', 'L', a)), show(pcall(string.find, s, '', a)))
  for _, f in ipairs{'ldexp','fmod','atan2','max','min','random0'} do if math[f] then
   if f ~= 'atan2' then print(f, show(pcall(math[f], a, b))) end end end
  print('frexp', show(pcall(math.frexp, a)), show(pcall(math.modf, a)), show(pcall(math.floor, a)), show(pcall(math.ceil, a)), show(pcall(math.abs, a)), show(pcall(math.sqrt, a)))
  print(show(pcall(math.random, a == 0 and 0 or 'x')), show(pcall(math.random, 5, 4)), show(pcall(math.random,1,2,3)))
end
for _, f in ipairs{'byte','char','find','format','gmatch','gsub','len','lower','match','rep','reverse','sub','upper','gfind','dump'} do print(f, show(pcall(string[f])), show(pcall(string[f], {})), show(pcall(string[f], 'a')), show(pcall(string[f], 'a', {})), show(pcall(string[f], 'a','a', {}))) end
for _, f in ipairs{'abs','acos','asin','atan2','atan','ceil','cosh','cos','deg','exp','floor','fmod','mod','frexp','ldexp','log10','log','max','min','modf','pow','rad','randomseed','sinh','sin','sqrt','tanh','tan'} do print(f, show(pcall(math[f])), show(pcall(math[f], {})), show(pcall(math[f], 'a'))) end
print(string.gfind == string.gmatch, math.mod == math.fmod, math.pi, math.huge)
for _, l in ipairs{string, math, table} do local t = {} for k in pairs(l) do t[#t+1] = k end print(table.concat(t, ' ')) end
