package resp

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// unordered sorts what a reply has in no order: the elements of a set's or a hash's, in
// RESP2 those of a hash by pairs.
func unordered(name string, v resptest.Value) resptest.Value {
	var pairs bool
	switch strings.ToUpper(name) {
	case "SMEMBERS", "SINTER", "SUNION", "SDIFF", "HKEYS", "HVALS":
	case "HGETALL":
		pairs = true
	case "HSCAN", "SSCAN", "SCAN":
		if len(v.Elems) == 2 {
			v.Elems = slices.Clone(v.Elems)
			v.Elems[1] = unordered(map[bool]string{true: "HGETALL", false: "SMEMBERS"}[strings.EqualFold(name, "HSCAN")], v.Elems[1])
		}
		return v
	default:
		return v
	}
	var texts []string
	for i := 0; i < len(v.Elems); i++ {
		text := v.Elems[i].String()
		if pairs && i+1 < len(v.Elems) {
			i++
			text += " " + v.Elems[i].String()
		}
		texts = append(texts, text)
	}
	slices.Sort(texts)
	return resptest.Value{Kind: v.Kind, Elems: []resptest.Value{{Kind: '+', Text: strings.Join(texts, "\n")}}}
}

// alike runs one command and compares the replies, but for the order of what has none.
func (d *differ) alike(args ...string) resptest.Value {
	d.t.Helper()
	want, got := d.both(args)
	if unordered(args[0], got).String() != unordered(args[0], want).String() {
		d.differs(args, got, want)
	}
	return want
}

func TestTableCommandsAnswerAsRedis(t *testing.T) {
	differential(t, func(d *differ) {
		d.runBy(`
SET text x
HSET h a 1
HSET h a 2 b 3
HSET h a
HSET h a 1 b
HMSET h a
HMSET h c 4 d ""
HGET h a
HGET h nope
HGET nope a
HGET text a
HSET text a 1
HGETALL h
HGETALL nope
HGETALL text
HKEYS h
HKEYS nope
HVALS h
HVALS nope
HVALS text
HLEN h
HLEN nope
HLEN text
HSTRLEN h a
HSTRLEN h nope
HEXISTS h a
HEXISTS h nope
HEXISTS nope a
HMGET h a nope b
HMGET nope a b
HMGET text a
HSETNX h a 9
HSETNX h e 9
HSETNX text e 9
HINCRBY h a 5
HINCRBY h new -5
HINCRBY h d 1
HINCRBY h a x
HINCRBY h a 9223372036854775807
HINCRBY text a 1
HINCRBY nope2 a 1
HINCRBYFLOAT h a 0.1
HINCRBYFLOAT h a x
HINCRBYFLOAT h d 1
HINCRBYFLOAT h f 1e400
HINCRBYFLOAT h g inf
HINCRBYFLOAT h g nan
HINCRBYFLOAT text g 1
HINCRBYFLOAT text g x
HINCRBYFLOAT fresh f 3.0e3
HDEL h a nope b
HDEL nope a
HDEL text a
HDEL h c d e new f g
EXISTS h
TYPE fresh
HSCAN nope 0
HSCAN nope x
HSCAN nope 0 TYPE hash
HSCAN text 0
HSCAN fresh 0
HSCAN fresh 0 MATCH x* COUNT 5
HSCAN fresh 0 MATCH
HSCAN fresh 0 COUNT 0
HSCAN fresh 0 COUNT x
HSCAN fresh 0 TYPE hash
HSCAN fresh x
HSCAN fresh 18446744073709551616
HRANDFIELD nope
HRANDFIELD nope 3
HRANDFIELD nope -3 WITHVALUES
HRANDFIELD text
HRANDFIELD text 1
HRANDFIELD fresh
HRANDFIELD fresh 5
HRANDFIELD fresh -5
HRANDFIELD fresh 5 WITHVALUES
HRANDFIELD fresh -3 WITHVALUES
HRANDFIELD fresh 0
HRANDFIELD fresh x
HRANDFIELD fresh 1 VALUES
HRANDFIELD fresh 1 WITHVALUES x
HRANDFIELD fresh -9223372036854775808
HRANDFIELD fresh 9223372036854775807
HRANDFIELD fresh 9223372036854775807 WITHVALUES
HRANDFIELD fresh -4611686018427387904 WITHVALUES
EXPIRE fresh 1000
HSET fresh x y
TTL fresh
COPY fresh other
HGETALL other
TTL other
RENAME other other2
HGETALL other2
SET fresh x
TTL fresh
OBJECT ENCODING other2
SADD s a
SADD s a b c
SADD text a
SCARD s
SCARD nope
SCARD text
SISMEMBER s a
SISMEMBER s x
SISMEMBER nope x
SISMEMBER text x
SMISMEMBER s a x b
SMISMEMBER nope a b
SMISMEMBER text a
SMEMBERS nope
SMEMBERS text
SREM s a x
SREM nope a
SREM text a
SMOVE s d b
SMOVE s d b
SMOVE nope d b
SMOVE s s c
SMOVE s s x
SMOVE s text c
SMOVE text s c
SMOVE nope text c
SMOVE s text nope
SMEMBERS d
SPOP nope
SPOP nope 3
SPOP nope -1
SPOP nope x
SPOP text
SPOP text 1
SPOP d 0
SPOP d 9223372036854775808
SPOP d 1 1
SPOP d
EXISTS d
SPOP s 5
EXISTS s
SRANDMEMBER nope
SRANDMEMBER nope 2
SRANDMEMBER nope -2
SRANDMEMBER text
SRANDMEMBER text 1
SRANDMEMBER nope x
SRANDMEMBER nope 1 2
SADD one 1
SRANDMEMBER one
SRANDMEMBER one 3
SRANDMEMBER one -3
SRANDMEMBER one 0
SRANDMEMBER one -9223372036854775808
OBJECT ENCODING one
SADD one x
OBJECT ENCODING one
SREM one x
OBJECT ENCODING one
SADD s1 a
SADD s2 b
SINTER s1 s2
SINTER s1 s1
SINTER s1 text
SINTER nope text
SINTER nope s1
SUNION nope
SUNION s1 text
SDIFF s1 s2
SDIFF s1 s1
SDIFF nope s1
SDIFF text nope
SINTERSTORE out s1 s2
SUNIONSTORE out s1 s2
SCARD out
OBJECT ENCODING out
SDIFFSTORE out s1 s2
SMEMBERS out
SDIFFSTORE out s1 s1
EXISTS out
SADD few 1 2 word
SADD word word
SDIFFSTORE out few word
OBJECT ENCODING out
SDIFFSTORE out few word nope
OBJECT ENCODING out
SADD many 1 2 3 4 5 6 7 8 word
SDIFFSTORE out many word
OBJECT ENCODING out
SDIFFSTORE out many word word word
OBJECT ENCODING out
SDIFFSTORE out few word word few
OBJECT ENCODING out
SUNIONSTORE text s1
TYPE text
SET text x
SUNIONSTORE out text
SINTERSTORE text nope s1
EXISTS text
SET text x
SUNIONSTORE s1 s1 s2
SCARD s1
SINTERCARD 2 s1 s2
SINTERCARD 2 s1 s2 LIMIT 1
SINTERCARD 2 s1 s2 LIMIT 0
SINTERCARD 2 s1 s2 LIMIT -1
SINTERCARD 2 s1 s2 LIMIT x
SINTERCARD 2 s1 s2 LIMIT
SINTERCARD 2 s1 s2 LIMIT 1 LIMIT 2
SINTERCARD 0 s1
SINTERCARD x s1
SINTERCARD -1 s1
SINTERCARD 3 s1 s2
SINTERCARD 1 s1 s2
SINTERCARD 1 text
SSCAN one 0
SSCAN nope 0
SSCAN text 0
SSCAN one 0 MATCH 2
GET one
APPEND one x
INCR one
GETDEL one
SETRANGE one 0 x
STRLEN one
GETSET one x
SET one x GET
SETBIT one 1 1
BITCOUNT one
MGET one s1
SCAN 0 TYPE set COUNT 100000
DEL one s1
EXISTS one s1
`, d.alike)
	})
}

// A tableMaker makes up commands on hashes and sets.
type tableMaker struct {
	commandMaker
	fields int // different ones
}

func (g tableMaker) field() string {
	if g.rnd.IntN(60) == 0 {
		return noise(g.rnd.IntN(90))
	}
	return fmt.Sprint(g.rnd.IntN(g.fields))
}

func (g tableMaker) someFields() (args []string) {
	for range 1 + g.rnd.IntN(4) {
		args = append(args, g.field())
	}
	return args
}

func (g tableMaker) fieldValues() (args []string) {
	for range 1 + g.rnd.IntN(4) {
		value := g.number()
		if g.rnd.IntN(4) == 0 {
			value = noise(g.rnd.IntN(70))
		}
		args = append(args, g.field(), value)
	}
	return args
}

// command makes up one on keys that are hashes or sets, mostly.
func (g tableMaker) command() []string {
	hash, set := g.pick("h1", "h2", "{h1}3"), g.pick("s1", "s2", "{s1}3")
	if g.rnd.IntN(50) == 0 {
		hash, set = set, hash
	}
	with := func(name, key string, args ...string) []string { return append([]string{name, key}, args...) }
	switch g.rnd.IntN(36) {
	case 0, 1, 2, 3, 4:
		return with(g.pick("HSET", "HSET", "HSET", "HMSET"), hash, g.fieldValues()...)
	case 5:
		return with("HSETNX", hash, g.field(), g.number())
	case 6, 7:
		return with("HDEL", hash, g.someFields()...)
	case 8:
		return with(g.pick("HGET", "HEXISTS", "HSTRLEN"), hash, g.field())
	case 9:
		return with("HMGET", hash, g.someFields()...)
	case 10:
		return with(g.pick("HGETALL", "HKEYS", "HVALS"), hash)
	case 11:
		return with(g.pick("HLEN", "TYPE", "EXISTS", "OBJECT"), hash)
	case 12:
		return with("HINCRBY", hash, g.field(), g.number())
	case 13:
		return with("HINCRBYFLOAT", hash, g.field(), g.pick("0.5", "-3", "1e3", "x"))
	case 14, 15, 16, 17, 18:
		return with("SADD", set, g.someFields()...)
	case 19, 20:
		return with("SREM", set, g.someFields()...)
	case 21:
		return with("SMISMEMBER", set, g.someFields()...)
	case 22:
		return with(g.pick("SCARD", "SMEMBERS"), set)
	case 23:
		return with("SMOVE", set, g.pick("s1", "s2", "{s1}3"), g.field())
	case 24, 25, 26:
		return with(g.pick("SINTER", "SUNION", "SDIFF"), set, g.setKeys()...)
	case 27, 28, 29:
		return append([]string{g.pick("SINTERSTORE", "SUNIONSTORE", "SDIFFSTORE"), g.pick("s1", "s2", "out"), set}, g.setKeys()...)
	case 30:
		return []string{"SINTERCARD", "2", set, g.pick("s1", "s2", "h1"), "LIMIT", fmt.Sprint(g.rnd.IntN(9))}
	case 31:
		return with(g.pick("COPY", "RENAME"), hash, g.pick("h1", "h2", "s1"))
	case 32:
		if g.rnd.IntN(20) == 0 {
			return with(g.pick("DEL", "UNLINK"), g.pick(hash, set))
		}
		return with("OBJECT", "ENCODING", g.pick(hash, set, "out"))
	case 33:
		return with("SISMEMBER", set, g.field())
	case 34:
		return with(g.pick("GET", "INCR", "GETDEL", "STRLEN", "HLEN", "SCARD"), g.pick(hash, set))
	}
	return with("COPY", set, "out", "REPLACE")
}

func (g tableMaker) setKeys() (keys []string) {
	for range g.rnd.IntN(3) {
		keys = append(keys, g.pick("s1", "s2", "{s1}3", "out", "h1"))
	}
	return keys
}

// Random commands on small tables and on large ones must be answered alike.
func TestRandomTableCommandsAnswerAsRedis(t *testing.T) {
	if testing.Short() {
		t.Skip("one client that waits for each answer: nothing to see for the race detector")
	}
	seed := randomtest.Seed(t)
	commands := randomtest.Length(6000, 400)
	for _, fields := range []int{12, 150, 2000} {
		t.Run(fmt.Sprint(fields), func(t *testing.T) {
			differential(t, func(d *differ) {
				g := tableMaker{commandMaker{rand.New(rand.NewPCG(seed, uint64(fields)))}, fields}
				if fields > 1000 {
					for i := range fields {
						d.alike("SADD", "s1", fmt.Sprint(i))
						d.alike("HSET", "h1", fmt.Sprint(i), "x")
					}
				}
				for range commands {
					d.alike(g.command()...)
				}
			})
		})
	}
}

// The same in pipelines, whose commands see what those before them did.
func TestRandomTablePipelinesAnswerAsRedis(t *testing.T) {
	seed := randomtest.Seed(t)
	pipelines := randomtest.Length(300, 15)
	differential(t, func(d *differ) {
		g := tableMaker{commandMaker{rand.New(rand.NewPCG(seed, 5))}, 120}
		for range pipelines {
			var cmds [][]string
			for range 1 + g.rnd.IntN(40) {
				cmds = append(cmds, g.command())
			}
			want, got := d.redis.DoAll(cmds), d.ours.DoAll(cmds)
			for i, args := range cmds {
				d.note(args)
				if unordered(args[0], got[i]).String() != unordered(args[0], want[i]).String() {
					d.differs(args, got[i], want[i])
				}
			}
		}
	})
}

// Hashes and sets travel to a Redis and back, of any size and with an expiry.
func TestTablesTravelByDumpAndRestore(t *testing.T) {
	randomtest.Draw(t, 3)
	if testing.Short() {
		t.Skip("one client that waits for each answer: nothing to see for the race detector")
	}
	differential(t, func(d *differ) {
		rnd := rand.New(rand.NewPCG(1, 1))
		for _, n := range []int{1, 3, 100, 600, 5_000} {
			hset, sadd, ints := []string{"HSET", "h"}, []string{"SADD", "s"}, []string{"SADD", "i"}
			for i := range n {
				hset = append(hset, fmt.Sprint("field", i), noise(rnd.IntN(60)))
				sadd = append(sadd, fmt.Sprint("member", i))
				ints = append(ints, fmt.Sprint(i*i))
			}
			for _, args := range [][]string{{"DEL", "h", "s", "i"}, hset, sadd, ints, {"SET", "old", "x", "EX", "1000"}} {
				d.do(args...)
			}
			for key, read := range map[string]string{"h": "HGETALL", "s": "SMEMBERS", "i": "SMEMBERS"} {
				from, to := d.redis.Do("DUMP", key).Text, d.ours.Do("DUMP", key).Text
				for _, payload := range []string{from, to} {
					d.do("RESTORE", "copy", "0", payload, "REPLACE")
					d.alike(read, "copy")
					d.do("OBJECT", "ENCODING", "copy")
					d.do("TTL", "copy")
					d.do("RESTORE", "old", "1000000", payload, "REPLACE")
					d.do("TTL", "old")
					d.alike(read, "old")
					d.do("RESTORE", "copy", "0", payload)
					d.do("RESTORE", "copy", "0", payload[:len(payload)/2], "REPLACE")
				}
			}
		}
	})
}
