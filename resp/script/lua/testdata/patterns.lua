local seed = 20261125
local function rnd(n) seed = (seed * 16807) % 2147483647; return seed % n end
local function show(...)
  local t = {}
  for i = 1, select('#', ...) do
    local v = select(i, ...)
    if type(v) == 'string' then v = string.gsub(string.format('%q', v), '\\\n', '\\n') end
    t[i] = tostring(v)
  end
  return table.concat(t, ' ')
end
local atoms = {'a','b','c','.','%a','%d','%s','%w','%A','%D','%p','%x','%l','%u','%c','%z','[abc]','[^a]','[a-c]','[%d_]','[]]','[^]]','[a-]','[%a-z]','(','(',')',')','()','%1','%2','%b()','%bxy','%f[%w]','%f[a]','$','^','x','-','*','?','+','%.','%%','1','[','%','\0',' ','[%]]','\255','\128','[\128-\255]','%f','%b','%bx','[^','[a','%0','%9','.-','.*','(.-)','a-','%g','%y','[c-a]','[a-%%]','[%','^^'}
local chars = {'a','b','c','x','y','1','2',' ','(',')','_','.','%','\0','\255','\128','\n','A','B',']','-','[','^'}
local function gen(list, n) local t = {} for i = 1, rnd(n) do t[i] = list[rnd(#list)+1] end return table.concat(t) end
local reps = {'x','%0','%1','<%1>','%2','%%','%','a%z','','%9', 7, {a='A', b=false, [1]='one'}, function(...) return select('#',...)..show(...) end, function() end, function() return false end, function() return {} end, setmetatable({},{__index=function(t,k) return 'm'..tostring(k) end}), true}
local out = {}
for i = 1, 1000 do
  local p, s = gen(atoms, 6), gen(chars, 14)
  local init = rnd(8) - 3
  local r = reps[rnd(#reps)+1]
  print(i, show(s, p, init))
  print('find', show(pcall(string.find, s, p, init)))
  print('plain', show(pcall(string.find, s, p, init, true)))
  print('match', show(pcall(string.match, s, p, init)))
  print('gsub', show(pcall(string.gsub, s, p, r, rnd(3) == 0 and rnd(4) or nil)))
  local t = {}
  local ok, e = pcall(function() for a, b, c in string.gmatch(s, p) do t[#t+1] = show(a, b, c) if #t > 40 then break end end end)
  print('gmatch', table.concat(t, ';'), tostring(e))
end
