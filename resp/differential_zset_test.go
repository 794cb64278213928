package resp

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
)

func TestZSetCommandsAnswerAsRedis(t *testing.T) {
	differential(t, func(d *differ) {
		d.runBy(`
SET text x
ZADD z 1 a
ZADD z 1 a 2 b
ZADD z 3
ZADD z
ZADD z x a
ZADD z 1 a 2
ZADD z nan a
ZADD z NX 5 a 6 f
ZADD z XX 5 a 6 g
ZADD z XX CH 5 a 6 g
ZADD z XX CH 7 a 6 g
ZADD z NX XX 1 a
ZADD z GT LT 1 a
ZADD z NX GT 1 a
ZADD z GT CH 1 a
ZADD z GT CH 9 a
ZADD z LT CH 1 a 1 new
ZADD z INCR 1 a 2 b
ZADD z INCR 1 a
ZADD z INCR NX 1 a
ZADD z INCR XX 1 nope
ZADD z INCR GT -1 a
ZADD z INCR LT -1 a
ZADD nope XX INCR 1 a
ZADD nope XX 1 a
EXISTS nope
ZADD z inf i -inf j +inf k
ZINCRBY z -inf i
ZINCRBY z inf j
ZADD z INCR -inf k
ZADD text 1 a
ZADD text x a
ZADD text NX XX 1 a
ZADD z 1e400 a
ZADD z 0x10 hex
ZADD z 1e-400 a
ZADD z -0 zero
ZSCORE z zero
ZADD neg -0 zero
ZSCORE neg zero
ZSCORE z a
ZSCORE z nope
ZSCORE nope a
ZSCORE text a
ZMSCORE z a nope i
ZMSCORE nope a b
ZMSCORE text a
ZINCRBY z 1.5 a
ZINCRBY z x a
ZINCRBY z NX a
ZINCRBY fresh 3 a
ZINCRBY text 3 a
ZCARD z
ZCARD nope
ZCARD text
ZRANK z a
ZRANK z nope
ZRANK nope a
ZRANK text a
ZREVRANK z a
ZREVRANK z nope
ZREM z a nope
ZREM nope a
ZREM text a
ZREM fresh a
EXISTS fresh
DEL z
ZADD z 1 a 2 b 3 c 4 d 5 e 0.1 f 1e17 g 1e21 h 123456789012345678 i -5.5 j
ZRANGE z 0 -1
ZRANGE z 0 -1 WITHSCORES
ZRANGE z 1 2
ZRANGE z -3 -1 REV WITHSCORES
ZRANGE z 5 1
ZRANGE z 100 200
ZRANGE z -200 200
ZRANGE z x 1
ZRANGE z 0 1 LIMIT 0 1
ZRANGE z 0 1 LIMIT 0 -1
ZRANGE z 0 1 LIMIT 1
ZRANGE z 0 1 LIMIT x 1
ZRANGE z 0 1 BYLEX WITHSCORES
ZRANGE z 0 1 REV REV
ZRANGE z 0 1 BYSCORE BYLEX
ZRANGE z 1 3 BYSCORE
ZRANGE z (1 3 BYSCORE WITHSCORES
ZRANGE z (1 (3 BYSCORE
ZRANGE z 3 1 BYSCORE REV
ZRANGE z 1 3 BYSCORE REV
ZRANGE z -inf +inf BYSCORE LIMIT 2 3
ZRANGE z +inf -inf BYSCORE REV LIMIT 2 3 WITHSCORES
ZRANGE z -inf +inf BYSCORE LIMIT -1 3
ZRANGE z -inf +inf BYSCORE LIMIT 2 -1
ZRANGE z -inf +inf BYSCORE LIMIT 2 -7
ZRANGE z -inf +inf BYSCORE LIMIT 2 0
ZRANGE z -inf +inf BYSCORE LIMIT 200 2
ZRANGE z a b BYSCORE
ZRANGE z nan 1 BYSCORE
ZRANGE z "" 3 BYSCORE
ZRANGE z "(" 3 BYSCORE
ZRANGE z " 1" 3 BYSCORE
ZRANGE z "1 " 3 BYSCORE
ZRANGE z "1\x00x" 3 BYSCORE
ZRANGE z 0x1 1e1 BYSCORE
ZRANGE z 1e400 -1e400 BYSCORE REV
ZRANGE nope 0 -1
ZRANGE nope x y
ZRANGE text 0 -1
ZRANGE text x y
ZRANGE z - + BYLEX
ZREVRANGE z 0 2
ZREVRANGE z 0 2 WITHSCORES
ZREVRANGE z 0 2 BYSCORE
ZREVRANGE z -2 -1
ZREVRANGE z x 1
ZRANGEBYSCORE z 1 3
ZRANGEBYSCORE z 1 3 WITHSCORES LIMIT 1 1
ZRANGEBYSCORE z 1 3 REV
ZREVRANGEBYSCORE z 3 (1
ZREVRANGEBYSCORE z 1 3
ZRANGEBYSCORE nope 1 3
ZRANGEBYSCORE text 1 3
ZCOUNT z 1 3
ZCOUNT z (1 3
ZCOUNT z 3 1
ZCOUNT z -inf +inf
ZCOUNT z x 1
ZCOUNT nope 1 3
ZCOUNT nope x 3
ZCOUNT text 1 3
ZADD l 0 a 0 b 0 c 0 d 0 e 0 "" 0 aa
ZRANGEBYLEX l - +
ZRANGEBYLEX l [b [d
ZRANGEBYLEX l (b (d
ZRANGEBYLEX l [b +
ZRANGEBYLEX l + -
ZRANGEBYLEX l - -
ZRANGEBYLEX l + +
ZRANGEBYLEX l [c [c
ZRANGEBYLEX l (c [c
ZRANGEBYLEX l [d [b
ZRANGEBYLEX l [ (
ZRANGEBYLEX l ( +
ZRANGEBYLEX l b d
ZRANGEBYLEX l -x +
ZRANGEBYLEX l "" +
ZRANGEBYLEX l - + LIMIT 1 2
ZRANGEBYLEX l - + WITHSCORES
ZREVRANGEBYLEX l + -
ZREVRANGEBYLEX l [d (a
ZREVRANGEBYLEX l (d [a LIMIT 1 1
ZREVRANGEBYLEX l [a [d
ZLEXCOUNT l - +
ZLEXCOUNT l [b (d
ZLEXCOUNT l b d
ZLEXCOUNT nope - +
ZLEXCOUNT nope b d
ZLEXCOUNT text - +
ZRANGEBYLEX z [b [h
ZREVRANGEBYLEX z [h [b
ZRANGEBYLEX z (j +
ZRANGESTORE out z 1 3
ZRANGE out 0 -1 WITHSCORES
ZRANGESTORE out z 1 3 BYSCORE LIMIT 1 1
ZRANGESTORE out z 3 1 BYSCORE REV LIMIT 1 1
ZRANGE out 0 -1 WITHSCORES
ZRANGESTORE out z 1 3 WITHSCORES
ZRANGESTORE out z 1
ZRANGESTORE out l [a [b BYLEX
ZRANGESTORE out nope 0 -1
EXISTS out
ZRANGESTORE out text 0 -1
ZRANGESTORE text z 0 -1
TYPE text
SET text x
ZRANGESTORE z z 0 5
ZRANGE z 0 -1 WITHSCORES
ZREMRANGEBYRANK z 0 0
ZREMRANGEBYRANK z -1 -1
ZREMRANGEBYRANK z 5 1
ZREMRANGEBYRANK z x 1
ZREMRANGEBYRANK nope 0 1
ZREMRANGEBYRANK nope x 1
ZREMRANGEBYRANK text 0 1
ZREMRANGEBYSCORE z 1 (2
ZREMRANGEBYSCORE z x 1
ZREMRANGEBYSCORE text 0 1
ZREMRANGEBYLEX l [b (d
ZREMRANGEBYLEX l b d
ZREMRANGEBYLEX text - +
ZREMRANGEBYLEX l - +
EXISTS l
ZRANGE z 0 -1 WITHSCORES
ZADD p 1 a 2 b 3 c 4 d 5 e
ZPOPMIN p
ZPOPMAX p
ZPOPMIN p 0
ZPOPMIN p -1
ZPOPMIN p x
ZPOPMIN p 1
ZPOPMAX p 1
ZPOPMIN p 1 1
ZPOPMIN nope
ZPOPMIN nope 2
ZPOPMIN nope -2
ZPOPMIN text
ZPOPMIN text 0
ZPOPMIN text 1
ZPOPMIN p 100
EXISTS p
ZADD p 1 a 2 b 3 c 4 d 5 e
ZMPOP 1 p MIN
ZMPOP 2 nope p MAX COUNT 2
ZMPOP 2 nope p MAX COUNT 0
ZMPOP 2 nope p MAX COUNT x
ZMPOP 2 nope p MAX COUNT
ZMPOP 2 nope p MAX COUNT x p q
ZMPOP 2 nope p MAX COUNT 1 p q
ZMPOP 2 nope p MAX COUNT 1 COUNT 1
ZMPOP 2 nope p UP
ZMPOP 3 nope p MIN
ZMPOP 0 p MIN
ZMPOP x p MIN
ZMPOP -1 p MIN
ZMPOP 1 nope MIN
ZMPOP 2 text p MIN
ZMPOP 2 p text MIN COUNT 100
EXISTS p
ZRANDMEMBER nope
ZRANDMEMBER nope 3
ZRANDMEMBER nope -3 WITHSCORES
ZRANDMEMBER text
ZRANDMEMBER text 1
ZADD one 1.5 a
ZRANDMEMBER one
ZRANDMEMBER one 5
ZRANDMEMBER one -5
ZRANDMEMBER one 5 WITHSCORES
ZRANDMEMBER one -3 WITHSCORES
ZRANDMEMBER one 0
ZRANDMEMBER one x
ZRANDMEMBER one x VALUES
ZRANDMEMBER one 1 SCORES
ZRANDMEMBER one 1 WITHSCORES x
ZRANDMEMBER one -9223372036854775808
ZRANDMEMBER one 9223372036854775807 WITHSCORES
ZSCAN one 0
ZSCAN nope 0
ZSCAN text 0
ZSCAN one x
ZSCAN one 0 MATCH b*
ZSCAN one 0 COUNT 0
ZSCAN one 0 TYPE zset
DEL z
ZADD z 0.1 f 1e17 g 1e21 h 123456789012345678 i -5.5 j 3 k inf l
ZSCAN z 0
ZADD a 1 x 2 y 3 z
ZADD b 10 y 20 z 30 w
SADD s x y q
ZUNION 2 a b
ZUNION 2 a b WITHSCORES
ZUNION 2 a b WEIGHTS 2 0.5 WITHSCORES
ZUNION 2 a b AGGREGATE MIN WITHSCORES
ZUNION 2 a b AGGREGATE MAX WEIGHTS 1 -1 WITHSCORES
ZUNION 2 a b AGGREGATE AVG
ZUNION 2 a b WEIGHTS 1
ZUNION 2 a b WEIGHTS 1 x
ZUNION 2 a b LIMIT 1
ZUNION 3 a b s WITHSCORES
ZUNION 2 a nope WITHSCORES
ZUNION 1 nope
ZUNION 2 a text
ZUNION 2 a text BOGUS
ZUNION 0 a
ZUNION -1 a
ZUNION x a
ZUNION 3 a b
ZUNION 2 a a WITHSCORES
ZINTER 2 a b WITHSCORES
ZINTER 2 a b WEIGHTS 2 3 AGGREGATE SUM WITHSCORES
ZINTER 3 a b s WITHSCORES
ZINTER 2 a nope
ZINTER 2 a a WITHSCORES
ZINTER 0 a
ZDIFF 2 a b
ZDIFF 2 a b WITHSCORES
ZDIFF 2 a s WITHSCORES
ZDIFF 2 s a WITHSCORES
ZDIFF 2 a b WEIGHTS 1 1
ZDIFF 2 nope a
ZDIFF 2 a a
ZDIFF 0 a
ZINTERCARD 2 a b
ZINTERCARD 2 a b LIMIT 1
ZINTERCARD 2 a b LIMIT 0
ZINTERCARD 2 a b LIMIT -1
ZINTERCARD 2 a b LIMIT x
ZINTERCARD 2 a b LIMIT
ZINTERCARD 2 a b WITHSCORES
ZINTERCARD 2 a text
ZINTERCARD 0 a
ZUNIONSTORE out 2 a b
ZRANGE out 0 -1 WITHSCORES
ZUNIONSTORE out 2 a b WITHSCORES
ZUNIONSTORE out 0 a
ZINTERSTORE out 2 a s WEIGHTS 2 3
ZRANGE out 0 -1 WITHSCORES
ZDIFFSTORE out 2 a b
ZRANGE out 0 -1 WITHSCORES
ZDIFFSTORE out 2 a a
EXISTS out
ZUNIONSTORE a 2 a b
ZRANGE a 0 -1 WITHSCORES
ZUNIONSTORE text 1 a
TYPE text
SET text x
ZUNIONSTORE out 1 text
ZADD i1 -1 a 1 b
ZADD i2 1 a -1 b
ZUNION 2 i1 i2 WEIGHTS 0 0 AGGREGATE MAX WITHSCORES
ZUNION 2 i1 i2 WEIGHTS 0 0 AGGREGATE MIN WITHSCORES
ZINTER 2 i1 i2 WEIGHTS 0 0 AGGREGATE MAX WITHSCORES
ZINTER 2 i1 i2 WEIGHTS 0 0 AGGREGATE MIN WITHSCORES
DEL i1 i2
ZADD i1 inf x
ZADD i2 -inf x
ZUNION 2 i1 i2 WITHSCORES
ZUNION 1 i1 WEIGHTS 0 WITHSCORES
ZINTER 2 i1 i2 WEIGHTS 0 1 WITHSCORES
EXPIRE one 1000
ZADD one 2 b
TTL one
ZPOPMIN one
TTL one
COPY one other
ZRANGE other 0 -1 WITHSCORES
RENAME other other2
ZRANGE other2 0 -1 WITHSCORES
OBJECT ENCODING other2
ZADD other2 1 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
OBJECT ENCODING other2
ZREM other2 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
OBJECT ENCODING other2
TYPE other2
GET other2
APPEND other2 x
HSET other2 a b
SADD other2 a
LPUSH other2 a
SCAN 0 TYPE zset COUNT 100000
ZADD other2 5 "\x00\r\n" 5 ""
ZRANGE other2 0 -1
SET other2 x
`, d.alike)
	})
}

// The members are sorted, not their scores, unless nothing is sorted.
func TestSortOfSortedSetsAnswersAsRedis(t *testing.T) {
	differential(t, func(d *differ) {
		d.run(`
ZADD z 3 1 2 5 1 3 9 2
MSET w1 4 w2 3 w3 2 w5 1
SORT z
SORT z DESC
SORT z LIMIT 1 2
SORT z ALPHA DESC
SORT z BY w*
SORT z BY w* GET # GET w*
SORT z BY nosort
SORT z BY nosort DESC
SORT z BY nosort LIMIT 1 2
SORT z BY nosort DESC LIMIT 1 2
SORT z BY nosort LIMIT 3 100
SORT z BY nosort LIMIT 9 1
SORT z BY nosort LIMIT 0 0
SORT_RO z BY nosort DESC LIMIT 0 1
SORT z BY nosort STORE l
LRANGE l 0 -1
SORT z STORE z
TYPE z
ZADD y 1 a 2 b
SORT y
SORT y ALPHA
SORT_RO y BY nosort
`)
	})
}

// A zsetMaker makes up commands on sorted sets.
type zsetMaker struct {
	commandMaker
	members int // different ones
}

func (g zsetMaker) member() string {
	if g.rnd.IntN(200) == 0 {
		return noise(g.rnd.IntN(90))
	}
	return fmt.Sprint(g.rnd.IntN(g.members))
}

func (g zsetMaker) someMembers() (args []string) {
	for range 1 + g.rnd.IntN(4) {
		args = append(args, g.member())
	}
	return args
}

func (g zsetMaker) score() string {
	switch g.rnd.IntN(30) {
	case 0:
		return g.pick("inf", "-inf", "1e300", "x", "", "nan", "0x1p4", "1e-310")
	case 1, 2:
		return fmt.Sprint(g.rnd.NormFloat64())
	}
	return fmt.Sprint(g.rnd.IntN(50) - 10)
}

func (g zsetMaker) scored() (args []string) {
	if g.rnd.IntN(6) == 0 {
		args = append(args, g.pick("NX", "XX", "GT", "LT", "CH"))
	}
	if g.rnd.IntN(8) == 0 {
		args = append(args, "CH")
	}
	for range 1 + g.rnd.IntN(4) {
		args = append(args, g.score(), g.member())
	}
	return args
}

func (g zsetMaker) rank() string {
	if g.rnd.IntN(60) == 0 {
		return g.number()
	}
	return fmt.Sprint(g.rnd.IntN(2*g.members) - g.members)
}

func (g zsetMaker) bound() string {
	if g.rnd.IntN(12) == 0 {
		return g.pick("-inf", "+inf", "(inf", "x", "")
	}
	return g.pick("", "", "(") + g.score()
}

// bounds are two of one kind: ranks, scores or members.
func (g zsetMaker) bounds(by string) []string {
	switch by {
	case "BYSCORE":
		return []string{g.bound(), g.bound()}
	case "BYLEX":
		bound := func(end string) string {
			if g.rnd.IntN(4) == 0 {
				return end
			}
			return g.pick("[", "(") + g.member()
		}
		return []string{bound("-"), bound("+")}
	}
	return []string{g.rank(), g.rank()}
}

func (g zsetMaker) limit() []string {
	if g.rnd.IntN(2) == 0 {
		return nil
	}
	return []string{"LIMIT", fmt.Sprint(g.rnd.IntN(g.members) - 1), fmt.Sprint(g.rnd.IntN(20) - 1)}
}

func (g zsetMaker) zrange() []string {
	by := g.pick("", "", "BYSCORE", "BYLEX")
	args := g.bounds(by)
	if by != "" {
		args = append(append(args, by), g.limit()...)
	}
	if g.rnd.IntN(3) == 0 {
		args = append(args, "REV")
		args[0], args[1] = args[1], args[0]
	}
	return args
}

// command makes up one. What lies between two members is only asked of "lex", whose scores
// are alike.
func (g zsetMaker) command() []string {
	key := g.pick("z1", "z2", "{z1}3")
	if g.rnd.IntN(80) == 0 {
		key = g.pick("text", "s")
	}
	with := func(name string, args ...string) []string { return append([]string{name, key}, args...) }
	switch g.rnd.IntN(30) {
	case 0, 1, 2, 3, 4, 5:
		return with("ZADD", g.scored()...)
	case 6:
		return with("ZINCRBY", g.score(), g.member())
	case 7:
		return with("ZADD", "INCR", g.pick("NX", "XX", "GT", "LT", "CH"), g.score(), g.member())
	case 8, 9:
		return with("ZREM", g.someMembers()...)
	case 10:
		return with(g.pick("ZSCORE", "ZRANK", "ZREVRANK"), g.member())
	case 11:
		return with("ZMSCORE", g.someMembers()...)
	case 12, 13, 14:
		args := g.zrange()
		if len(args) > 2 && args[2] == "BYLEX" {
			key = "lex"
		} else if g.rnd.IntN(2) == 0 {
			args = append(args, "WITHSCORES")
		}
		return with("ZRANGE", args...)
	case 15:
		args := g.zrange()
		if len(args) > 2 && args[2] == "BYLEX" {
			return append([]string{"ZRANGESTORE", "lex2", "lex"}, args...)
		}
		return append([]string{"ZRANGESTORE", g.pick("z1", "out"), key}, args...)
	case 16:
		return with("ZCOUNT", g.bounds("BYSCORE")...)
	case 17:
		return append([]string{g.pick("ZLEXCOUNT", "ZLEXCOUNT", "ZREMRANGEBYLEX"), "lex"}, g.bounds("BYLEX")...)
	case 18:
		if g.rnd.IntN(4) > 0 {
			return with("ZREMRANGEBYSCORE", fmt.Sprint(g.rnd.IntN(50)), fmt.Sprint(g.rnd.IntN(50)))
		}
		return with("ZREMRANGEBYRANK", fmt.Sprint(g.rnd.IntN(9)), fmt.Sprint(g.rnd.IntN(9)))
	case 19, 20:
		return with(g.pick("ZPOPMIN", "ZPOPMAX"))
	case 21:
		return with(g.pick("ZPOPMIN", "ZPOPMAX"), g.pick("0", "1", "5", "-1"))
	case 22:
		return []string{"ZMPOP", "2", key, g.pick("z1", "z2"), g.pick("MIN", "MAX"), "COUNT", g.pick("1", "3", "40")}
	case 23, 24:
		return g.algebra()
	case 25:
		if g.rnd.IntN(20) == 0 {
			return with("DEL")
		}
		return []string{"ZADD", "lex", "0", g.member(), "0", g.member()}
	case 26:
		return with("ZCARD")
	case 27:
		return []string{"OBJECT", "ENCODING", g.pick("z1", "z2", "out", "lex")}
	}
	return with("COPY", "out", "REPLACE")
}

func (g zsetMaker) algebra() []string {
	keys := []string{g.pick("z1", "z2", "{z1}3"), g.pick("z1", "z2", "s", "out"), g.pick("z1", "z2", "lex", "nope", "text")}
	n := 1 + g.rnd.IntN(2)
	if g.rnd.IntN(10) == 0 {
		n = 3
	}
	name, stores := g.pick("ZUNION", "ZINTER", "ZDIFF", "ZINTERCARD"), g.rnd.IntN(2) == 0
	var args []string
	if stores && name != "ZINTERCARD" {
		args = append(args, name+"STORE", "out")
	} else {
		args = append(args, name)
	}
	args = append(append(args, fmt.Sprint(n)), keys[:n]...)
	if name == "ZINTERCARD" {
		return append(args, "LIMIT", fmt.Sprint(g.rnd.IntN(5)))
	}
	if name != "ZDIFF" && g.rnd.IntN(2) == 0 {
		weights := []string{"1", "2", "0.5", "-1", "0"}
		if stores {
			weights = weights[:3] // the others make negative zeros, of which we keep none
		}
		args = append(args, "WEIGHTS")
		for range n {
			args = append(args, g.pick(weights...))
		}
	}
	if name != "ZDIFF" && g.rnd.IntN(2) == 0 {
		args = append(args, "AGGREGATE", g.pick("SUM", "MIN", "MAX"))
	}
	if !stores {
		args = append(args, "WITHSCORES")
	}
	return args
}

// Random commands on small sorted sets and on large ones must be answered alike, alone and in
// pipelines.
func TestRandomZSetCommandsAnswerAsRedis(t *testing.T) {
	if testing.Short() {
		t.Skip("one client that waits for each answer: nothing to see for the race detector")
	}
	seed := randomtest.Seed(t)
	pipelines := randomtest.Length(300, 15)
	for _, members := range []int{8, 100, 3000} {
		t.Run(fmt.Sprint(members), func(t *testing.T) {
			differential(t, func(d *differ) {
				g := zsetMaker{commandMaker{rand.New(rand.NewPCG(seed, uint64(members)))}, members}
				d.do("SET", "text", "x")
				d.do("SADD", "s", "1", "2", "x")
				if members > 1000 {
					for _, key := range []string{"z1", "z2", "lex"} {
						add := []string{"ZADD", key}
						for i := range members {
							score := fmt.Sprint(g.rnd.IntN(50))
							if key == "lex" {
								score = "0"
							}
							add = append(add, score, fmt.Sprint(i))
						}
						d.do(add...)
					}
				}
				for range pipelines {
					var cmds [][]string
					for range 1 + g.rnd.IntN(12) {
						cmds = append(cmds, g.command())
					}
					d.pipeline(cmds)
				}
				for _, key := range []string{"z1", "z2", "{z1}3", "out", "lex", "lex2"} {
					d.do("ZRANGE", key, "0", "-1", "WITHSCORES")
				}
			})
		})
	}
}

// Sorted sets travel to a Redis and back, of any size and with an expiry.
func TestZSetsTravelByDumpAndRestore(t *testing.T) {
	if testing.Short() {
		t.Skip("one client that waits for each answer: nothing to see for the race detector")
	}
	differential(t, func(d *differ) {
		rnd := rand.New(rand.NewPCG(1, 1))
		for _, n := range []int{1, 3, 100, 129, 5000} {
			add := []string{"ZADD", "z"}
			for i := range n {
				score := fmt.Sprint(rnd.IntN(100))
				switch rnd.IntN(8) {
				case 0:
					score = fmt.Sprint(rnd.NormFloat64())
				case 1:
					score = []string{"inf", "-inf", "1e17", "1e300"}[rnd.IntN(4)]
				}
				add = append(add, score, fmt.Sprint("member", i))
			}
			d.do("DEL", "z")
			d.do(add...)
			for _, payload := range []string{d.redis.Do("DUMP", "z").Text, d.ours.Do("DUMP", "z").Text} {
				d.do("RESTORE", "copy", "1000000", payload, "REPLACE")
				d.do("ZRANGE", "copy", "0", "-1", "WITHSCORES")
				d.do("OBJECT", "ENCODING", "copy")
				d.do("TTL", "copy")
				d.do("RESTORE", "copy", "0", payload)
				d.do("RESTORE", "copy", "0", payload[:len(payload)/2], "REPLACE")
			}
		}
	})
}
