package resp

import (
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/store"
)

// roomyDisk is a file system with 1 GiB of free space, whatever the machine's has.
type roomyDisk struct{ vfs.FS }

func (roomyDisk) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{AvailBytes: 1 << 30, TotalBytes: 2 << 30, UsedBytes: 1 << 30}, nil
}

// freeing are commands that only remove, each with one that makes a key for it.
var freeing = []struct{ fill, free string }{
	{"SET k v", "DEL k"},
	{"SET k v", "UNLINK k"},
	{"SET k v", "GETDEL k"},
	{"SET k v", "GETEX k PXAT 1"},
	{"SET k v", "EXPIRE k -1"},
	{"SET k v", "PEXPIRE k 1"},
	{"SET k v", "EXPIREAT k 1"},
	{"SET k v", "PEXPIREAT k 1"},
	{"SET k v", "DELEX k"},
	{"SET k v", "DELIFEQ k v"},
	{"HSET k f v g w", "HDEL k f"},
	{"HSET k f v g w", "HGETDEL k FIELDS 1 f"},
	{"HSET k f v g w", "HGETEX k PXAT 1 FIELDS 1 f"},
	{"HSET k f v g w", "HEXPIRE k 0 FIELDS 1 f"},
	{"HSET k f v g w", "HPEXPIRE k 0 FIELDS 1 f"},
	{"HSET k f v g w", "HEXPIREAT k 1 FIELDS 1 f"},
	{"HSET k f v g w", "HPEXPIREAT k 1 FIELDS 1 f"},
	{"RPUSH k a b c", "LPOP k"},
	{"RPUSH k a b c", "RPOP k 2"},
	{"RPUSH k a b c", "LTRIM k 1 1"},
	{"RPUSH k a b c", "LREM k 0 a"},
	{"RPUSH k a b c", "LMPOP 1 k LEFT"},
	{"RPUSH k a b c", "BLPOP k 0"},
	{"RPUSH k a b c", "BRPOP k 0"},
	{"RPUSH k a b c", "BLMPOP 0 1 k LEFT"},
	{"SADD k a b c", "SREM k a"},
	{"SADD k a b c", "SPOP k"},
	{"ZADD k 1 a 2 b 3 c", "ZREM k a"},
	{"ZADD k 1 a 2 b 3 c", "ZPOPMIN k"},
	{"ZADD k 1 a 2 b 3 c", "ZPOPMAX k"},
	{"ZADD k 1 a 2 b 3 c", "ZMPOP 1 k MIN"},
	{"ZADD k 1 a 2 b 3 c", "BZPOPMIN k 0"},
	{"ZADD k 1 a 2 b 3 c", "BZPOPMAX k 0"},
	{"ZADD k 1 a 2 b 3 c", "BZMPOP 0 1 k MIN"},
	{"ZADD k 1 a 2 b 3 c", "ZREMRANGEBYSCORE k 1 2"},
	{"ZADD k 1 a 2 b 3 c", "ZREMRANGEBYRANK k 0 1"},
	{"ZADD k 0 a 0 b 0 c", "ZREMRANGEBYLEX k [a [b"},
	{"XADD k 1-1 f v", "XDEL k 1-1"},
	{"XADD k 1-1 f v", "XDELEX k IDS 1 1-1"},
	{"XADD k 1-1 f v", "XTRIM k MAXLEN 0"},
	{"XGROUP CREATE k g $ MKSTREAM", "XACKDEL k g IDS 1 1-1"},
	{"XGROUP CREATE k g $ MKSTREAM", "XACK k g 1-1"},
	{"XGROUP CREATE k g $ MKSTREAM", "XGROUP DELCONSUMER k g c"},
	{"XGROUP CREATE k g $ MKSTREAM", "XGROUP DESTROY k g"},
	{"JSON.SET k $ [1,2]", "JSON.DEL k $[0]"},
	{"JSON.SET k $ [1,2]", "JSON.FORGET k"},
	{"JSON.SET k $ [1,2]", "JSON.CLEAR k"},
	{"JSON.SET k $ [1,2]", "JSON.ARRPOP k $"},
	{"JSON.SET k $ [1,2]", "JSON.ARRTRIM k $ 1 1"},
	{"SET k v", "FLUSHDB"},
	{"SET k v", "FLUSHALL"},
	{"SET k v", "FUNCTION FLUSH"},
	{"SET k v", "FUNCTION DELETE none"},
}

// adding are the commands that write and are refused on a full disk, each with the reason where its
// name does not say that it adds data.
var adding = map[string]string{
	"append": "", "decr": "", "decrby": "", "getset": "", "incr": "", "incrby": "", "incrbyfloat": "", "increx": "",
	"mset": "", "msetnx": "", "psetex": "", "setex": "", "setnx": "", "setrange": "",
	"msetex":       "stores values before it looks at the time",
	"set":          "stores a value, also with a time in the past",
	"bitfield":     "may lengthen a string",
	"bitop":        "stores a string",
	"setbit":       "may lengthen a string",
	"pfadd":        "",
	"pfmerge":      "stores a HyperLogLog",
	"pfdebug":      "TODENSE makes a HyperLogLog larger",
	"hincrby":      "",
	"hincrbyfloat": "", "hmset": "", "hset": "", "hsetnx": "",
	"hsetex":   "stores values, also with a time in the past",
	"hpersist": "keeps what would be removed",
	"persist":  "keeps what would be removed",
	"copy":     "", "restore": "", "restore-asking": "",
	"migrate":  "refused always",
	"move":     "writes all of the key again",
	"rename":   "writes all of the key again",
	"renamenx": "writes all of the key again",
	"sort":     "STORE stores a list",
	"linsert":  "", "lpush": "", "lpushx": "", "rpush": "", "rpushx": "",
	"lset":                  "may be longer than the element before",
	"lmove":                 "adds to the other list",
	"rpoplpush":             "adds to the other list",
	"blmove":                "adds to the other list",
	"brpoplpush":            "adds to the other list",
	"sadd":                  "",
	"smove":                 "adds to the other set",
	"sdiffstore":            "",
	"sinterstore":           "",
	"sunionstore":           "",
	"zadd":                  "",
	"zincrby":               "",
	"zdiffstore":            "",
	"zinterstore":           "",
	"zunionstore":           "",
	"zrangestore":           "",
	"geoadd":                "",
	"georadius":             "STORE stores a sorted set",
	"georadiusbymember":     "STORE stores a sorted set",
	"geosearchstore":        "",
	"xadd":                  "adds an entry, also with MAXLEN",
	"xautoclaim":            "notes who has the entries",
	"xclaim":                "notes who has the entries",
	"xreadgroup":            "notes who has the entries",
	"xnack":                 "notes that nobody has the entries",
	"xsetid":                "removes nothing",
	"xgroup|create":         "",
	"xgroup|createconsumer": "",
	"xgroup|setid":          "removes nothing",
	"json.set":              "",
	"json.mset":             "",
	"json.merge":            "may add members",
	"json.arrappend":        "",
	"json.arrinsert":        "",
	"json.strappend":        "",
	"json.numincrby":        "writes a number that may be longer",
	"json.nummultby":        "writes a number that may be longer",
	"json.toggle":           "removes nothing",
	"bf.reserve":            "",
	"bf.add":                "",
	"bf.madd":               "",
	"bf.insert":             "",
	"bf.loadchunk":          "",
	"function|load":         "",
	"function|restore":      "",
	"swapdb":                "removes nothing",
}

func TestFullDiskAcceptsRemovals(t *testing.T) {
	srv, addr := serveTest(t, func(_ *Config, sc *store.Config) { sc.FS = roomyDisk{vfs.Default} })
	o := resptest.Dial(t, addr, 2)
	free := func(n int64) {
		t.Helper()
		o.Want("+OK", "CONFIG", "SET", "min-free-disk", strconv.FormatInt(n, 10))
	}
	accepted := func(command string, args ...string) {
		t.Helper()
		if got := o.Do(args...).String(); strings.Contains(got, "-") && strings.Contains(got, "MISCONF") {
			t.Errorf("%s: %s", command, got)
		}
	}
	const room = 1 << 30
	covered := map[string]bool{}
	for _, c := range freeing {
		words := strings.Fields(c.free)
		cmd := srv.table.Find(bytesOf(words))
		if covered[cmd.Full] = true; !cmd.Frees {
			t.Errorf("%s is not marked as one that only removes", c.free)
		}
		free(0)
		o.Do("DEL", "k")
		o.Do(strings.Fields(c.fill)...)
		free(room * 3 / 2)
		if got := o.Do("SET", "other", "v").String(); !strings.HasPrefix(got, "-MISCONF") {
			t.Fatalf("SET on a full disk: %s", got)
		}
		accepted(c.free, words...)
		if cmd.Spread || !cmd.Keyed {
			continue
		}
		free(0)
		o.Do("DEL", "k")
		o.Do(strings.Fields(c.fill)...)
		free(room * 3 / 2)
		o.Want("+OK", "MULTI")
		accepted(c.free+" in MULTI", words...)
		accepted(c.free+" in EXEC", "EXEC")
		if got := o.Do("EVAL", "return redis.pcall('SET', 'other', 'v')", "1", "other").String(); !strings.HasPrefix(got, "-MISCONF") {
			t.Fatalf("SET in a script on a full disk: %s", got)
		}
		if !cmd.Waits {
			accepted(c.free+" in a script", append([]string{"EVAL", "return redis.call(unpack(ARGV))", "1", "k"}, words...)...)
		}
	}
	for _, cmd := range srv.table.All {
		_, adds := adding[cmd.Full]
		switch {
		case cmd.Between || cmd.Run == nil || cmd.Flags&command.FlagWrite == 0:
			if adds {
				t.Errorf("%s is no command of clients that writes", cmd.Full)
			}
		case adds == cmd.Frees:
			t.Errorf("%s has to be either marked as one that only removes, or listed as one that adds data", cmd.Full)
		case cmd.Frees && !covered[cmd.Full]:
			t.Errorf("%s is not tried", cmd.Full)
		}
	}
	free(0)
	o.Want("+OK", "SET", "k", "v")
	free(room * 3) // more than half of the reserve is used up
	if got := o.Do("DEL", "k").String(); !strings.HasPrefix(got, "-MISCONF") {
		t.Errorf("DEL without any room: %s", got)
	}
	o.Want("$v", "GET", "k")
	o.Want("*($min-free-disk $3221225472)", "CONFIG", "GET", "min-free-disk")
	free(room / 2)
	o.Want("+OK", "SET", "k", "w")
}

// A watchedLog is a file system that calls wrote, once, after the store's log was written to.
type watchedLog struct {
	roomyDisk
	wrote *atomic.Pointer[func()]
}

func (l watchedLog) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := l.FS.Create(name, c)
	return watchedFile{f, l.wrote}, err
}

type watchedFile struct {
	vfs.File
	wrote *atomic.Pointer[func()]
}

func (f watchedFile) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	if wrote := f.wrote.Swap(nil); wrote != nil {
		(*wrote)()
	}
	return n, err
}

// FLUSHDB of a node where another database holds keys, too, removes some keys at a time. A disk that becomes
// full between two of these times is no refusal of the whole.
func TestFlushDBThatEndsHalfWayIsUnknown(t *testing.T) {
	var wrote atomic.Pointer[func()]
	srv, addr := serveTest(t, func(_ *Config, sc *store.Config) { sc.FS = watchedLog{roomyDisk{vfs.Default}, &wrote} })
	o := resptest.Dial(t, addr, 2)
	const keys = 2*flushStep + 1
	o.Want("+OK", "SELECT", "1")
	o.Want("+OK", "SET", "k", "v")
	o.Want("+OK", "SELECT", "0")
	for i := range keys {
		o.Want("+OK", "SET", "k"+strconv.Itoa(i), "v")
	}
	full := func() { srv.store.SetMinFreeDisk(3 << 30) }
	wrote.Store(&full)
	got := o.Do("FLUSHDB").String()
	left := o.Do("DBSIZE").String()
	if left != ":"+strconv.Itoa(keys-flushStep) || !strings.HasPrefix(got, "-UNKNOWN A part of the write has been made, another was refused: MISCONF") {
		t.Errorf("%s, and %s of %d keys are left", got, left, keys)
	}
	full()
	if got := o.Do("FLUSHDB").String(); !strings.HasPrefix(got, "-MISCONF") {
		t.Errorf("on a full disk: %s", got)
	}
	srv.store.SetMinFreeDisk(0)
	o.Want("+OK", "FLUSHDB")
	o.Want(":0", "DBSIZE")
}

// TestFullDiskRefusesScriptsAndTransactionsAsAWhole moves an element from one list to another while
// the disk of the keys' owner takes only removals, or comes to that in the middle.
func TestFullDiskRefusesScriptsAndTransactionsAsAWhole(t *testing.T) {
	r := routedOver(t, 2, true, func(_ *Config, sc *store.Config) { sc.FS = roomyDisk{vfs.Default} })
	r.placeAll(oneOwner(t, "n1"))
	owner := r.servers[1]
	const short, roomy = 3 << 29, 0 // of 1 GiB
	// LPOP of this list leaves the disk short.
	pop := owner.table.ByName["lpop"]
	run := pop.Run
	pop.Run = func(x *command.Call) {
		run(x)
		if string(x.Args[1]) == "{q}last" {
			owner.store.SetMinFreeDisk(short)
		}
	}
	script := func(body string) []string { return []string{"EVAL", body, "3", "{q}from", "{q}to", "{q}last"} }
	const move = "redis.call('rpush', KEYS[2], redis.call('lpop', KEYS[1]))"
	fill := "redis.call('lpop', KEYS[3]) "
	for _, addr := range r.addrs {
		resptest.Dial(t, addr, 2).Want("$m", "FUNCTION", "LOAD", "REPLACE", "#!lua name=m\nredis.register_function('move', function(KEYS) "+move+" end)")
	}
	exec := func(cmds ...[]string) [][]string {
		return append(append([][]string{{"MULTI"}}, cmds...), []string{"EXEC"})
	}
	lpop, rpush := []string{"LPOP", "{q}from"}, []string{"RPUSH", "{q}to", "a"}
	last := []string{"LPOP", "{q}last"} // in the middle
	for name, c := range map[string]struct {
		cmds [][]string
		free int64
	}{
		"script":                          {[][]string{script(move)}, short},
		"script that catches errors":      {[][]string{script("local x = redis.call('lpop', KEYS[1]) redis.pcall('rpush', KEYS[2], x) return 1")}, short},
		"script in the middle":            {[][]string{script(fill + move)}, roomy},
		"function":                        {[][]string{{"FCALL", "move", "2", "{q}from", "{q}to"}}, short},
		"transaction":                     {exec(lpop, rpush), short},
		"transaction in the middle":       {exec(last, lpop, rpush), roomy},
		"transaction with a script":       {exec(lpop, script("return redis.call('rpush', KEYS[2], 'a')")), short},
		"transaction with a function":     {exec([]string{"FCALL", "move", "2", "{q}from", "{q}to"}), short},
		"transaction in parts":            {exec(lpop, []string{"DBSIZE"}, rpush), short},
		"transaction that loads a script": {exec(lpop, []string{"FUNCTION", "LOAD", "#!lua name=n\nredis.register_function('n', function() end)"}, rpush), short},
	} {
		for i, addr := range r.addrs {
			o := resptest.Dial(t, addr, 2)
			owner.store.SetMinFreeDisk(roomy)
			o.Do("DEL", "{q}from", "{q}to", "{q}last")
			o.Want(":2", "RPUSH", "{q}from", "a", "b")
			o.Want(":2", "RPUSH", "{q}last", "a", "b")
			owner.store.SetMinFreeDisk(c.free)
			got := ""
			for _, words := range c.cmds {
				got = o.Do(words...).String()
			}
			owner.store.SetMinFreeDisk(roomy)
			want := "-MISCONF "
			if len(c.cmds) > 1 {
				want = "-EXECABORT Transaction discarded because of"
			}
			if !strings.HasPrefix(got, want) {
				t.Errorf("%s at node %d: %s", name, i, got)
			}
			left := o.Do("LRANGE", "{q}from", "0", "-1").String() + o.Do("EXISTS", "{q}to").String() + o.Do("LLEN", "{q}last").String()
			if left != "*($a $b):0:2" {
				t.Errorf("%s at node %d leaves %s", name, i, left)
			}
		}
	}
	// What only removes is accepted, also where the queue's node has no disk to judge by.
	owner.store.SetMinFreeDisk(short)
	for _, addr := range r.addrs {
		o := resptest.Dial(t, addr, 2)
		o.Want("+OK", "MULTI")
		o.Want("+QUEUED", lpop...)
		o.Want("+QUEUED", script("return redis.call('llen', KEYS[1])")...)
		if got := o.Do("EXEC").String(); got != "*($a :1)" && got != "*($b :0)" {
			t.Errorf("removals in EXEC: %s", got)
		}
	}
	// The disk of the node that forwards does not count.
	owner.store.SetMinFreeDisk(roomy)
	r.servers[0].store.SetMinFreeDisk(short)
	o := resptest.Dial(t, r.addrs[0], 2)
	o.Want("+OK", "MULTI")
	o.Want("+QUEUED", rpush...)
	o.Want("*(:1)", "EXEC")
}

func bytesOf(words []string) (b [][]byte) {
	for _, w := range words {
		b = append(b, []byte(w))
	}
	return b
}
