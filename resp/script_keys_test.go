package resp

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
)

// lookAround runs the commands in ARGV, each behind the number of its words, and returns what
// they reply: KEYS in order, SCAN to its end, and of RANDOMKEY whether the key is there.
const lookAround = `
local out, i = {}, 1
local function inOrder(found)
  local known, all = {}, {}
  for _, key in ipairs(found) do
    if not known[key] then known[key] = true; all[#all+1] = key end
  end
  table.sort(all)
  return all
end
while ARGV[i] do
  local n = tonumber(ARGV[i])
  local cmd = {unpack(ARGV, i+1, i+n)}
  i = i+n+1
  if cmd[1] == 'KEYS' then
    out[#out+1] = inOrder(redis.call(unpack(cmd)))
  elseif cmd[1] == 'SCAN' then
    local found = {}
    repeat
      local reply = redis.call(unpack(cmd))
      cmd[2] = reply[1]
      for _, key in ipairs(reply[2]) do found[#found+1] = key end
    until cmd[2] == '0'
    out[#out+1] = inOrder(found)
  elseif cmd[1] == 'RANDOMKEY' then
    local key = redis.call('RANDOMKEY')
    out[#out+1] = key and redis.call('EXISTS', key) or 'none'
  else
    out[#out+1] = redis.pcall(unpack(cmd))
  end
end
return out`

// A script sees in all keys what it has changed itself.
func TestScriptsSeeAllKeysAsRedis(t *testing.T) {
	if testing.Short() {
		t.Skip("one connection at a time")
	}
	seed := randomtest.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 0))
	var all []string
	for _, tag := range []string{"k", "{a}", "{b}"} {
		for i := range 12 {
			all = append(all, fmt.Sprint(tag, i))
		}
	}
	small := all
	key := func() string { return small[rnd.IntN(len(small))] }
	all = append(all, "large1", "{a}large")
	large := strings.Repeat("x", 200<<10)
	command := func(declared bool) []string {
		switch rnd.IntN(20) {
		case 0, 1, 2:
			return []string{"SET", key(), "v"}
		case 3:
			return []string{"SET", key(), "v", "EX", "1000"}
		case 4, 5, 6:
			return []string{"DEL", key(), key(), all[rnd.IntN(len(all))]}
		case 7:
			return []string{"RENAME", key(), key()}
		case 8:
			return []string{"PEXPIREAT", key(), "1"}
		case 9:
			return []string{"RPUSH", key(), "e"}
		case 10:
			return []string{"SPOP", key()}
		case 11:
			return []string{"SADD", key(), "m"}
		case 12:
			if declared && rnd.IntN(4) == 0 {
				return []string{"SET", []string{"large1", "{a}large"}[rnd.IntN(2)], large}
			}
			return []string{"COPY", key(), key()}
		case 13, 14:
			return []string{"DBSIZE"}
		case 15:
			return []string{"KEYS", []string{"*", "k*", "?a*", "k1"}[rnd.IntN(4)]}
		case 16, 17:
			return []string{"SCAN", "0", "COUNT", fmt.Sprint(1 + rnd.IntN(15))}
		case 18:
			return []string{"SCAN", "0", "TYPE", "string", "MATCH", "*1*"}
		}
		return []string{"RANDOMKEY"}
	}
	rounds := randomtest.Length(300, 60)
	differential(t, func(d *differ) {
		for range rounds {
			args := []string{"EVAL", lookAround, "0"}
			declared := rnd.IntN(3) == 0
			if declared {
				args = append([]string{"EVAL", lookAround, fmt.Sprint(len(all))}, all...)
			}
			for range 1 + rnd.IntN(30) {
				cmd := command(declared)
				args = append(append(args, fmt.Sprint(len(cmd))), cmd...)
			}
			want, got := d.both(args)
			if got.String() != want.String() {
				d.t.Fatalf("%q:\n got %s\nwant %s", strings.ReplaceAll(strings.Join(args[2:], " "), large, "large"), got, want)
			}
			if rnd.IntN(20) == 0 {
				d.both([]string{"FLUSHALL"})
			}
		}
	})
}
