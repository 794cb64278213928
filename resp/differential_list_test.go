package resp

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
)

func TestListCommandsAnswerAsRedis(t *testing.T) {
	differential(t, func(d *differ) {
		d.run(`
SET text x
LPUSH l a
LPUSH l b c
RPUSH l d e
LPUSH text a
RPUSH text a
LPUSHX nope a
RPUSHX nope a b
LPUSHX l z
RPUSHX l y x
RPUSHX text y
LRANGE l 0 -1
LRANGE l 1 2
LRANGE l -3 -1
LRANGE l -100 100
LRANGE l 5 1
LRANGE l 100 200
LRANGE l x 1
LRANGE l 1 x
LRANGE nope 0 -1
LRANGE nope x -1
LRANGE text 0 -1
LLEN l
LLEN nope
LLEN text
LINDEX l 0
LINDEX l -1
LINDEX l 100
LINDEX l -100
LINDEX l x
LINDEX nope x
LINDEX nope 0
LINDEX text 0
LSET l 0 first
LSET l -1 last
LSET l 100 x
LSET l -100 x
LSET l x x
LSET nope 0 x
LSET nope x x
LSET text 0 x
LINSERT l BEFORE b new
LINSERT l after b new2
LINSERT l before nope new
LINSERT l beside b new
LINSERT nope before a b
LINSERT text before a b
LINSERT l before first a0
LINSERT l after last z0
LRANGE l 0 -1
RPUSH r a b a c a d a
LREM r 2 a
LRANGE r 0 -1
RPUSH r a a
LREM r -2 a
LRANGE r 0 -1
LREM r 0 a
LRANGE r 0 -1
LREM r 0 nope
LREM r x a
LREM r -9223372036854775807 b
LREM nope 0 a
LREM nope x a
LREM text 0 a
LREM r 0 c
LREM r 0 d
EXISTS r
RPUSH t 0 1 2 3 4 5 6 7 8 9
LTRIM t 1 -2
LRANGE t 0 -1
LTRIM t x 1
LTRIM nope 0 1
LTRIM nope x 1
LTRIM text 0 1
LTRIM t -3 100
LRANGE t 0 -1
LTRIM t 5 1
EXISTS t
LPOP l
RPOP l
LPOP l 2
RPOP l 2
LPOP l 0
LPOP l -1
LPOP l x
LPOP l 1 1
LPOP nope
LPOP nope 1
LPOP nope 0
RPOP nope -1
LPOP text
LPOP text 1
LPOP text 0
LPOP l 100
EXISTS l
RPUSH p a b c 1 2 3 c c
LPOS p c
LPOS p c RANK 2
LPOS p c RANK -1
LPOS p c RANK 5
LPOS p c COUNT 2
LPOS p c COUNT 0
LPOS p c RANK 2 COUNT 0
LPOS p c RANK -1 COUNT 2
LPOS p c COUNT 0 MAXLEN 3
LPOS p c COUNT 0 MAXLEN 4 RANK -1
LPOS p nope
LPOS p nope COUNT 0
LPOS nope a
LPOS nope a COUNT 0
LPOS p c RANK 0
LPOS p c RANK x
LPOS p c RANK -9223372036854775807
LPOS p c COUNT -1
LPOS p c COUNT x
LPOS p c MAXLEN -1
LPOS p c MAXLEN x
LPOS p c BOGUS 1
LPOS p c RANK
LPOS text c
LMOVE p q LEFT RIGHT
LMOVE p q RIGHT LEFT
LMOVE p q UP LEFT
LMOVE p q LEFT UP
LMOVE nope q LEFT LEFT
LMOVE p text LEFT LEFT
LMOVE text p LEFT LEFT
LMOVE nope text LEFT LEFT
LMOVE p p LEFT RIGHT
LMOVE p p LEFT LEFT
RPOPLPUSH p q
RPOPLPUSH nope q
RPOPLPUSH q q
LRANGE p 0 -1
LRANGE q 0 -1
RPUSH one 1
LMOVE one one LEFT RIGHT
LMOVE one two LEFT RIGHT
EXISTS one
LMPOP 1 two LEFT
LMPOP 1 two LEFT
LMPOP 2 nope p RIGHT
LMPOP 2 nope p RIGHT COUNT 2
LMPOP 2 nope p RIGHT COUNT 0
LMPOP 2 nope p RIGHT COUNT x
LMPOP 2 nope p RIGHT COUNT
LMPOP 2 nope p RIGHT COUNT x p q
LMPOP 2 nope p RIGHT COUNT 1 p q
LMPOP 2 nope p RIGHT COUNT 1 COUNT x
LMPOP 2 nope p RIGHT COUNT 1 COUNT
LMPOP 2 nope p UP
LMPOP 3 nope p LEFT
LMPOP 0 p LEFT
LMPOP x p LEFT
LMPOP -1 p LEFT
LMPOP 2 text p LEFT
LMPOP 2 p text LEFT COUNT 100
EXISTS p
RPUSH e a
OBJECT ENCODING e
TYPE e
EXPIRE e 1000
RPUSH e b
TTL e
LTRIM e 0 0
TTL e
COPY e f
LRANGE f 0 -1
RENAME f g
LRANGE g 0 -1
GET g
APPEND g x
HSET g a b
SADD g a
LPUSH g "\x00\r\n"
LRANGE g 0 -1
SET g x
`)
	})
}

// A listMaker makes up commands on lists.
type listMaker struct {
	commandMaker
	most int // elements that are pushed at a time
}

func (g listMaker) element() string {
	if g.rnd.IntN(40) == 0 {
		return noise(g.rnd.IntN(300))
	}
	return fmt.Sprint(g.rnd.IntN(8))
}

func (g listMaker) elements() (all []string) {
	for range 1 + g.rnd.IntN(g.most) {
		all = append(all, g.element())
	}
	return all
}

func (g listMaker) place() string {
	if g.rnd.IntN(40) == 0 {
		return g.number()
	}
	return fmt.Sprint(g.rnd.IntN(4*g.most) - 2*g.most)
}

func (g listMaker) command() []string {
	key := g.pick("l1", "l2", "{l1}3")
	if g.rnd.IntN(80) == 0 {
		key = "text"
	}
	with := func(name string, args ...string) []string { return append([]string{name, key}, args...) }
	switch g.rnd.IntN(24) {
	case 0, 1, 2, 3, 4, 5:
		return with(g.pick("LPUSH", "RPUSH", "RPUSH", "LPUSH", "LPUSHX", "RPUSHX"), g.elements()...)
	case 6, 7:
		return with(g.pick("LPOP", "RPOP"))
	case 8:
		return with(g.pick("LPOP", "RPOP"), g.pick("0", "1", "2", "7", "-1", "x"))
	case 9:
		return with("LLEN")
	case 10, 11:
		return with("LRANGE", g.place(), g.place())
	case 12:
		return with("LINDEX", g.place())
	case 13:
		return with("LSET", g.place(), g.element())
	case 14, 15:
		return with("LINSERT", g.pick("BEFORE", "AFTER", "before"), g.element(), g.element())
	case 16:
		return with("LREM", g.pick("0", "1", "-1", "2", "-3"), g.element())
	case 17:
		return with("LTRIM", fmt.Sprint(g.rnd.IntN(3)), fmt.Sprint(-1-g.rnd.IntN(4)))
	case 18:
		if g.rnd.IntN(4) == 0 {
			return with("LTRIM", g.place(), g.place())
		}
		return with("LPOS", g.element(), "RANK", g.pick("1", "2", "-1", "-2"), "COUNT", g.pick("0", "1", "3"), "MAXLEN", g.pick("0", "5", "30"))
	case 19, 20:
		return with(g.pick("LMOVE", "LMOVE", "RPOPLPUSH"), g.pick("l1", "l2", "{l1}3"))[:3:3]
	case 21:
		return []string{"LMPOP", "2", key, g.pick("l1", "l2"), g.pick("LEFT", "RIGHT"), "COUNT", g.pick("1", "3", "40")}
	case 22:
		if g.rnd.IntN(10) == 0 {
			return with("DEL")
		}
	}
	return with("LPOS", g.element())
}

// next is command with what LMOVE needs besides.
func (g listMaker) next() []string {
	args := g.command()
	if args[0] == "LMOVE" {
		args = append(args, g.pick("LEFT", "RIGHT"), g.pick("LEFT", "RIGHT"))
	}
	return args
}

// Random commands on short lists and on long ones must be answered alike, alone and in
// pipelines.
func TestRandomListCommandsAnswerAsRedis(t *testing.T) {
	seed := randomtest.Seed(t)
	pipelines := randomtest.Length(500, 25)
	for _, most := range []int{4, 30, 400} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			differential(t, func(d *differ) {
				g := listMaker{commandMaker{rand.New(rand.NewPCG(seed, uint64(most)))}, most}
				d.do("SET", "text", "x")
				for range pipelines {
					var cmds [][]string
					for range 1 + g.rnd.IntN(12) {
						cmds = append(cmds, g.next())
					}
					d.pipeline(cmds)
				}
				for _, key := range []string{"l1", "l2", "{l1}3"} {
					d.do("LRANGE", key, "0", "-1")
				}
			})
		})
	}
}

// Lists travel to a Redis and back.
func TestListsTravelByDumpAndRestore(t *testing.T) {
	if testing.Short() {
		t.Skip("one client that waits for each answer: nothing to see for the race detector")
	}
	differential(t, func(d *differ) {
		rnd := rand.New(rand.NewPCG(1, 1))
		for _, n := range []int{1, 3, 100, 5000} {
			push := []string{"RPUSH", "l"}
			for i := range n {
				e := fmt.Sprint(i * i * i)
				if rnd.IntN(2) == 0 {
					e = noise(rnd.IntN(80))
				}
				push = append(push, e)
			}
			if n == 100 {
				push = append(push, noise(20_000)) // a node of its own
			}
			d.do("DEL", "l")
			d.do(push...)
			for _, payload := range []string{d.redis.Do("DUMP", "l").Text, d.ours.Do("DUMP", "l").Text} {
				d.do("RESTORE", "copy", "0", payload, "REPLACE")
				d.do("LRANGE", "copy", "0", "-1")
				d.do("RESTORE", "copy", "0", payload[:len(payload)/2], "REPLACE")
			}
		}
	})
}
