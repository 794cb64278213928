package resp

import (
	"strconv"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/budget"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/store/rdb"
)

// Each command that builds something beside its reply answers, or says that there is no memory,
// where client-memory is small, and gives back what it was charged; with more memory it answers.
func TestCommandsBuildWithinClientMemory(t *testing.T) {
	randomtest.Draw(t, 4)
	if testing.Short() {
		t.Skip("one connection at a time")
	}
	const small = 1 << 20
	srv, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	member := func(i int) string { return strings.Repeat(string(rune('a'+i%26)), 1000) + strconv.Itoa(i) }
	for half := range 2 {
		key := strconv.Itoa(half)
		set, zset, list, geo := []string{"SADD", "s" + key}, []string{"ZADD", "z" + key}, []string{"RPUSH", "l" + key}, []string{"GEOADD", "g" + key}
		for i := range 1500 {
			m := member(i + 1000*half)
			set = append(set, m)
			zset = append(zset, strconv.Itoa(i), m)
			list = append(list, m)
			geo = append(geo, "13", "38", m)
		}
		for _, words := range [][]string{set, zset, list, geo} {
			o.Want(":1500", words...)
		}
	}
	hash, entry := []string{"HSET", "h0"}, strings.Repeat("x", 1000)
	for i := range 1500 {
		hash = append(hash, strconv.Itoa(i), member(i))
		o.Do("XADD", "x0", "*", "f", entry)
	}
	o.Want(":1500", hash...)
	o.Want("+OK", "SET", "long", strings.Repeat("x", 4<<20))
	o.Want("+OK", "SET", "one", "x")
	o.Want("+OK", "SET", "some", strings.Repeat("x", 4000))
	o.Want(":1", "PFADD", "sketch", "x")
	values := "[" + strings.Repeat("0,", 40_000) + "0]" // a tree of 4 MB
	o.Want("+OK", "JSON.SET", "j0", "$", values)
	insert := []string{"BF.INSERT", "out", "CAPACITY", "10000000", "ERROR", "0.001", "ITEMS"}
	for i := range 1000 { // 10 blocks each
		insert = append(insert, strconv.Itoa(i))
	}
	payload := rdb.AppendString(nil, []byte(strings.Repeat("x", 4<<20)))
	list := rdb.Seal(rdb.AppendElement(rdb.BeginList(nil, 1), []byte(strings.Repeat("x", 4<<20))), 0)
	const refused = "-" + command.MsgNoMemory
	either := ""
	cases := []struct {
		want string // with little memory
		args []string
	}{
		{":2500", []string{"SUNIONSTORE", "out", "s0", "s1"}},
		{":500", []string{"SINTERSTORE", "out", "s0", "s1"}},
		{":1000", []string{"SDIFFSTORE", "out", "s0", "s1"}},
		{":2500", []string{"ZUNIONSTORE", "out", "2", "z0", "z1"}},
		{":500", []string{"ZINTERSTORE", "out", "2", "z0", "z1"}},
		{":1500", []string{"ZRANGESTORE", "out", "z0", "0", "-1"}},
		{refused, []string{"SUNION", "s0", "s1"}},
		{refused, []string{"SDIFF", "s0", "none"}},
		{refused, []string{"SINTER", "s0", "s0"}},
		{refused, []string{"ZINTER", "2", "z0", "z0"}},
		{refused, []string{"ZUNION", "2", "z0", "z1"}},
		{refused, []string{"ZDIFF", "1", "z0"}},
		{either, []string{"SORT", "l0", "ALPHA", "STORE", "out"}},
		{either, []string{"SORT", "l0", "ALPHA"}},
		{refused, []string{"GEOSEARCHSTORE", "out", "g0", "FROMLONLAT", "13", "38", "BYRADIUS", "10", "km"}},
		{refused, []string{"GEORADIUS", "g0", "13", "38", "10", "km", "STORE", "out"}},
		{refused, []string{"GEOSEARCH", "g0", "FROMLONLAT", "13", "38", "BYRADIUS", "10", "km"}},
		{refused, []string{"RESTORE", "out", "0", string(payload), "REPLACE"}},
		{refused, []string{"RESTORE", "out", "0", string(list), "REPLACE"}},
		{refused, []string{"DUMP", "s0"}},
		{"+OK", []string{"RESTORE", "out", "0", string(rdb.AppendString(nil, []byte("x"))), "REPLACE"}},
		{":1", []string{"COPY", "long", "out", "REPLACE"}},
		{":4194304", []string{"BITOP", "NOT", "out", "long"}},
		{":1", []string{"COPY", "s0", "out", "REPLACE"}},
		{":1000", []string{"ZDIFFSTORE", "out", "2", "z0", "z1"}},
		{"+OK", []string{"PFMERGE", "out", "sketch"}},
		{refused, []string{"LCS", "long", "one"}},
		{refused, []string{"LCS", "one", "long", "LEN"}},
		{refused, []string{"LCS", "some", "some", "IDX"}}, // 2 MB of ways
		{"$", []string{"LCS", "none", "long"}},
		{":0", []string{"LCS", "long", "none", "LEN"}},
		{refused, []string{"HGETALL", "h0"}},
		{refused, []string{"HVALS", "h0"}},
		{refused, []string{"HRANDFIELD", "h0", "1400", "WITHVALUES"}},
		{refused, []string{"HRANDFIELD", "h0", "-2000", "WITHVALUES"}},
		{refused, []string{"LRANGE", "l0", "0", "-1"}},
		{refused, []string{"SMEMBERS", "s0"}},
		{refused, []string{"SRANDMEMBER", "s0", "1400"}},
		{refused, []string{"ZRANGE", "z0", "0", "-1"}},
		{refused, []string{"ZRANGEBYSCORE", "z0", "-inf", "+inf"}},
		{refused, []string{"XRANGE", "x0", "-", "+"}},
		{refused, []string{"XREAD", "STREAMS", "x0", "0"}},
		{refused, []string{"GETEX", "long"}},
		{refused, []string{"MGET", "one", "long"}},
		{refused, []string{"JSON.GET", "j0", "$"}},
		{refused, []string{"JSON.MGET", "j0", "one", "$"}},
		{refused, []string{"JSON.ARRLEN", "j0"}},
		{refused, []string{"JSON.ARRTRIM", "j0", "$", "0", "-1"}},
		{refused, []string{"JSON.MERGE", "j0", "$[0]", "0"}},
		{refused, []string{"JSON.SET", "out", "$", values}},
		{refused, []string{"JSON.SET", "j0", "$[0]", "0"}},
		{refused, []string{"JSON.MSET", "out", "$", values}},
		{refused, []string{"JSON.DEL", "j0", "$[40001]"}},
		{"$" + values, []string{"JSON.GET", "j0"}},
		{refused, insert},
		{refused, []string{"RESTORE", "out", "0", string(rdb.EndModule(rdb.AppendPiece(rdb.BeginModule(nil, rdb.JSONType), []byte(values)), 0))}},
		{either, []string{"HSCAN", "h0", "0", "COUNT", "10000"}},
		{either, []string{"SSCAN", "s0", "0", "COUNT", "10000"}},
		{either, []string{"ZSCAN", "z0", "0", "COUNT", "10000"}},
	}
	tested := map[string]bool{}
	for _, c := range cases {
		tested[strings.ToLower(c.args[0])] = true
	}
	checkExceptions(t, srv, tested)
	for _, c := range cases {
		for _, inside := range []bool{false, true} {
			for _, memory := range []int64{256 << 20, small} {
				args := c.args
				o.Do("DEL", "out")
				srv.settings.ClientMemory.Store(memory)
				srv.budget.Occupy(new(budget.Account), 1<<20) // no other connection may exceed the limit
				before := srv.budget.InUse()
				if inside {
					o.Do("MULTI")
					o.Do(args...)
					args = []string{"EXEC"}
				}
				got := o.Do(args...).String()
				if inside {
					got = strings.TrimSuffix(strings.TrimPrefix(got, "*("), ")")
				}
				isRefused := strings.HasPrefix(got, refused) || strings.HasPrefix(got, "-"+sortMemoryText)
				switch {
				case memory > small && got[0] == '-':
					t.Errorf("%.60q: %.200s", c.args, got)
				case memory == small && c.want != either && got != c.want, memory == small && c.want == either && !isRefused && got[0] == '-':
					t.Errorf("%.60q with little memory: %.200s, want %s", c.args, got, c.want)
				}
				o.Do("PING")
				// The buffer of the last reply is given back after the reply has left.
				resptest.WaitFor(t, "what was charged is given back: "+c.args[0], func() bool { return srv.budget.InUse() <= before+keepInput })
				srv.settings.ClientMemory.Store(256 << 20)
			}
		}
	}
}

// buildsLittle are the commands that build nothing whose size needs a count of its own, by the reason.
var buildsLittle = map[string]string{
	"the reply is a number, a status or one short text": `
		append bitcount bitfield bitfield_ro bitpos decr decrby delex delifeq digest getbit incr incrby incrbyfloat increx
		mset msetex msetnx psetex setbit setex setnx setrange strlen
		del exists expire expireat expiretime move object persist pexpire pexpireat pexpiretime pttl randomkey rename renamenx
		touch ttl type unlink wait waitaof
		hdel hexists hexpire hexpireat hexpiretime hincrby hincrbyfloat hlen hmset hpersist hpexpire hpexpireat hpexpiretime
		hpttl hset hsetex hsetnx hstrlen httl
		linsert llen lpush lpushx lrem lset ltrim rpush rpushx lpos
		sadd scard sintercard sismember smismember smove srem
		geoadd geodist geohash geopos
		zadd zcard zcount zincrby zintercard zlexcount zmscore zrank zrem zremrangebylex zremrangebyrank
		zremrangebyscore zrevrank zscore
		xack xackdel xadd xdel xdelex xgroup xlen xnack xsetid xtrim`,
	"a sketch, of at most 16 KiB": "pfadd pfcount pfdebug pfselftest",
	"the value is the reply, which is charged as those of the test's list are, or is streamed": `
		get getdel getrange getset set substr
		hget hgetdel hgetex hkeys hmget
		blmove blmpop blpop brpop brpoplpush lindex lmove lmpop lpop rpop rpoplpush
		spop
		bzmpop bzpopmax bzpopmin zmpop zpopmax zpopmin zrandmember zrangebylex zrevrange
		zrevrangebylex zrevrangebyscore
		xautoclaim xclaim xinfo xpending xreadgroup xrevrange
		keys scan`,
	"the value is read into a tree, which is charged, as by those JSON commands that are tested": `
		json.arrappend json.arrindex json.arrinsert json.arrpop json.clear json.forget json.numincrby json.nummultby
		json.objkeys json.objlen json.resp json.strappend json.strlen json.toggle json.type`,
	"the blocks of a filter that change are charged, as by those commands that are tested; a head has at most 54 KB, a chunk 1 MiB": `
		bf.add bf.card bf.exists bf.info bf.loadchunk bf.madd bf.mexists bf.reserve bf.scandump`,
	"the work of another command, in another form": `
		georadius_ro georadiusbymember georadiusbymember_ro sort_ro`,
	"what scripts take is counted by their own test":                                     "eval eval_ro evalsha evalsha_ro fcall fcall_ro",
	"libraries have at most 2 MiB together, compiled scripts a quarter of client-memory": "function script",
}

// littleGroups are groups of commands that do not read values.
var littleGroups = map[string]string{
	"connection":   "a client's own state, or a list of clients",
	"server":       "settings, statistics, and whole databases as ranges",
	"cluster":      "nodes and ranges",
	"pubsub":       "the argument is what is sent; queues of messages have limits of their own",
	"transactions": "a queue counts as requests, and its commands count for themselves",
}

// checkExceptions wants each command of the table to be among those that are tested, or among the
// exceptions, and no exception that is no command.
func checkExceptions(t *testing.T, srv *Server, tested map[string]bool) {
	known := map[string]bool{}
	for _, names := range buildsLittle {
		for _, name := range strings.Fields(names) {
			if row := srv.table.ByName[name]; row == nil || row.Parent != nil || known[name] || tested[name] || littleGroups[row.Group] != "" {
				t.Errorf("%s is no command, or is listed twice", name)
			}
			known[name] = true
		}
	}
	for _, row := range srv.table.All {
		if row.Parent == nil && row.Refusal == "" && !known[row.Name] && !tested[row.Name] && littleGroups[row.Group] == "" {
			t.Errorf("%s (%s): say why its memory needs no count, or test it", row.Name, row.Group)
		}
	}
}
