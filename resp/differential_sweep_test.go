package resp

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/command"
)

// Of every command on data, whatever arguments it has: those of the wrong type, too few, too
// many, and words of its own at the wrong places.
func TestEveryCommandAnswersAsRedis(t *testing.T) {
	if testing.Short() {
		t.Skip("one client that waits for each answer: nothing to see for the race detector")
	}
	seed := randomtest.Seed(t)
	_, old := redisCommands(t)
	differential(t, func(d *differ) {
		s := sweep{differ: d, rnd: rand.New(rand.NewPCG(seed, 8))}
		for _, c := range newCommandTable().All {
			if sweptGroups[c.Group] && slices.Contains(old[c.Group], c.Full) && c.Subs == nil && !unswept[c.Full] {
				s.commands = append(s.commands, c)
			}
		}
		if len(s.commands) < 150 {
			t.Errorf("only %d commands", len(s.commands))
		}
		s.do("SELECT", strconv.Itoa(s.rnd.IntN(2)*3)) // keys of other databases than 0 are stored under longer names
		for i := range 30 * len(s.commands) {
			if i%25 == 0 {
				s.begin()
			}
			s.try(s.commands[s.rnd.IntN(len(s.commands))])
		}
		s.begin()
	})
}

var sweptGroups = map[string]bool{
	"bitmap": true, "generic": true, "geo": true, "hash": true, "hyperloglog": true, "list": true,
	"set": true, "sorted-set": true, "stream": true, "string": true,
}

// unswept are commands of which Redis' outcome is chance, is about more than one database, or
// of which Ringside says why it has none.
var unswept = map[string]bool{
	"spop": true, "move": true, "migrate": true, "wait": true, "pfdebug": true, "pfselftest": true, "randomkey": true,
}

// A sweep tries commands with arguments by chance.
type sweep struct {
	*differ
	rnd      *rand.Rand
	commands []*command.Row
}

var sweptKeys = []string{"text", "number", "hash", "list", "set", "numbers", "zset", "stream", "sketch", "none", ""}

// begin compares all values and makes new ones.
func (s *sweep) begin() {
	s.t.Helper()
	for _, key := range sweptKeys {
		switch s.do("TYPE", key).Text {
		case "string":
			s.do("GET", key)
		case "hash":
			s.like("HGETALL", key)
		case "list":
			s.do("LRANGE", key, "0", "-1")
		case "set":
			s.like("SMEMBERS", key)
		case "zset":
			s.do("ZRANGE", key, "0", "-1", "WITHSCORES")
		case "stream":
			s.do("XRANGE", key, "-", "+")
		}
	}
	s.run(`FLUSHALL
		SET text some-text
		SET number 12
		HSET hash a 1 b text 2 3
		RPUSH list a 1 b 2 a
		SADD set a b 1
		SADD numbers 1 2 3
		ZADD zset 1 a 2 b 2.5 c
		GEOADD zset 13.361389 38.115556 d
		XADD stream 1-1 a 1
		XADD stream 2-1 b 2
		XGROUP CREATE stream g 0
		XREADGROUP GROUP g a COUNT 1 STREAMS stream >
		PFADD sketch a b c`)
}

// like compares replies whose elements have no order.
func (s *sweep) like(args ...string) {
	s.t.Helper()
	if want, got := s.both(args); sortedText(want) != sortedText(got) {
		s.differs(args, got, want)
	}
}

// sortedText shows a value with its elements in the order of their texts.
func sortedText(v resptest.Value) string {
	if v.Elems == nil {
		return v.String()
	}
	var all []string
	for _, e := range v.Elems {
		all = append(all, sortedText(e))
	}
	slices.Sort(all)
	return string(v.Kind) + strings.Join(all, " ")
}

// isNewerThan70 reports whether a command has a form that Redis has only known since 7.0.
func isNewerThan70(args []string) bool {
	switch strings.ToLower(args[0]) {
	case "zrank", "zrevrank":
		return len(args) > 3
	case "xread", "xreadgroup":
		return slices.Contains(args, "+")
	case "client":
		return slices.ContainsFunc(args, func(word string) bool { return strings.EqualFold(word, "maxage") })
	case "xadd", "xtrim":
		return slices.ContainsFunc(args[1:], isRefPolicy)
	case "bitop":
		return len(args) > 1 && slices.Contains([]string{"diff", "diff1", "andor", "one"}, strings.ToLower(args[1]))
	}
	return slices.ContainsFunc(command.LoadDocs()[strings.ToLower(args[0])].Arguments, func(a command.Argument) bool {
		return hasNewerToken(&a, args[1:])
	})
}

// hasNewerToken reports whether words have a token that an argument, or a part of it, has only had since
// Redis 7.0.
func hasNewerToken(a *command.Argument, words []string) bool {
	if a.Token != "" && a.Since > "7.1" && slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, a.Token) }) {
		return true
	}
	return slices.ContainsFunc(a.Arguments, func(part command.Argument) bool { return hasNewerToken(&part, words) })
}

// try runs a command once; in a transaction if it could wait.
func (s *sweep) try(c *command.Row) {
	s.t.Helper()
	args := append(strings.Split(c.Full, "|"), s.arguments(c)...)
	has := func(words ...string) bool {
		return slices.ContainsFunc(args[1:], func(a string) bool { return slices.Contains(words, strings.ToLower(a)) })
	}
	switch {
	case c.Name == "copy" && has("db"), // there is one
		strings.HasSuffix(c.Name, "scan") && args[min(len(args)-1, len(c.Keys)+1)] != "0", // a cursor is what SCAN has returned
		c.Name == "pfcount" && len(args) == 2,                                             // Redis notes the count in the value
		strings.HasPrefix(c.Name, "x") && has("~"),                                        // the number of trimmed entries is not specified
		isNewerThan70(args):
		return
	case c.Flags&command.FlagBlocking != 0:
		s.do("MULTI")
		s.do(args...)
		s.like("EXEC")
		return
	}
	want, got := s.both(args)
	switch same := sweptLoosely[c.Full]; {
	case got.String() == want.String():
	case same == "kind" && got.Kind == want.Kind && got.Kind != '-':
	case same == "unordered" && sortedText(got) == sortedText(want):
	default:
		s.differs(args, got, want)
	}
}

// sweptLoosely says how replies are compared of which not everything is told: times, sizes,
// and what comes in no order.
var sweptLoosely = map[string]string{
	"dump": "kind", "expiretime": "kind", "pexpiretime": "kind", "pttl": "kind", "ttl": "kind",
	"object|encoding": "kind", "object|freq": "kind", "object|idletime": "kind", "object|help": "kind", "object|refcount": "kind",
	"scan": "kind", "sscan": "unordered", "keys": "unordered", "hscan": "unordered", "zscan": "unordered",
	"hrandfield": "kind", "srandmember": "kind", "zrandmember": "kind",
	"hgetall": "unordered", "hkeys": "unordered", "hvals": "unordered", "smembers": "unordered",
	"sdiff": "unordered", "sinter": "unordered", "sunion": "unordered", "sort": "unordered", "sort_ro": "unordered",
	"xautoclaim": "kind", "xclaim": "kind", "xpending": "kind",
	"xinfo|consumers": "kind", "xinfo|groups": "kind", "xinfo|stream": "kind", "xinfo|help": "kind", "xgroup|help": "kind",
}

// arguments makes some up: often a key first, then words that mean something to the command
// or to others.
func (s *sweep) arguments(c *command.Row) (args []string) {
	least := max(c.Arity, -c.Arity) - len(strings.Split(c.Full, "|"))
	n := least + s.rnd.IntN(5)
	if s.rnd.IntN(8) == 0 {
		n = s.rnd.IntN(7)
	}
	words := tokensOf(command.LoadDocs()[c.Full].Arguments)
	numbers := []string{"0", "1", "2", "-1", "3", "10", "1.5", "-inf", "+inf", "nan", "9223372036854775807", "-9223372036854775808", "x", "", "1e3", " 1", "01"}
	if timed[c.Name] { // nothing expires, or comes of age, meanwhile
		numbers = []string{"0", "-1", "99999999999", "x", "", "9223372036854775807", "-9223372036854775808"}
	}
	others := []string{"a", "b", "c", "d", "g", "1-1", "2-1", "3-0", "-", "+", "(1", "[a", "(b", ">", "$", "u8", "i5", "#1", "m", "km", "left", "max", "w*", "*", "withscores", "count", "limit"}
	for i := range n {
		pool := others
		switch p := s.rnd.IntN(10); {
		case i == 0 && len(c.Keys) > 0 && p < 8, p < 2:
			pool = sweptKeys
		case p < 5 && len(words) > 0:
			pool = words
		case p < 8:
			pool = numbers
		}
		word := pool[s.rnd.IntN(len(pool))]
		if c.Name == "xadd" && word == "*" {
			word = "9-9"
		}
		args = append(args, word)
	}
	return args
}

var timed = map[string]bool{
	"set": true, "setex": true, "psetex": true, "getex": true, "expire": true, "pexpire": true, "expireat": true, "pexpireat": true,
	"restore": true, "restore-asking": true, "xclaim": true, "xautoclaim": true, "xpending": true,
}

// tokensOf are the words by which arguments are told.
func tokensOf(args []command.Argument) (words []string) {
	for i := range args {
		if args[i].Token != "" {
			words = append(words, args[i].Token)
		}
		words = append(words, tokensOf(args[i].Arguments)...)
	}
	return words
}
