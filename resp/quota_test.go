package resp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
)

const oomReply = "-OOM command not allowed when used memory > 'maxmemory'."

// TestQuotaRefusesWritesAsRedis compares replies while the data is over maxmemory.
func TestQuotaRefusesWritesAsRedis(t *testing.T) {
	redis := resptest.Dial(t, redistest.Start7(t), 2)
	_, addr := serveTest(t, nil)
	ours := resptest.Dial(t, addr, 2)
	both := func(words ...string) (want resptest.Value) {
		t.Helper()
		want = redis.Do(words...)
		if got := ours.Do(words...); got.String() != want.String() {
			t.Errorf("%q: %s, want %s", words, got, want)
		}
		return want
	}
	both("SET", "s", "v")
	both("RPUSH", "l", "a", "b", "c")
	both("HSET", "h", "f", "v")
	both("SET", "volatile", "v", "EX", "1000")
	for _, set := range [][]string{
		{"maxmemory", "10gb"},
		{"maxmemory", "-1"},
		{"maxmemory", "many"},
		{"maxmemory-policy", "ALLKEYS-LFU"},
		{"maxmemory-policy", "coldest"},
		{"maxmemory-policy", ""},
		{"maxmemory-policy", "noeviction"},
		{"maxmemory-samples", "0"},
		{"maxmemory-samples", "7"},
		{"maxmemory-eviction-tenacity", "101"},
		{"maxmemory-eviction-tenacity", "100"},
		{"lfu-log-factor", "-1"},
		{"lfu-log-factor", "0"},
		{"lfu-decay-time", "x"},
		{"lfu-decay-time", "0"},
		{"maxmemory", "1"},
	} {
		both("CONFIG", "SET", set[0], set[1])
		both("CONFIG", "GET", set[0])
	}
	for _, words := range []string{
		"SET s w", "GET s", "APPEND s w", "GETSET s x", "INCR n", "SETEX s 10 v", "MSET a 1 b 2", "MSETNX a 1 b 2", "SETBIT b 1 1",
		"BITFIELD b SET u8 0 1", "BITFIELD_RO b GET u8 0", "RPUSH l d", "LPOP l", "LINSERT l BEFORE c x", "LMOVE l m LEFT LEFT", "BLMOVE l m LEFT LEFT 1",
		"LREM l 0 c", "LTRIM l 0 1", "HSET h f w", "HDEL h f", "HINCRBY h n 1", "SADD x 1", "SREM x 1", "SUNIONSTORE x y", "ZADD z 1 a", "ZREM z a",
		"XADD q * f v", "XDEL q 1-1", "PFADD p 1", "PFMERGE p q", "COPY s t", "RENAME s r", "RENAME r s", "EXPIRE s 100", "PERSIST s", "SORT l STORE m",
		"SORT_RO l", "GEOADD g 1 1 a", "DEL m", "UNLINK s2", "PUBLISH c m", "EXISTS s", "TYPE s", "OBJECT ENCODING s", "OBJECT FREQ s",
		"GETEX s PERSIST", "GETDEL none", "MOVE s 1", "SET s w", "FLUSHDB",
	} {
		both(strings.Fields(words)...)
	}
	both("CONFIG", "SET", "maxmemory", "0")
	both("SET", "k", "v")
	both("CONFIG", "SET", "maxmemory", "1")
	const set = "return redis.call('set', KEYS[1], ARGV[1])"
	for _, words := range [][]string{
		{"MULTI"}, {"SET", "k", "w"}, {"EXEC"},
		{"MULTI"}, {"DISCARD"},
		{"EVAL", "return redis.call('get', KEYS[1])", "1", "k"},
		{"EVAL", set, "1", "k", "w"},
		{"EVAL", "return redis.pcall('set', KEYS[1], ARGV[1])", "1", "k", "w"},
		{"EVAL", "redis.call('del', KEYS[1]); return redis.call('set', KEYS[1], ARGV[1])", "1", "k", "w"},
		{"EVAL", "redis.call('get', KEYS[1]); return redis.call('set', KEYS[1], ARGV[1])", "1", "k", "w"},
		{"EVAL", "#!lua\n" + set, "1", "k", "w"},
		{"EVAL", "#!lua flags=no-writes\nreturn redis.call('get', KEYS[1])", "1", "k"},
		{"EVAL", "#!lua flags=allow-oom\n" + set, "1", "k", "x"},
		{"GET", "k"},
		{"CONFIG", "SET", "maxmemory", "0"},
		{"MULTI"}, {"SET", "k", "y"}, {"GET", "k"}, {"CONFIG", "SET", "maxmemory", "1"},
	} {
		both(words...)
	}
	redis.Want("+OK", "DISCARD")
	ours.Want("+OK", "DISCARD")
	// The limit falls while a transaction is queued.
	for _, end := range []string{"w", "r"} {
		admin := []*resptest.Conn{resptest.Dial(t, redis.C.RemoteAddr().String(), 2), resptest.Dial(t, addr, 2)}
		setAll := func(limit string) {
			for _, o := range admin {
				o.Want("+OK", "CONFIG", "SET", "maxmemory", limit)
			}
		}
		setAll("0")
		both("MULTI")
		both("GET", "k")
		if end == "w" {
			both("SET", "k", "z")
		} else {
			both("DEL", "k")
		}
		setAll("1")
		both("EXEC")
		both("GET", "k")
		setAll("0")
	}
}

// evictServer is a server with a limit and a policy.
func evictServer(t *testing.T, limit, policy string) (*Server, *resptest.Conn) {
	srv, addr := serveTest(t, nil)
	o := resptest.Dial(t, addr, 2)
	o.Want("+OK", "CONFIG", "SET", "maxmemory-policy", policy, "maxmemory", limit)
	return srv, o
}

func TestEvictionKeepsDataWithinLimit(t *testing.T) {
	randomtest.Draw(t, 4)
	for _, policy := range []string{"allkeys-lru", "allkeys-lfu", "allkeys-random", "volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl"} {
		t.Run(policy, func(t *testing.T) {
			randomtest.DrawShort(t, 4)
			const limit, size, keys = 256 << 10, 1000, 2000
			srv, o := evictServer(t, strconv.Itoa(limit), policy)
			value := strings.Repeat("v", size)
			for i := range keys {
				o.Want("+OK", "SET", fmt.Sprint("key:", i), value, "EX", strconv.Itoa(1000+i))
				if used := srv.store.ActiveBytes(); used > limit+2*size {
					t.Fatalf("after %d keys: %d bytes, the limit is %d", i, used, limit)
				}
			}
			resptest.WaitFor(t, "all keys that are gone count as evicted", func() bool {
				evicted := o.InfoField("evicted_keys", "INFO", "stats")
				left, _ := strconv.Atoi(o.Do("DBSIZE").Text)
				return left+evicted == keys
			})
			if used := srv.store.ActiveBytes(); used < limit*9/10 {
				t.Errorf("only %d bytes are left of %d", used, limit)
			}
		})
	}
}

func TestVolatilePolicyLeavesOtherKeys(t *testing.T) {
	randomtest.DrawShort(t, 4)
	const limit, size = 256 << 10, 1000
	_, o := evictServer(t, strconv.Itoa(limit), "volatile-lru")
	value := strings.Repeat("v", size)
	kept := 0
	for ; kept < limit/size/2; kept++ {
		o.Want("+OK", "SET", fmt.Sprint("kept:", kept), value)
	}
	for i := range 1000 {
		o.Want("+OK", "SET", fmt.Sprint("volatile:", i), value, "EX", "1000")
	}
	// As nothing else may be evicted, writes are refused in the end.
	for i := 0; ; i++ {
		if v := o.Do("SET", fmt.Sprint("more:", i), value); v.String() == oomReply {
			break
		} else if i > 2*limit/size {
			t.Fatalf("%s after %d keys", v, i)
		}
	}
	for i := range kept {
		o.Want(":1", "EXISTS", fmt.Sprint("kept:", i))
	}
	o.Want(oomReply, "SET", "more", value)
	o.Want("+OK", "CONFIG", "SET", "maxmemory-policy", "allkeys-random")
	o.Want("+OK", "SET", "more", value)
}

func TestEvictionTellsClients(t *testing.T) {
	const limit, size = 64 << 10, 1000
	_, addr := serveTest(t, nil)
	o, events, reader := resptest.Dial(t, addr, 2), resptest.Dial(t, addr, 3), resptest.Dial(t, addr, 3)
	o.Want("+OK", "CONFIG", "SET", "notify-keyspace-events", "Ee")
	events.Do("SUBSCRIBE", "__keyevent@0__:evicted")
	value := strings.Repeat("v", size)
	o.Want("+OK", "SET", "first", value)
	reader.Want("+OK", "CLIENT", "TRACKING", "ON")
	reader.Do("GET", "first")
	for i := range limit/size - 5 {
		o.Want("+OK", "SET", fmt.Sprint("key:", i), value)
	}
	o.Want("+OK", "CONFIG", "SET", "maxmemory-policy", "allkeys-random", "maxmemory", "1000")
	o.Want("+OK", "SET", "last", "v")
	told := map[string]bool{}
	for !told["first"] {
		told[events.Next().Elems[2].Text] = true
	}
	for {
		v := reader.Next()
		if slices.ContainsFunc(v.Elems, func(e resptest.Value) bool {
			return slices.ContainsFunc(e.Elems, func(key resptest.Value) bool { return key.Text == "first" })
		}) {
			break
		}
	}
}

// TestOwnerOfKeyJudgesQuota has a node forward writes to one that is over its limit.
func TestOwnerOfKeyJudgesQuota(t *testing.T) {
	r := routedApart(t, 2)
	r.placeAll(oneOwner(t, "n1"))
	o := resptest.Dial(t, r.addrs[0], 2)
	one, owner := r.redirecting(0), r.redirecting(1) // CONFIG SET changes their node alone
	o.Want("+OK", "SET", "a", "1")
	owner.Want("+OK", "CONFIG", "SET", "maxmemory", "1")
	o.Want(oomReply, "SET", "a", "2")
	o.Want("$1", "GET", "a")
	for _, asks := range []bool{true, false} {
		o.Want("+OK", "MULTI")
		if asks { // the node of the client has a limit: it asks the owner
			one.Want("+OK", "CONFIG", "SET", "maxmemory", "1gb")
			o.Want(oomReply, "SET", "a", "2")
			o.Want("+QUEUED", "GET", "a")
			o.Want("-"+msgExecAbort, "EXEC")
			one.Want("+OK", "CONFIG", "SET", "maxmemory", "0")
			continue
		}
		o.Want("+QUEUED", "SET", "a", "2")
		o.Want("-EXECABORT Transaction discarded because of: OOM command not allowed when used memory > 'maxmemory'.", "EXEC")
	}
	o.Want("$1", "GET", "a")
	owner.Want("+OK", "CONFIG", "SET", "maxmemory", "0")
	one.Want("+OK", "CONFIG", "SET", "maxmemory", "1") // of the node that holds nothing
	o.Want("+OK", "SET", "a", "2")
	o.Want(":1", "DEL", "a")
}
