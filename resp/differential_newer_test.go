package resp

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/wire"
)

// Commands of Redis 8.4, 8.8 and Valkey 9.0 on strings. No server of these versions is at hand:
// what they do is written from their documentation (redis.io/docs/latest/commands, valkey.io/commands)
// and from the expectations in Redis' own tests. For the random tests each command is translated
// into a script of Redis 7.0 that does the same, so that the two can be compared.

// newerLua are the functions that the scripts have in common.
const newerLua = `
local key = KEYS[1]
local function err(text) return {err = 'ERR ' .. text} end
-- holds compares the string at the key; ARGV[1] is the condition, and 'bad' stands for a digest of the wrong length.
local function holds()
	local cond, with, is = ARGV[1], ARGV[2], redis.call('GET', key)
	if cond == 'bad' then return err('must be exactly 16 hexadecimal characters') end
	return (is == with) == (cond == 'eq')
end
`

// setLua is SET with a condition: ARGV[3] is the value, and the other options follow.
const setLua = newerLua + `
local words, get = {}, false
for i = 3, #ARGV do
	words[#words + 1] = ARGV[i]
	if i > 3 and string.upper(ARGV[i]) == 'GET' then get = true end
end
local refused = redis.pcall('SET', key .. ' scratch', unpack(words))
redis.call('DEL', key .. ' scratch')
if type(refused) == 'table' and refused.err then return refused end
local kind = redis.call('TYPE', key).ok
if kind ~= 'none' and kind ~= 'string' then return {err = 'WRONGTYPE Operation against a key holding the wrong kind of value'} end
local ok
if kind == 'none' then ok = ARGV[1] ~= 'eq' and ARGV[1] ~= 'badeq' else
	if ARGV[1] == 'badeq' then ARGV[1] = 'bad' end
	ok = holds()
end
if type(ok) == 'table' then return ok end
if not ok then return get and redis.call('GET', key) or false end
return redis.pcall('SET', key, unpack(words))
`

const delLua = newerLua + `
local kind = redis.call('TYPE', key).ok
if kind == 'none' then return 0 end
if ARGV[3] == 'delifeq' and kind ~= 'string' then return {err = 'WRONGTYPE Operation against a key holding the wrong kind of value'} end
if kind ~= 'string' then return err('Key should be of string type if conditions are specified') end
if ARGV[1] == '' then return err('Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE') end
if ARGV[1] == 'badeq' then ARGV[1] = 'bad' end
local ok = holds()
if type(ok) == 'table' then return ok end
return ok and redis.call('DEL', key) or 0
`

// msetLua is MSETEX: ARGV has the values, then NX, XX or nothing, then the options of SET.
const msetLua = `
local words = {}
for i = #KEYS + 2, #ARGV do words[#words + 1] = ARGV[i] end
local refused = redis.pcall('SET', KEYS[1] .. ' scratch', '', unpack(words))
redis.call('DEL', KEYS[1] .. ' scratch')
if type(refused) == 'table' and refused.err then return {err = string.gsub(refused.err, "'set'", "'msetex'")} end
local cond, there = ARGV[#KEYS + 1], 0
for _, k in ipairs(KEYS) do there = there + redis.call('EXISTS', k) end
if cond == 'NX' and there > 0 or cond == 'XX' and there < #KEYS then return 0 end
for i, k in ipairs(KEYS) do redis.call('SET', k, ARGV[i], unpack(words)) end
return 1
`

// xsetidLua is XSETID, which refuses an ID below that of a removed entry since Redis 7.2.
const xsetidLua = `
local function parts(id)
	local ms, seq = string.match(id, '^(%d+)-?(%d*)$')
	return tonumber(ms), tonumber(seq) or 0
end
local key, deleted = KEYS[1], nil
if redis.call('TYPE', key).ok == 'stream' then
	local info = redis.call('XINFO', 'STREAM', key)
	for i = 1, #info, 2 do
		if info[i] == 'max-deleted-entry-id' then deleted = info[i + 1] end
	end
end
local ms, seq = parts(ARGV[1])
if deleted and ms then
	local deletedMs, deletedSeq = parts(deleted)
	if ms < deletedMs or ms == deletedMs and seq < deletedSeq then
		local scratch = key .. ' scratch'
		redis.call('XGROUP', 'CREATE', scratch, 'g', '$', 'MKSTREAM')
		local refused = redis.pcall('XSETID', scratch, unpack(ARGV))
		redis.call('DEL', scratch)
		if refused.err then return refused end
		return {err = 'ERR The ID specified in XSETID is smaller than current max_deleted_entry_id'}
	end
end
return redis.pcall('XSETID', key, unpack(ARGV))
`

// noOpposite is the one number that has no opposite. LREM and LPOS refuse it since Redis 7.2.
const noOpposite = "-9223372036854775808"

// ranksLeast reports whether LPOS comes upon that number before anything else that is wrong with its options.
func ranksLeast(args []string) bool {
	for i := 3; i+1 < len(args); i += 2 {
		n, ok := wire.ParseInt([]byte(args[i+1]))
		isRank := strings.EqualFold(args[i], "rank")
		switch isCount := strings.EqualFold(args[i], "count") || strings.EqualFold(args[i], "maxlen"); {
		case isRank && args[i+1] == noOpposite:
			return true
		case !ok, isRank && n == 0, isCount && n < 0, !isRank && !isCount:
			return false
		}
	}
	return false
}

// bitRangeFault returns the error of a BITCOUNT or BITPOS with a bad range: since Redis 7.4 it does not depend on
// the key.
func bitRangeFault(args []string) string {
	from := 2
	if strings.EqualFold(args[0], "bitpos") {
		if from = 3; len(args) < 3 || args[2] != "0" && args[2] != "1" {
			return "" // refused by itself
		}
	}
	words := args[from:]
	isInt := func(i int) bool {
		_, ok := wire.ParseInt([]byte(words[i]))
		return ok
	}
	isUnit := len(words) < 3 || strings.EqualFold(words[2], "bit") || strings.EqualFold(words[2], "byte")
	switch n := len(words); {
	case n == 0:
		return ""
	case n > 3, n == 1 && from == 2:
		return "ERR syntax error"
	case !isInt(0):
		return "ERR value is not an integer or out of range"
	case from == 3 && !isUnit: // BITPOS reads the unit before the end
		return "ERR syntax error"
	case n > 1 && !isInt(1):
		return "ERR value is not an integer or out of range"
	case !isUnit:
		return "ERR syntax error"
	}
	return ""
}

// conditionValues are the values that conditions ask for in random tests.
var conditionValues = []string{"", "x", "10", "one value", strings.Repeat("long ", 14000)}

// translateCondition returns a condition as the scripts have it.
func translateCondition(name, with string) (cond, value string) {
	cond = map[string]string{"ifeq": "eq", "ifdeq": "eq", "ifne": "ne", "ifdne": "ne"}[strings.ToLower(name)]
	if !strings.EqualFold(name, "ifdeq") && !strings.EqualFold(name, "ifdne") {
		return cond, with
	}
	if len(with) != 16 {
		return map[string]string{"eq": "badeq", "ne": "bad"}[cond], with
	}
	for _, v := range conditionValues {
		if strings.EqualFold(digestText(v), with) {
			return cond, v
		}
	}
	return cond, "the value of no key"
}

func digestText(value string) string { return fmt.Sprintf("%016x", xxh3.HashString(value)) }

func isCondition(word string) bool {
	return slices.Contains([]string{"ifeq", "ifne", "ifdeq", "ifdne"}, strings.ToLower(word))
}

// as70 returns a command that has the same effect and reply on Redis 7.0.
func as70(args []string) []string {
	script := func(body string, keys []string, argv ...string) []string {
		return slices.Concat([]string{"EVAL", body, strconv.Itoa(len(keys))}, keys, argv)
	}
	fail := func(text string) []string {
		return script("return redis.error_reply(ARGV[1])", nil, text)
	}
	name := strings.ToLower(args[0])
	arity := func() []string { return fail("ERR wrong number of arguments for '" + name + "' command") }
	switch {
	case name == "set" && len(args) > 3 && slices.ContainsFunc(args[3:], isCondition):
		i := 3 + slices.IndexFunc(args[3:], isCondition)
		if i+1 == len(args) {
			return fail("ERR syntax error")
		}
		rest := slices.Concat(args[2:i], args[i+2:])
		for _, word := range rest[1:] {
			if isCondition(word) || strings.EqualFold(word, "nx") || strings.EqualFold(word, "xx") {
				return fail("ERR syntax error")
			}
		}
		cond, with := translateCondition(args[i], args[i+1])
		return script(setLua, args[1:2], append([]string{cond, with}, rest...)...)
	case (name == "bitcount" || name == "bitpos") && len(args) > 1:
		if msg := bitRangeFault(args); msg != "" {
			return fail(msg)
		}
	case name == "lrem" && len(args) == 4 && args[2] == noOpposite, name == "lpos" && ranksLeast(args):
		return fail("ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807")
	case name == "xsetid" && len(args) > 2:
		return script(xsetidLua, args[1:2], args[2:]...)
	case name == "delex" && len(args) == 2:
		return []string{"DEL", args[1]}
	case name == "delex" && len(args) == 4:
		cond, with := translateCondition(args[2], args[3])
		return script(delLua, args[1:2], cond, with, name)
	case name == "delifeq" && len(args) == 3:
		return script(delLua, args[1:2], "eq", args[2], name)
	case name == "xdelex" && len(args) >= 5, name == "xackdel" && len(args) >= 6, name == "xtrim" && slices.ContainsFunc(args[1:], isRefPolicy):
		return stream70(args)
	case name == "delex", name == "delifeq", name == "msetex" && len(args) < 4, name == "xdelex", name == "xackdel":
		return arity()
	case name == "msetex":
		n, err := strconv.Atoi(args[1])
		if err != nil || n < 1 {
			return fail("ERR invalid numkeys value")
		}
		if 2+2*n > len(args) {
			return fail("ERR wrong number of key-value pairs")
		}
		var keys, argv []string
		for i := 2; i < 2+2*n; i += 2 {
			keys, argv = append(keys, args[i]), append(argv, args[i+1])
		}
		cond, rest := "", []string{}
		for _, word := range args[2+2*n:] {
			switch up := strings.ToUpper(word); {
			case up == "NX" || up == "XX":
				if cond != "" && cond != up {
					return fail("ERR syntax error")
				}
				cond = up
			case up == "GET" || isCondition(word):
				return fail("ERR syntax error")
			default:
				rest = append(rest, word)
			}
		}
		return script(msetLua, keys, slices.Concat(argv, []string{cond}, rest)...)
	}
	return args
}

// all70 is as70 of several commands.
func all70(cmds [][]string) (list [][]string) {
	for _, args := range cmds {
		list = append(list, as70(args))
	}
	return list
}

// newer is a command of those that are newer than Redis 7.0.
func (g commandMaker) newer() []string {
	value := func() string { return g.pick(conditionValues[:4+g.rnd.IntN(50)/49]...) }
	cond := func() []string {
		switch g.rnd.IntN(12) {
		case 0:
			return []string{g.pick("IFDEQ", "IFDNE"), g.pick("", "1234567890", "000000000000000g", "0123456789abcdef")}
		case 1:
			return []string{g.pick("IF", "EQ", "NX"), "x"}
		}
		if g.rnd.IntN(2) == 0 {
			digest := digestText(value())
			return []string{g.pick("IFDEQ", "ifdne"), g.pick(digest, strings.ToUpper(digest))}
		}
		return []string{g.pick("IFEQ", "IFNE", "ifeq", "ifne"), value()}
	}
	switch g.rnd.IntN(8) {
	case 0, 1:
		return []string{"SET", g.key(), value()}
	case 2, 3:
		args := append([]string{"SET", g.key(), value()}, cond()...)
		return append(args, g.options("GET", "GET", "GET", "KEEPTTL", "NX", "IFEQ")...)
	case 4:
		return []string{"DELEX", g.key()}
	case 5:
		return append([]string{"DELEX", g.key()}, cond()...)
	case 6:
		return []string{"DELIFEQ", g.key(), value()}
	}
	pairs := 1 + g.rnd.IntN(3)
	args := []string{"MSETEX", strconv.Itoa(pairs - g.rnd.IntN(20)/19)} // with more than there are, options would be keys
	for range pairs {
		args = append(args, g.key(), value())
	}
	return append(args, g.options("NX", "XX", "KEEPTTL", "nx", "GET")...)
}

// newerEvents are commands, and the events that follow.
var newerEvents = []struct{ line, reply, events string }{
	{"SET a 1", "+OK", "set a"},
	{"SET a 2 IFEQ 2", "_$", ""},
	{"SET a 2 IFEQ 1 EX 100", "+OK", "set a expire a"},
	{"SET a 3 IFNE 2 GET", "$2", ""},
	{"DIGEST a", "$" + digestText("2"), ""},
	{"DIGEST none", "_$", ""},
	{"DELEX a IFNE 2", ":0", ""},
	{"DELEX a IFNE 3", ":1", "del a"},
	{"DELEX a", ":0", ""},
	{"MSETEX 2 a 1 b 2 NX EX 100", ":1", "set a expire a set b expire b"},
	{"MSETEX 2 a 1 c 2 NX EX 100", ":0", ""},
	{"MSETEX 2 a 1 c 2 XX KEEPTTL", ":0", ""},
	{"MSETEX 2 a 1 b 2 XX KEEPTTL", ":1", "set a set b"},
	{"TTL b", ":100", ""},
	{"DELIFEQ b 1", ":0", ""},
	{"DELIFEQ b 2", ":1", "del b"},
	{"INCREX a PERSIST", "*(:2 :1)", "incrby a persist a"},
	{"INCREX a PERSIST", "*(:3 :1)", "incrby a"},
	{"INCREX a BYFLOAT 0.5 EX 100", "*($3.5 $0.5)", "incrbyfloat a expire a"},
	{"INCREX a BYFLOAT 0.5 PX 1 ENX", "*($4 $0.5)", "incrbyfloat a"},
	{"INCREX a BYFLOAT 0.5 UBOUND 4 EX 10", "*($4 $0)", ""},
	{"INCREX a EXAT 1", "*(:5 :1)", "incrby a del a"},
	{"INCREX a EXAT 1", "*(:1 :1)", ""},
	{"EXISTS a", ":0", ""},
}

func TestNewerStringCommandsTellEvents(t *testing.T) {
	_, own := serveTest(t, nil)
	w := watchEvents(t, own, "EA")
	for _, test := range newerEvents {
		reply, events := w.after(strings.Fields(test.line)...)
		got := strings.ReplaceAll(strings.Join(events, " "), "__keyevent@0__:", "")
		if reply != test.reply || got != test.events {
			t.Errorf("%s: %s %q, want %s %q", test.line, reply, got, test.reply, test.events)
		}
	}
}

// Vectors of redis.io's documentation and of Redis' tests, and strings that are kept in pieces.
func TestDigestIsXXH3(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 3)
	for value, want := range map[string]string{
		"Hello world": "b6acb9d84a38ff74",
		"v8lf0c11xh8ymlqztfd3eeq16kfn4sspw7fqmnuuq3k3t75em5wdizgcdw7uc26nnf961u2jkfzkjytls2kwlj7626sd": "00006c38adf31777",
	} {
		o.Want("+OK", "SET", "k", value)
		o.Want("$"+want, "DIGEST", "k")
		o.Want("$"+value, "SET", "k", "x", "IFDEQ", strings.ToUpper(want), "GET")
		o.Want("$x", "GET", "k")
	}
	for _, size := range []int{0, 1, 240, 241, 65535, 65536, 65537, 131072, 3<<20 + 5} {
		value := noise(size)
		o.Want("+OK", "SET", "k", value)
		o.Want("$"+digestText(value), "DIGEST", "k")
		other := value[:max(0, size-1)] + "\x01"
		o.Want(":0", "DELIFEQ", "k", other)
		o.Want(":0", "DELEX", "k", "IFDNE", digestText(value))
		o.Want(":1", "DELEX", "k", "IFEQ", value)
	}
	o.Do("RPUSH", "l", "x")
	o.Want("-WRONGTYPE Operation against a key holding the wrong kind of value", "DIGEST", "l")
	o.Want(":1", "DELEX", "l")
}

// INCREX against a model of whole numbers of any size, and of numbers with a binary fraction.
func TestRandomIncrexFollowsTheModel(t *testing.T) {
	randomtest.DrawShort(t, 4)
	seed := randomtest.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 0))
	_, addr := serveTest(t, nil)
	number := func() string {
		switch rnd.IntN(6) {
		case 0:
			return strconv.FormatInt(int64(rnd.Uint64()), 10)
		case 1:
			return []string{"9223372036854775807", "-9223372036854775808", "0", "9223372036854775800"}[rnd.IntN(4)]
		}
		return strconv.Itoa(rnd.IntN(41) - 20)
	}
	for proto := 2; proto <= 3; proto++ {
		o := resptest.Dial(t, addr, proto)
		for range randomtest.Length(4000, 500) {
			float := rnd.IntN(2) == 0
			scale := func(s string) string { // halves, small enough to be exact
				n, _ := strconv.ParseInt(s, 10, 64)
				return strconv.FormatFloat(float64(n%1000)/2, 'f', -1, 64)
			}
			old, by, lower, upper := number(), number(), "-9223372036854775808", "9223372036854775807"
			if float {
				old, by, lower, upper = scale(old), scale(by), "-100000", "100000"
			}
			args := []string{"INCREX", "k", map[bool]string{false: "BYINT", true: "BYFLOAT"}[float], by}
			bound := func(option string, at *string) {
				if rnd.IntN(2) == 0 {
					if *at = number(); float {
						*at = scale(*at)
					}
					args = append(args, option, *at)
				}
			}
			bound("LBOUND", &lower)
			bound("UBOUND", &upper)
			saturate := rnd.IntN(2) == 0
			if saturate {
				args = append(args, "saturate")
			}
			o.Do("DEL", "k")
			if rnd.IntN(5) > 0 {
				o.Want("+OK", "SET", "k", old)
			} else {
				old = "0"
			}
			if got, want := o.Do(args...).String(), increxModel(old, by, lower, upper, saturate, float, proto); got != want {
				t.Fatalf("%v of %s: %s, want %s", args, old, got, want)
			}
		}
	}
}

func increxModel(old, by, lower, upper string, saturate, float bool, proto int) string {
	rat := func(s string) *big.Rat {
		r, _ := new(big.Rat).SetString(s)
		return r
	}
	reply := func(value, by *big.Rat) string {
		text := func(r *big.Rat) string {
			kind := ":"
			if float {
				kind = map[int]string{2: "$", 3: ","}[proto]
			}
			s := r.FloatString(1)
			return kind + strings.TrimSuffix(s, ".0")
		}
		return "*(" + text(value) + " " + text(by) + ")"
	}
	low, high := rat(lower), rat(upper)
	if low.Cmp(high) > 0 {
		return "-ERR LBOUND can't be greater than UBOUND"
	}
	was := rat(old)
	sum := new(big.Rat).Add(was, rat(by))
	if sum.Cmp(low) >= 0 && sum.Cmp(high) <= 0 {
		return reply(sum, rat(by))
	}
	if !saturate {
		return reply(was, new(big.Rat))
	}
	if sum.Cmp(high) > 0 {
		sum = high
	} else {
		sum = low
	}
	diff := new(big.Rat).Sub(sum, was)
	if n := diff.Num(); !float && !n.IsInt64() {
		return "-ERR applied increment would overflow"
	}
	return reply(sum, diff)
}

// Replies as Redis' tests expect them of 8.4 and 8.8.
func TestNewerStringCommandsRefuse(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	o.Do("SET", "k", "10")
	o.Do("RPUSH", "l", "x")
	most := strconv.FormatInt(math.MaxInt64, 10)
	for _, test := range []struct{ line, want string }{
		{"SET k v IFEQ", "ERR syntax error"},
		{"SET k v IFEQ a IFNE b", "ERR syntax error"},
		{"SET k v NX IFEQ a", "ERR syntax error"},
		{"SET k v IFDEQ 123", "ERR must be exactly 16 hexadecimal characters"},
		{"SET l v IFDEQ 123", "WRONGTYPE Operation against a key holding the wrong kind of value"},
		{"DELEX k IFEQ", "ERR wrong number of arguments for 'delex' command"},
		{"DELEX k IFEQ a b", "ERR wrong number of arguments for 'delex' command"},
		{"DELEX k IF a", "ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE"},
		{"DELEX l IFEQ x", "ERR Key should be of string type if conditions are specified"},
		{"DELIFEQ l x", "WRONGTYPE Operation against a key holding the wrong kind of value"},
		{"MSETEX a b c", "ERR invalid numkeys value"},
		{"MSETEX 2147483648 a b EX 10", "ERR invalid numkeys value"},
		{"MSETEX 2147483647 a b EX 10", "ERR wrong number of key-value pairs"},
		{"MSETEX 2 a b c", "ERR wrong number of key-value pairs"},
		{"MSETEX 1 a b nonsense", "ERR syntax error"},
		{"MSETEX 1 a b NX XX", "ERR syntax error"},
		{"MSETEX 1 a b KEEPTTL EX 10", "ERR syntax error"},
		{"MSETEX 1 a b EX 0", "ERR invalid expire time in 'msetex' command"},
		{"INCREX k FOO", "ERR syntax error"},
		{"INCREX k BYINT", "ERR syntax error"},
		{"INCREX k BYINT 1 BYINT 1", "ERR syntax error"},
		{"INCREX k BYINT 1 BYFLOAT 1", "ERR syntax error"},
		{"INCREX k EX 10 EX 10", "ERR syntax error"},
		{"INCREX k EX 10 PERSIST", "ERR syntax error"},
		{"INCREX k PERSIST ENX", "ERR syntax error"},
		{"INCREX k ENX", "ERR ENX flag requires an expiration"},
		{"INCREX k BYINT 1.5", "ERR Increment is not an integer or out of range"},
		{"INCREX k BYFLOAT x", "ERR Increment is not a valid float"},
		{"INCREX k BYFLOAT +inf", "ERR BYFLOAT increment cannot be Infinity"},
		{"INCREX k LBOUND 0.5", "ERR LBOUND is not an integer or out of range"},
		{"INCREX k BYFLOAT 1 UBOUND x", "ERR UBOUND is not a valid float"},
		{"INCREX k LBOUND 10 UBOUND 5", "ERR LBOUND can't be greater than UBOUND"},
		{"INCREX k BYFLOAT 1 LBOUND inf", "ERR LBOUND can't be greater than UBOUND"},
		{"INCREX k BYFLOAT 1 LBOUND inf UBOUND inf SATURATE", "ERR applied increment would be Infinity"},
		{"INCREX k EX -1", "ERR invalid expire time in 'increx' command"},
		{"INCREX k BYINT -20 UBOUND -9223372036854775808 SATURATE BYINT 1", "ERR syntax error"},
		{"INCREX k UBOUND -9223372036854775808 SATURATE", "ERR applied increment would overflow"},
		{"INCREX l", "WRONGTYPE Operation against a key holding the wrong kind of value"},
	} {
		o.Want("-"+test.want, strings.Fields(test.line)...)
		o.Want("$10", "GET", "k")
	}
	o.Want("+OK", "SET", "k", most)
	o.Want("*(:"+most+" :0)", "INCREX", "k", "SATURATE")
	o.Want("+OK", "SET", "k", "inf")
	o.Want("-ERR value cannot be Infinity", "INCREX", "k", "BYFLOAT", "1")
	big := "1" + strings.Repeat("0", 4931) + "0"
	o.Want("+OK", "SET", "k", big[:4932])
	if got := o.Do("INCREX", "k", "BYFLOAT", big[:4932], "SATURATE"); len(got.Elems) != 2 || len(got.Elems[0].Text) != 4932 {
		t.Errorf("%.100s", got.String())
	}
}

// CLUSTERSCAN finds the keys of both nodes through either, also on a redirect connection, where SCAN
// finds those of its node.
func TestClusterscanCoversAllNodes(t *testing.T) {
	r, keys := halves(t)
	resptest.Dial(t, r.addrs[0], 2).Want("+OK", "MSET", keys[0], "1", keys[1], "2")
	for i := range 2 {
		o := resptest.Dial(t, r.addrs[i], 2+i)
		for _, redirects := range []bool{false, true} {
			if redirects {
				o.Want("+OK", "RING", "ROUTE", "redirect")
			}
			var found []string
			cursor := "0"
			for cursor != "0" || found == nil {
				v := o.Do("CLUSTERSCAN", cursor, "COUNT", "1", "TYPE", "string")
				cursor = v.Elems[0].Text
				for _, e := range v.Elems[1].Elems {
					found = append(found, e.Text)
				}
			}
			slices.Sort(found)
			if want := slices.Sorted(slices.Values(keys[:])); !slices.Equal(found, want) {
				t.Errorf("through node %d, redirect %v: %v, want %v", i, redirects, found, want)
			}
		}
		o.Want("-ERR syntax error", "CLUSTERSCAN", "0", "SLOT", "1")
		o.Want("-ERR invalid cursor", "CLUSTERSCAN", "x")
	}
}

// CLUSTER MYSHARDID is an ID like that of a node, and another one.
func TestShardIDIsStable(t *testing.T) {
	_, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	id := o.Do("CLUSTER", "MYSHARDID").Text
	if len(id) != 40 || id == o.Do("CLUSTER", "MYID").Text || id != resptest.Dial(t, addr, 3).Do("CLUSTER", "MYSHARDID").Text {
		t.Error(id)
	}
}

// The positions of keys, and what a command does with them.
func TestKeysOfNewerStringCommands(t *testing.T) {
	srv := &Server{table: newCommandTable()}
	for _, test := range []struct{ line, want string }{
		{"COMMAND GETKEYS MSETEX 2 a 1 b 2 NX", "*($a $b)"},
		{"COMMAND GETKEYS MSETEX 3 a 1 b 2", "-ERR Invalid arguments specified for command"},
		{"COMMAND GETKEYS XACKDEL s g IDS 1 1", "*($s)"},
		{"COMMAND GETKEYSANDFLAGS SET a 1 IFEQ 2", "*(*($a *(+RW +access +update)))"},
		{"COMMAND GETKEYSANDFLAGS DELEX a", "*(*($a *(+RM +delete)))"},
		{"COMMAND GETKEYSANDFLAGS DELEX a IFEQ x", "*(*($a *(+RW +delete)))"},
	} {
		if got := callOnce(t, srv, 2, strings.Fields(test.line)...).String(); got != test.want {
			t.Errorf("%s: %s, want %s", test.line, got, test.want)
		}
	}
}
