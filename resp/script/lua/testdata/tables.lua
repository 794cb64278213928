local seed = 20261125
local function rnd(n) seed = (seed * 16807) % 2147483647; return seed % n end
local function show(...)
  local t = {}
  for i = 1, select('#', ...) do
    local v = select(i, ...)
    if type(v) == 'string' then v = string.gsub(string.format('%q', v), '\\\n', '\\n') elseif type(v)=='table' then local u = {} for k, x in pairs(v) do u[#u+1] = tostring(k)..'='..tostring(x) end v = '{'..table.concat(u, ',')..'}' end
    t[i] = tostring(v)
  end
  return table.concat(t, ' ')
end
local function list(n, m) local t = {} for i = 1, n do t[i] = rnd(m) end return t end
for i = 1, 1000 do
  local t = list(rnd(40), 30)
  local calls = {}
  local cmps = {
    function(a, b) calls[#calls+1] = tostring(a)..':'..tostring(b) return a < b end,
    function(a, b) calls[#calls+1] = tostring(a)..':'..tostring(b) return a > b end,
    function(a, b) calls[#calls+1] = tostring(a)..':'..tostring(b) return a <= b end,
    function(a, b) calls[#calls+1] = tostring(a)..':'..tostring(b) return true end,
    function(a, b) calls[#calls+1] = tostring(a)..':'..tostring(b) return false end,
    function(a, b) calls[#calls+1] = tostring(a)..':'..tostring(b) return rnd(2) == 0 end,
    function(a, b) calls[#calls+1] = tostring(a)..':'..tostring(b) if rnd(20) == 0 then t[rnd(#t+1)] = rnd(30) end return (a or 0) < (b or 0) end,
    function(a, b) calls[#calls+1] = tostring(a)..':'..tostring(b) if rnd(20) == 0 then error('x') end return a < b end,
    nil,
  }
  local c = rnd(9) + 1
  if c == 9 and rnd(2) == 0 then t[rnd(#t+1)+1] = 'x' end
  print(i, c, show(pcall(table.sort, t, cmps[c])), table.concat(calls, ' '), show(t))
end
local mt = {__lt = function(a, b) return a.v < b.v end}
local objs = {} for i = 1, 30 do objs[i] = setmetatable({v = rnd(100)}, mt) end
table.sort(objs) local r = {} for i = 1, 30 do r[i] = objs[i].v end print(table.concat(r, ' '))
print(pcall(table.sort, {1, {}, 3})) print(pcall(table.sort, {1, 'a'})) print(pcall(table.sort, {{}, {}})) print(pcall(table.sort, {3,2,1}, 5)) print(pcall(table.sort, {3,2,1}, nil))
for i = 1, 1000 do
  local t = list(rnd(10), 100)
  if rnd(4) == 0 then t[rnd(10)+1] = nil end
  if rnd(4) == 0 then t.x = 1 end
  if rnd(4) == 0 then t[rnd(100)] = 2 end
  local a = ({-5, 0, 1, 2, 3, 5, 10, 12, 2^31, 2^32+1, 1.5, 'x', '2'})[rnd(13)+1]
  print(i, show(t), a)
  local function copy(t) local u = {} for k, v in pairs(t) do u[k] = v end return u end
  local u = copy(t) print('i2', show(pcall(table.insert, u, a)), show(u), #u)
  if type(a) ~= 'number' or a < 1000 then u = copy(t) print('i3', show(pcall(table.insert, u, a, 'new')), show(u), #u) end
  u = copy(t) print('r', show(pcall(table.remove, u)), show(u), #u)
  u = copy(t) print('r2', show(pcall(table.remove, u, a)), show(u), #u)
  print('c', show(pcall(table.concat, t)), show(pcall(table.concat, t, ',')), show(pcall(table.concat, t, ',', a)), show(pcall(table.concat, t, ', ', 1, rnd(12))), show(pcall(table.concat, t, ',', 2, a)))
  print('n', show(pcall(table.getn, t)), show(pcall(table.maxn, t)), #t)
  local k = {}
  print('f', show(pcall(table.foreach, t, function(a, b) k[#k+1] = tostring(a)..'='..tostring(b) if rnd(8) == 0 then return a end end)), table.concat(k, ' '))
  k = {}
  print('fi', show(pcall(table.foreachi, t, function(a, b) k[#k+1] = tostring(a)..'='..tostring(b) if rnd(8) == 0 then return a end end)), table.concat(k, ' '))
end
for _, f in ipairs{'concat','foreach','foreachi','getn','maxn','insert','remove','setn','sort'} do print(f, show(pcall(table[f])), show(pcall(table[f], 1)), show(pcall(table[f], {})), show(pcall(table[f], {}, {})), show(pcall(table[f], {}, 'a', {}, 4)), show(pcall(table[f], {1,2,3}, 'a', 'b', 'c', 'd'))) end
print(pcall(table.insert, {}, 1, 2, 3)) print(pcall(table.concat, {1, {}, 3})) print(table.concat({1, 2.5, 'x', 1e20}, '-'))
print(pcall(table.foreach, {a=1,b=2,c=3}, function(k) end))
