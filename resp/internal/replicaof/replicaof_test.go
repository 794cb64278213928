package replicaof_test

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/freeport"
	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/node"
)

const readonly = "-READONLY You can't write against a read only replica."

// start opens a node that clients can write to.
func start(t *testing.T, change ...func(*node.Config)) (*node.Node, *resptest.Conn) {
	t.Helper()
	cfg := node.DefaultConfig()
	cfg.Addr, cfg.BusAddr, cfg.GossipAddr, cfg.HTTPAddr, cfg.Dir = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0", node.HTTPOff, t.TempDir()
	for _, f := range change {
		f(&cfg)
	}
	n, err := node.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	c := resptest.Dial(t, n.Addr().String(), 2)
	resptest.WaitFor(t, "a node that takes writes", func() bool { return c.Do("SET", "first", "1").String() == "+OK" })
	c.Want(":1", "DEL", "first")
	return n, c
}

// hostPort returns the words of REPLICAOF that name an address.
func hostPort(t *testing.T, addr string) []string {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	return []string{"REPLICAOF", host, port}
}

func infoHas(c *resptest.Conn, line string) bool {
	return strings.Contains(c.Do("INFO", "replication").String(), line)
}

func waitUp(t *testing.T, c *resptest.Conn) {
	t.Helper()
	resptest.WaitFor(t, "a copy that follows", func() bool { return infoHas(c, "master_link_status:up") })
}

// waitSame waits until a command has the same reply at both.
func waitSame(t *testing.T, one, other *resptest.Conn, words ...string) {
	t.Helper()
	resptest.WaitFor(t, fmt.Sprintf("the same reply to %q", words), func() bool { return one.Do(words...).String() == other.Do(words...).String() })
}

func library(name string) string {
	return fmt.Sprintf("#!lua name=%s\nredis.register_function('of_%[1]s', function() return 1 end)", name)
}

func TestClusterIsAReplicaOfRedis(t *testing.T) {
	source := resptest.Dial(t, redistest.Start7(t, "--repl-diskless-sync-delay", "0"), 2)
	for i := range 500 {
		source.Do("SET", fmt.Sprint("key", i), fmt.Sprint(i))
		source.Do("RPUSH", "list", fmt.Sprint(i))
	}
	source.Do("HSET", "hash", "a", "1")
	source.Do("SELECT", "3")
	source.Do("SET", "three", "3")
	source.Do("SELECT", "0")
	dir := t.TempDir()
	n, c := start(t, func(cfg *node.Config) { cfg.Dir = dir })
	source.Want("$lib", "FUNCTION", "LOAD", library("lib"))
	c.Want("$own", "FUNCTION", "LOAD", library("own"))
	c.Want("+OK", "SET", "key1", "of the cluster")
	c.Want("+OK", "SET", "old", "1")
	c.Want("+OK", hostPort(t, source.C.RemoteAddr().String())...)
	waitUp(t, c)
	waitSame(t, source, c, "DBSIZE")
	c.Want("_$", "GET", "old")
	c.Want("$1", "GET", "key1")
	waitSame(t, source, c, "LRANGE", "list", "0", "-1")
	c.Want("+OK", "SELECT", "3")
	c.Want("$3", "GET", "three")
	c.Want("+OK", "SELECT", "0")

	waitSame(t, source, c, "FUNCTION", "LIST")
	source.Want("$more", "FUNCTION", "LOAD", "REPLACE", library("more"))
	waitSame(t, source, c, "FUNCTION", "LIST", "LIBRARYNAME", "more")
	source.Do("INCR", "key1")
	source.Do("DEL", "key2")
	source.Do("HSET", "hash", "b", "2")
	source.Do("EVAL", "redis.call('LPOP', 'list') redis.call('INCR', 'key3')", "0")
	for _, words := range [][]string{{"GET", "key1"}, {"EXISTS", "key2"}, {"HGETALL", "hash"}, {"LLEN", "list"}, {"GET", "key3"}} {
		waitSame(t, source, c, words...)
	}

	c.Want("*($replicaof $"+strings.Join(hostPort(t, source.C.RemoteAddr().String())[1:], " ")+")", "CONFIG", "GET", "replicaof")
	role := c.Do("ROLE").String()
	if !strings.Contains(role, "slave") || !strings.Contains(role, "connected") {
		t.Errorf("ROLE: %s", role)
	}
	for _, line := range []string{"role:slave", "master_sync_in_progress:0", "slave_read_only:1", "keys_not_copied:0"} {
		if !infoHas(c, line) {
			t.Errorf("INFO has no %s: %s", line, c.Do("INFO", "replication"))
		}
	}
	c.Want("+OK Already connected to specified master", hostPort(t, source.C.RemoteAddr().String())...)

	// After a restart the copy resumes from its last offset: the source sends its keys once.
	full := source.InfoField("sync_full", "INFO", "stats")
	addr := n.Addr().String()
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	source.Do("SET", "meanwhile", "1")
	cfg := node.DefaultConfig()
	cfg.Addr, cfg.BusAddr, cfg.GossipAddr, cfg.HTTPAddr, cfg.Dir = addr, "127.0.0.1:0", "127.0.0.1:0", node.HTTPOff, dir
	again, err := node.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Close() }()
	c = resptest.Dial(t, addr, 2)
	c.Want(readonly, "SET", "key1", "at once after the start")
	waitUp(t, c)
	waitSame(t, source, c, "GET", "meanwhile")
	if now := source.InfoField("sync_full", "INFO", "stats"); now != full {
		t.Errorf("the source has sent all keys %d times after the restart", now-full)
	}

	if text := c.Do("RING", "STATUS").String(); !strings.Contains(text, "a replica of "+source.C.RemoteAddr().String()) {
		t.Errorf("RING STATUS does not name the primary:\n%s", text)
	}

	source.Do("FLUSHALL")
	waitSame(t, source, c, "DBSIZE")
	source.Do("SET", "last", "1")
	waitSame(t, source, c, "GET", "last")
	c.Want("+OK", "REPLICAOF", "NO", "ONE")
	if !infoHas(c, "role:master") {
		t.Error("it is still a replica")
	}
	c.Want("+OK", "SET", "last", "2")
	resptest.WaitFor(t, "no file of the former primary", func() bool {
		files, _ := filepath.Glob(filepath.Join(dir, "replicaof-*"))
		return len(files) == 0
	})
	source.Do("SET", "last", "3")
	c.Want("$2", "GET", "last")
}

func TestClientsOfAReplicaOnlyRead(t *testing.T) {
	_, source := start(t)
	source.Want("+OK", "SET", "key", "1")
	source.Do("FUNCTION", "LOAD", "#!lua name=here\nredis.register_function('f', function(k) return redis.call('SET', k[1], 'x') end)")
	n, c := start(t)
	queued := resptest.Dial(t, n.Addr().String(), 2)
	queued.Want("+OK", "MULTI")
	queued.Want("+QUEUED", "SET", "key", "queued before")
	waiting := resptest.Dial(t, n.Addr().String(), 2)
	waiting.Send("BLPOP", "queue", "0")
	resptest.WaitFor(t, "a client that waits", func() bool { return c.InfoField("blocked_clients", "INFO", "clients") == 1 })
	c.Want("+OK", hostPort(t, source.C.RemoteAddr().String())...)
	waitUp(t, c)

	for _, words := range [][]string{
		{"SET", "key", "2"}, {"DEL", "key"}, {"FLUSHALL"}, {"FLUSHDB"}, {"RPUSH", "queue", "1"}, {"EXPIRE", "key", "1"},
		{"EVAL", "return redis.call('SET', KEYS[1], 'x')", "1", "key"}, {"RESTORE", "x", "0", "y"}, {"BLPOP", "queue", "1"},
		{"SORT", "queue", "STORE", "key"}, {"BITFIELD", "key", "SET", "u8", "0", "1"},
		{"FUNCTION", "FLUSH"}, {"SWAPDB", "0", "1"}, {"MSET", "a", "1", "b", "2"}, {"GETDEL", "key"}, {"PFADD", "p", "1"},
	} {
		if got := c.Do(words...).String(); !strings.HasPrefix(got, "-READONLY") {
			t.Errorf("%q: %s", words, got)
		}
	}
	c.Want("$1", "GET", "key")
	c.Want("$1", "EVAL", "return redis.call('GET', KEYS[1])", "1", "key")
	c.Want("+OK", "MULTI")
	c.Want(readonly, "SET", "key", "2")
	if got := c.Do("EXEC").String(); !strings.HasPrefix(got, "-EXECABORT") {
		t.Errorf("EXEC after a refused command: %s", got)
	}
	if got := queued.Do("EXEC").String(); !strings.HasPrefix(got, "-EXECABORT") {
		t.Errorf("EXEC of what was queued before: %s", got)
	}
	c.Want("+OK", "MULTI")
	c.Want("+QUEUED", "EVAL", "return redis.call('SET', KEYS[1], 'x')", "1", "key")
	if got := c.Do("EXEC").String(); !strings.Contains(got, "READONLY") {
		t.Errorf("EXEC of a script that writes: %s", got)
	}
	source.Want(":1", "RPUSH", "queue", "element")
	if got := waiting.Next().String(); got != readonly {
		t.Errorf("BLPOP that began before: %s", got)
	}
	waitSame(t, source, c, "LRANGE", "queue", "0", "-1")
	waitSame(t, source, c, "GET", "key")
	c.Want("+OK", "REPLICAOF", "no", "one")
	c.Want("+OK", "REPLICAOF", "no", "one")
	c.Want("$element", "LPOP", "queue")
}

// A transaction that waits for the end of a pause has been looked at before: it is looked at again.
func TestTransactionThatWaitedDoesNotWrite(t *testing.T) {
	_, source := start(t)
	n, c := start(t)
	c.Want("+OK", "ACL", "SETUSER", "user", "on", "nopass", "~*", "+@all")
	c.Want("+OK", "CLIENT", "PAUSE", "60000", "WRITE")
	waiting := resptest.Dial(t, n.Addr().String(), 2)
	waiting.Want("+OK", "AUTH", "user", "x")
	waiting.Want("+OK", "MULTI")
	waiting.Want("+QUEUED", "SET", "key", "1")
	waiting.Send("EXEC")
	resptest.WaitFor(t, "a client that waits", func() bool { return c.InfoField("blocked_clients", "INFO", "clients") == 1 })
	c.Want("+OK", hostPort(t, source.C.RemoteAddr().String())...)
	c.Want("+OK", "CLIENT", "UNPAUSE")
	if got := waiting.Next().String(); !strings.HasPrefix(got, "-EXECABORT") {
		t.Errorf("EXEC: %s", got)
	}
}

func TestNoWriteSurvivesThatTheSourceDoesNotHave(t *testing.T) {
	_, source := start(t)
	for i := range 50 {
		source.Want("+OK", "SET", fmt.Sprint("key", i), "source")
	}
	gossip, release, err := freeport.Loopback(3)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	var nodes []*node.Node
	for i := range 3 {
		n, _ := start(t, func(cfg *node.Config) {
			cfg.ForwardTimeout, cfg.GossipAddr = time.Second, gossip[i]
			if i > 0 {
				cfg.Join = gossip[:1]
			}
		})
		nodes = append(nodes, n)
	}
	var stop atomic.Bool
	var writers sync.WaitGroup
	for i, n := range nodes {
		w := resptest.Dial(t, n.Addr().String(), 2)
		writers.Go(func() {
			for j := 0; !stop.Load(); j++ {
				commands := [][]string{{"SET", fmt.Sprint("key", j%60), "client"}, {"MULTI"}, {"SET", fmt.Sprint("key", (j+7)%60), "client"}, {"EXEC"},
					{"EVAL", "return redis.call('SET', KEYS[1], 'client')", "1", fmt.Sprint("key", (j+i)%60)}}
				w.DoAll(commands)
			}
		})
	}
	c := resptest.Dial(t, nodes[1].Addr().String(), 2)
	c.Want("+OK", hostPort(t, source.C.RemoteAddr().String())...)
	waitUp(t, c)
	stop.Store(true)
	writers.Wait()
	for i, n := range nodes {
		c := resptest.Dial(t, n.Addr().String(), 2)
		c.Want(readonly, "SET", "key1", "client")
		c.Want(":50", "DBSIZE")
		for i := range 50 {
			c.Want("$source", "GET", fmt.Sprint("key", i))
		}
		if got := c.Do("ROLE").String(); !strings.Contains(got, map[bool]string{true: "connected", false: "unknown"}[i == 1]) {
			t.Errorf("node %d: %s", i, got)
		}
	}
}

// A function that began before REPLICAOF still writes. The copy begins after it has ended.
func TestCopyBeginsBehindWritesThatHaveBegun(t *testing.T) {
	_, source := start(t)
	source.Want("+OK", "SET", "key", "source")
	n, c := start(t)
	c.Want("$slow", "FUNCTION", "LOAD", `#!lua name=slow
redis.register_function('slow', function(keys)
	for i = 1, 5e7 do end
	redis.call('SET', keys[1], 'client')
	return 1
end)`)
	slow := resptest.Dial(t, n.Addr().String(), 2)
	slow.Send("FCALL", "slow", "1", "only here")
	resptest.WaitFor(t, "a function that runs", func() bool { return strings.Contains(c.Do("FUNCTION", "STATS").String(), "duration_ms") })
	c.Want("+OK", hostPort(t, source.C.RemoteAddr().String())...)
	waitUp(t, c)
	if got := slow.Next().String(); got != ":1" {
		t.Fatalf("the function that had begun: %s", got)
	}
	c.Want("$source", "GET", "key")
	c.Want(":1", "DBSIZE")
}

func TestPrimaryThatIsTheClusterItselfChangesNothing(t *testing.T) {
	n, c := start(t)
	c.Want("+OK", "SET", "key", "1")
	c.Want("+OK", hostPort(t, n.Addr().String())...)
	c.Want(readonly, "SET", "key", "2")
	resptest.WaitFor(t, "a link that is down", func() bool { return infoHas(c, "master_link_status:down") })
	c.Want("+OK", "REPLICAOF", "NO", "ONE")
	c.Want("$1", "GET", "key")
	c.Want("+OK", "SET", "key", "2")
}

// Each would wait for what the other deletes, and keys would go round for ever.
func TestTwoClustersAreNotReplicasOfEachOther(t *testing.T) {
	one, c := start(t)
	other, d := start(t)
	c.Want("+OK", "SET", "one", "1")
	d.Want("+OK", "SET", "other", "1")
	d.Want("+OK", hostPort(t, one.Addr().String())...)
	waitUp(t, d)
	c.Want("+OK", hostPort(t, other.Addr().String())...)
	resptest.WaitFor(t, "a link that stays down", func() bool { return infoHas(c, "master_link_down_since_seconds:2") })
	c.Want("+OK", "REPLICAOF", "NO", "ONE")
	c.Want("$1", "GET", "one")
	c.Want("_$", "GET", "other")
	c.Want("+OK", "SET", "one", "2")
	waitSame(t, c, d, "GET", "one")
}

func TestStaleDataIsNotServedIfTheSettingsSaySo(t *testing.T) {
	_, source := start(t)
	source.Want("+OK", "SET", "key", "1")
	_, c := start(t)
	c.Want("+OK", hostPort(t, source.C.RemoteAddr().String())...)
	waitUp(t, c)
	c.Want("+OK", "CONFIG", "SET", "replica-serve-stale-data", "no")
	c.Want("$1", "GET", "key")
	c.Want("+OK", "REPLICAOF", "127.0.0.1", "1") // no server listens there
	for _, words := range [][]string{{"GET", "key"}, {"EVAL", "#!lua flags=no-writes\nreturn 1", "0"}, {"KEYS", "*"}} {
		if got := c.Do(words...).String(); !strings.HasPrefix(got, "-MASTERDOWN") {
			t.Errorf("%q: %s", words, got)
		}
	}
	c.Want(":1", "EVAL", "return 1", "0")
	c.Want(":1", "EVAL", "#!lua flags=no-writes,allow-stale\nreturn 1", "0")
	if got := c.Do("EVAL", "return redis.call('GET', KEYS[1])", "1", "key").String(); !strings.Contains(got, "stale replica") {
		t.Errorf("GET in a script: %s", got)
	}
	c.Want("+OK", "CONFIG", "SET", "replica-serve-stale-data", "yes")
	c.Want("$1", "GET", "key")
	c.Want("+OK", hostPort(t, source.C.RemoteAddr().String())...)
	waitUp(t, c)
}

func TestLoginAtThePrimaryIsThatOfTheSettings(t *testing.T) {
	password := "abc\x00def"
	_, source := start(t)
	source.Want("+OK", "SET", "key", "1")
	source.Want("+OK", "CONFIG", "SET", "requirepass", password)
	_, c := start(t)
	c.Want("+OK", "CONFIG", "SET", "masterauth", "abc")
	c.Want("+OK", hostPort(t, source.C.RemoteAddr().String())...)
	resptest.WaitFor(t, "a link that is down", func() bool { return infoHas(c, "master_link_status:down") })
	c.Want("_$", "GET", "key")
	c.Want("+OK", "CONFIG", "SET", "masterauth", password)
	waitUp(t, c)
	c.Want("$1", "GET", "key")
}

func TestPrimaryMustHaveAPort(t *testing.T) {
	_, c := start(t)
	for _, port := range []string{"0", "65536", "-1"} {
		c.Want("-ERR Invalid master port", "REPLICAOF", "127.0.0.1", port)
	}
	c.Want("-ERR value is not an integer or out of range", "REPLICAOF", "127.0.0.1", "x")
	for _, host := range []string{"host\r\nrole:master", "a host", strings.Repeat("x", 256)} {
		c.Want("-ERR Invalid master host", "REPLICAOF", host, "1")
	}
	c.Want("+OK", "REPLICAOF", "no", "one")
}
