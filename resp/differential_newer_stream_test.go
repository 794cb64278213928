package resp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// Commands on streams of Redis 8.2, written from redis.io's documentation and compared in the same
// way as those on strings.

// removeLua is XDELEX, XACKDEL and XTRIM: ARGV[1] is the policy, ARGV[2] the group or ”, and IDs follow; or
// for XTRIM "trim", "maxlen" or "minid", and the threshold.
const removeLua = `
local key, policy, group = KEYS[1], ARGV[1], ARGV[2]
local kind = redis.call('TYPE', key).ok
if kind ~= 'none' and kind ~= 'stream' then return {err = 'WRONGTYPE Operation against a key holding the wrong kind of value'} end
local groups = kind == 'stream' and redis.call('XINFO', 'GROUPS', key) or {}
local function order(id)
	local ms, seq = string.match(id, '^(%d+)-(%d+)$')
	if not ms then ms, seq = id, '0' end
	return string.rep('0', 20 - #ms) .. ms .. string.rep('0', 20 - #seq) .. seq
end
local function pending(name, id) return #redis.call('XPENDING', key, name, id, id, 1) > 0 end
local function referenced(id)
	for _, g in ipairs(groups) do
		if order(id) > order(g[8]) or pending(g[2], id) then return true end
	end
	return false
end
local function drop(id)
	for _, g in ipairs(groups) do redis.call('XACK', key, g[2], id) end
end
if group == 'trim' then
	if kind == 'none' then return 0 end
	if policy ~= 'acked' or #groups == 0 then
		local first = redis.call('XRANGE', key, '-', '+', 'COUNT', 1)
		local n = redis.call('XTRIM', key, ARGV[3], ARGV[4])
		local now = redis.call('XRANGE', key, '-', '+', 'COUNT', 1)
		for _, g in ipairs(n > 0 and policy == 'delref' and groups or {}) do
			for _, p in ipairs(redis.call('XPENDING', key, g[2], first[1][1], now[1] and '(' .. now[1][1] or '+', 10000)) do
				redis.call('XACK', key, g[2], p[1])
			end
		end
		return n
	end
	local n, front, seen, gone, len = 0, 0, 0, {}, redis.call('XLEN', key)
	for _, e in ipairs(redis.call('XRANGE', key, '-', '+')) do
		if ARGV[3] == 'maxlen' and len - n <= tonumber(ARGV[4]) or ARGV[3] == 'minid' and order(e[1]) >= order(ARGV[4]) then break end
		if not referenced(e[1]) then
			n = n + 1
			if front == seen then front = front + 1 else gone[#gone + 1] = e[1] end
		end
		seen = seen + 1
	end
	if front > 0 then redis.call('XTRIM', key, 'MAXLEN', len - front) end
	for _, id in ipairs(gone) do redis.call('XDEL', key, id) end
	return n
end
local replies = {}
for i = 3, #ARGV do
	local id, reply, acked = ARGV[i], -1, group == ''
	if not string.find(id, '-') then id = id .. '-0' end
	for _, g in ipairs(groups) do
		if g[2] == group then acked = redis.call('XACK', key, group, id) == 1 end
	end
	if acked then
		if policy == 'delref' then drop(id) end
		if kind ~= 'none' and #redis.call('XRANGE', key, id, id) > 0 then
			reply = 2
			if policy ~= 'acked' or #groups > 0 and not referenced(id) then
				redis.call('XDEL', key, id)
				reply = 1
			end
		end
	end
	replies[#replies + 1] = reply
end
return replies
`

func isRefPolicy(word string) bool {
	return slices.Contains([]string{"keepref", "delref", "acked"}, strings.ToLower(word))
}

// stream70 is as70 for commands on streams; XTRIM has no option but a policy at its end.
func stream70(args []string) []string {
	name, key, rest, group := strings.ToLower(args[0]), args[1], args[2:], ""
	script := func(argv ...string) []string { return append([]string{"EVAL", removeLua, "1", key}, argv...) }
	fail := func(text string) []string { return []string{"EVAL", "return redis.error_reply(ARGV[1])", "0", text} }
	if name == "xtrim" {
		if len(args) != 5 {
			return fail("ERR syntax error")
		}
		return script(strings.ToLower(args[4]), "trim", strings.ToLower(args[2]), args[3])
	}
	if name == "xackdel" {
		group, rest = rest[0], rest[1:]
	}
	policy := "keepref"
	if isRefPolicy(rest[0]) {
		policy, rest = strings.ToLower(rest[0]), rest[1:]
	}
	n, err := strconv.Atoi(rest[1])
	switch {
	case err != nil || n < 1:
		return fail("ERR Number of IDs must be a positive integer")
	case n > len(rest)-2:
		return fail("ERR The `numids` parameter must match the number of arguments")
	case n < len(rest)-2:
		return fail("ERR syntax error")
	}
	return script(append([]string{policy, group}, rest[2:]...)...)
}

// newerStream is a command of Redis 8.2 on streams. All IDs are such that the script understands them.
func (g *streamMaker) newerStream(key, group string) []string {
	id := func() string { return fmt.Sprint(max(0, g.next-g.rnd.IntN(3*g.most)), g.pick("", "-0", "-1", "-2")) }
	policy := g.pick("KEEPREF", "DELREF", "ACKED", "delref", "acked")
	switch g.rnd.IntN(5) {
	case 0:
		return []string{"XTRIM", key, "MAXLEN", fmt.Sprint(g.rnd.IntN(6 * g.most)), policy}
	case 1:
		return []string{"XTRIM", key, "MINID", id(), policy}
	}
	args := []string{"XDELEX", key}
	if g.rnd.IntN(2) == 0 {
		args = []string{"XACKDEL", key, group}
	}
	if g.rnd.IntN(5) > 0 {
		args = append(args, policy)
	}
	var ids []string
	for range 1 + g.rnd.IntN(5) {
		ids = append(ids, id())
	}
	return append(append(args, "IDS", strconv.Itoa(len(ids)-g.rnd.IntN(40)/39)), ids...)
}

func TestRemovalWithPolicies(t *testing.T) {
	_, addr := serveTest(t, nil)
	w := watchEvents(t, addr, "EA")
	for _, line := range []string{
		"XADD s 1-0 a 1", "XADD s 2-0 a 1", "XADD s 3-0 a 1", "XADD s 4-0 a 1", "XADD s 5-0 a 1", "XADD free 1-0 a 1",
		"XGROUP CREATE s g 0", "XGROUP CREATE s h 0", "XREADGROUP GROUP g c COUNT 4 STREAMS s >", "XREADGROUP GROUP h c COUNT 3 STREAMS s >",
	} {
		w.after(strings.Fields(line)...)
	}
	for _, test := range []struct{ line, reply, events string }{
		{"XDELEX none IDS 2 1 2", "*(:-1 :-1)", ""},
		{"XACKDEL none g IDS 1 1", "*(:-1)", ""},
		{"XACKDEL s nogroup IDS 1 1", "*(:-1)", ""},
		{"XDELEX free ACKED IDS 1 1", "*(:2)", ""},
		{"XDELEX s ACKED IDS 2 1 9", "*(:2 :-1)", ""},
		{"XACKDEL s g ACKED IDS 2 1 1", "*(:2 :-1)", ""},
		{"XACKDEL s h ACKED IDS 1 1", "*(:1)", "xdel s"},
		{"XACKDEL s g IDS 1 5", "*(:-1)", ""}, // nobody has read it
		{"XDELEX s IDS 2 2 2", "*(:1 :-1)", "xdel s"},
		{"XPENDING s h", "*(:2 $2-0 $3-0 *(*($c $2)))", ""},
		{"XDELEX s DELREF IDS 1 2", "*(:-1)", ""},
		{"XPENDING s h", "*(:1 $3-0 $3-0 *(*($c $1)))", ""},
		{"XACK s g 4", ":1", ""},
		{"XTRIM s MAXLEN 0 ACKED", ":0", ""}, // h has not read 4, both have 3
		{"XACK s g 3", ":1", ""},
		{"XTRIM s MAXLEN ~ 0 ACKED LIMIT 1", ":0", ""},
		{"XACK s h 3", ":1", ""},
		{"XTRIM s MINID 3 ACKED", ":0", ""},
		{"XTRIM s ACKED MAXLEN ~ 0", ":1", "xtrim s"},
		{"XREADGROUP GROUP h c COUNT 1 STREAMS s >", "*(*($s *(*($4-0 *($a $1)))))", ""},
		{"XADD s DELREF MAXLEN 1 6-0 b 2", "$6-0", "xadd s xtrim s"},
		{"XPENDING s h", "*(:0 _$ _$ _*)", ""},
		{"XLEN s", ":1", ""},
	} {
		reply, events := w.after(strings.Fields(test.line)...)
		got := strings.ReplaceAll(strings.Join(events, " "), "__keyevent@0__:", "")
		if reply != test.reply || got != test.events {
			t.Errorf("%s: %s %q, want %s %q", test.line, reply, got, test.reply, test.events)
		}
	}
	o := resptest.Dial(t, addr, 3)
	o.Do("SET", "text", "x")
	for line, want := range map[string]string{
		"XDELEX s IDS 0 1":                   "-ERR Number of IDs must be a positive integer",
		"XDELEX s IDS x 1":                   "-ERR Number of IDs must be a positive integer",
		"XDELEX s IDS 9223372036854775807 1": "-ERR Number of IDs must be a positive integer",
		"XDELEX s IDS 2 1":                   "-ERR The `numids` parameter must match the number of arguments",
		"XDELEX s IDS 1 1 2":                 "-ERR syntax error",
		"XDELEX s ACKED ACKED IDS 1 1":       "-ERR syntax error",
		"XDELEX s ACKED KEEPREF 1":           "-ERR syntax error",
		"XDELEX s IDS 1 x":                   "-ERR Invalid stream ID specified as stream command argument",
		"XDELEX s IDS 1 1 ACKED":             "*(:-1)",
		"XDELEX text IDS 1 1":                "-WRONGTYPE Operation against a key holding the wrong kind of value",
		"XACKDEL text g IDS 1 1":             "-WRONGTYPE Operation against a key holding the wrong kind of value",
		"XTRIM s ACKED DELREF MAXLEN 1":      "-ERR syntax error",
		"XADD s ACKED ACKED * a 1":           "-ERR syntax error",
	} {
		o.Want(want, strings.Fields(line)...)
	}
}

// A trim by policy of many entries leaves the groups as a model says.
func TestTrimOfManyEntriesByPolicy(t *testing.T) {
	randomtest.DrawShort(t, 4)
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	var adds [][]string
	for i := range 3000 {
		adds = append(adds, []string{"XADD", "s", fmt.Sprint(i+1, "-0"), "a", "1"})
	}
	o.DoAll(adds)
	o.Do("XGROUP", "CREATE", "s", "g", "0")
	o.Do("XREADGROUP", "GROUP", "g", "c", "COUNT", "2500", "STREAMS", "s", ">")
	var acks []string
	for i := range 1000 {
		acks = append(acks, fmt.Sprint(i+1), fmt.Sprint(i+1501))
	}
	o.Want(":1998", append([]string{"XACK", "s", "g", "1", "2"}, acks[4:]...)...)
	_ = o.Do("XACK", "s", "g", "1501", "1502")
	o.Want(":1400", "XTRIM", "s", "MAXLEN", "1600", "ACKED") // 1000, and 400 of those behind what is pending
	o.Want(":1600", "XLEN", "s")
	o.Want("*(:500 $1001-0 $1500-0 *(*($c $500)))", "XPENDING", "s", "g")
	o.Want(":600", "XTRIM", "s", "MAXLEN", "0", "ACKED")
	o.Want(":300", "XTRIM", "s", "MINID", "1301", "DELREF")
	o.Want("*(:200 $1301-0 $1500-0 *(*($c $200)))", "XPENDING", "s", "g")
	o.Want(":700", "XTRIM", "s", "MAXLEN", "0", "DELREF")
	o.Want("*(:0 _$ _$ _*)", "XPENDING", "s", "g")
}
