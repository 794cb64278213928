package resp

import (
	"slices"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
)

// A key whose command names it as its own source and destination has the expiry that it has in
// Redis, also if the value is one element, or becomes empty on the way.
func TestExpiryIsAsInRedisWhenSourceIsDestination(t *testing.T) {
	randomtest.Draw(t, 3)
	if testing.Short() {
		t.Skip("one client that waits for each answer: nothing to see for the race detector")
	}
	makers := map[string][]string{
		"list":   {"RPUSH k a", "RPUSH k a b c"},
		"set":    {"SADD k 1", "SADD k 1 2 3", "SADD k a"},
		"zset":   {"ZADD k 1 a", "ZADD k 1 a 2 b 3 c"},
		"string": {"SET k a", "SET k \"\"", "SET k 5"},
		"hll":    {"PFADD k a", "PFADD k a b c"},
		"geo":    {"GEOADD k 13.361389 38.115556 a", "GEOADD k 13.361389 38.115556 a 15 37 b"},
		"stream": {"XADD k 1-1 f v"},
		"hash":   {"HSET k f 1"},
		"none":   {"DEL k"},
	}
	commands := map[string][]string{
		"list": {
			"LMOVE k k LEFT LEFT", "LMOVE k k LEFT RIGHT", "LMOVE k k RIGHT LEFT", "LMOVE k k RIGHT RIGHT", "RPOPLPUSH k k",
			"BLMOVE k k LEFT LEFT 0.01", "BLMOVE k k LEFT RIGHT 0.01", "BRPOPLPUSH k k 0.01",
			"SORT k ALPHA STORE k", "SORT k BY nosort STORE k", "LMPOP 2 k k LEFT", "BLMPOP 0.01 2 k k LEFT", "LTRIM k 0 0", "LSET k 0 z",
			"LINSERT k BEFORE a z", "LREM k 0 a", "BLPOP k k 0.01", "LPOP k", "LMOVE k other LEFT LEFT", "LMOVE other2 k LEFT LEFT", "SORT k ALPHA LIMIT 5 5 STORE k",
		},
		"set": {
			"SMOVE k k 1", "SMOVE k k nope", "SINTERSTORE k k", "SINTERSTORE k k k", "SUNIONSTORE k k", "SDIFFSTORE k k", "SDIFFSTORE k k k", "SINTERSTORE k k nope",
			"SORT k ALPHA STORE k", "ZUNIONSTORE k 1 k", "ZINTERSTORE k 2 k k", "SPOP k 10", "SREM k 1", "SADD k 1",
		},
		"zset": {
			"ZRANGESTORE k k 0 -1", "ZRANGESTORE k k 5 6", "ZUNIONSTORE k 1 k", "ZINTERSTORE k 2 k k", "ZDIFFSTORE k 1 k", "ZDIFFSTORE k 2 k k", "SORT k ALPHA STORE k",
			"ZMPOP 2 k k MIN", "BZMPOP 0.01 2 k k MAX COUNT 5", "ZPOPMIN k", "BZPOPMIN k k 0.01", "ZADD k 5 a", "ZINCRBY k 1 a", "ZREM k a", "ZREMRANGEBYRANK k 0 -1", "SUNIONSTORE k k",
		},
		"string": {
			"RENAME k k", "RENAMENX k k", "COPY k k", "COPY k k REPLACE", "COPY k k DB 0", "BITOP NOT k k", "BITOP AND k k k", "BITOP OR k k nope", "BITOP AND k nope nope2",
			"SETRANGE k 0 \"\"", "SETRANGE k 0 x", "APPEND k \"\"", "GETSET k z", "SET k z KEEPTTL", "MSET k 1 k 2", "MSETNX k 1", "GETEX k", "INCR k", "SETBIT k 0 1",
			"BITFIELD k SET u8 0 1", "LCS k k", "GETDEL k", "SMOVE k k a", "LMOVE k k LEFT LEFT", "SINTERSTORE k k", "ZUNIONSTORE k 1 k", "SORT k STORE k", "ZRANGESTORE k k 0 1",
		},
		"hll":    {"PFMERGE k", "PFMERGE k k", "PFMERGE k k k", "PFMERGE k nope", "PFADD k a", "PFADD k z", "PFCOUNT k k"},
		"geo":    {"GEOSEARCHSTORE k k FROMLONLAT 15 37 BYRADIUS 1000 km", "GEOSEARCHSTORE k k FROMLONLAT 15 37 BYRADIUS 1 m STOREDIST", "GEORADIUS k 15 37 1000 km STORE k", "GEORADIUS k 15 37 1000 km STOREDIST k", "GEORADIUSBYMEMBER k a 1 m STORE k"},
		"stream": {"XADD k 2-1 f v", "XTRIM k MAXLEN 0", "XDEL k 1-1", "XSETID k 5-1", "RENAME k k"},
		"hash":   {"HSET k f 2", "HDEL k f", "HINCRBY k f 1"},
		"none": {
			"LMOVE k k LEFT LEFT", "RPOPLPUSH k k", "SMOVE k k a", "SINTERSTORE k k", "SORT k STORE k", "RENAME k k", "RENAMENX k k", "COPY k k", "BITOP NOT k k", "PFMERGE k k",
			"ZRANGESTORE k k 0 -1", "ZUNIONSTORE k 1 k", "GEOSEARCHSTORE k k FROMLONLAT 15 37 BYRADIUS 1000 km",
		},
	}
	long := strings.Repeat("x", 20000)
	split := map[string]string{ // values that stay entries of their own
		"list": "RPUSH k a " + long + "\nRPOP k\nLLEN k",
		"set":  "SADD k 1 " + long + "\nSREM k " + long,
		"zset": "ZADD k 1 a 2 " + long + "\nZREM k " + long,
	}
	differential(t, func(d *differ) {
		for kind, made := range makers {
			if maker := split[kind]; maker != "" {
				made = append(slices.Clone(made), maker)
			}
			for _, maker := range made {
				for _, command := range commands[kind] {
					for _, expire := range []string{"EXPIREAT k 33177117420", "PERSIST k"} {
						d.run("DEL k other\nDEL other2\nRPUSH other2 q\n" + maker + "\n" + expire)
						words, _ := splitWords(command)
						for _, args := range [][]string{words, {"EXPIRETIME", "k"}, {"EXPIRETIME", "other"}, {"TYPE", "k"}} {
							if want, got := d.both(args); got.String() != want.String() {
								t.Errorf("%.40s, %s, %s: %v: %s, want %s", maker, expire, command, args, got, want)
							}
						}
					}
				}
			}
		}
	})
}
