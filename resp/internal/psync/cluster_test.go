package psync_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/resp/client"
	"github.com/ringside-kv/ringside/resp/importer"
	"github.com/ringside-kv/ringside/resp/node/clustertest"
)

// A proxy is the way of replicas to a node of a cluster, which is in memory.
type proxy struct {
	t testing.TB
	l net.Listener

	mu    sync.Mutex
	shut  bool
	conns []net.Conn
	open  int
}

// newProxy listens for replicas that follow a node.
func newProxy(t testing.TB, c *clustertest.Cluster, node int) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{t: t, l: l}
	addr := c.Addr(node)
	resptest.Serve(t, l, func(near net.Conn) {
		far, err := c.Dial(context.Background(), "tcp", addr)
		if err != nil || !p.add(near, far) {
			return
		}
		var both sync.WaitGroup
		for _, ends := range [][2]net.Conn{{near, far}, {far, near}} {
			both.Go(func() {
				_, _ = io.Copy(ends[0], ends[1])
				_ = near.Close()
				_ = far.Close()
			})
		}
		both.Wait()
		p.mu.Lock()
		p.open--
		p.mu.Unlock()
	})
	t.Cleanup(func() { p.cut(true) })
	return p
}

func (p *proxy) add(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shut {
		for _, c := range conns {
			_ = c.Close()
		}
		return false
	}
	p.open++
	p.conns = append(p.conns, conns...)
	return true
}

// cut breaks all connections, and with shut none is made until mend.
func (p *proxy) cut(shut bool) {
	p.mu.Lock()
	p.shut = shut
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.conns = nil
	p.mu.Unlock()
	resptest.WaitFor(p.t, "the end of the connections", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.open == 0 || !shut
	})
}

func (p *proxy) mend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shut = false
}

// startReplica has a redis-server 7.0 follow what is behind a proxy.
func startReplica(t testing.TB, p *proxy, options ...string) *redis.Client {
	t.Helper()
	r := redistest.Client(&redis.Options{Addr: redistest.Start7(t, options...), MaxRetries: -1})
	host, port, _ := net.SplitHostPort(p.l.Addr().String())
	t.Cleanup(func() {
		_ = r.Do(context.Background(), "REPLICAOF", "NO", "ONE").Err()
		_ = r.Close()
	})
	do(t, r, "REPLICAOF "+host+" "+port)
	return r
}

type doer interface {
	Do(ctx context.Context, args ...any) *redis.Cmd
}

// do runs a command of words with spaces between them, and further arguments.
func do(t testing.TB, c doer, command string, args ...any) string {
	t.Helper()
	var words []any
	for _, word := range strings.Fields(command) {
		words = append(words, word)
	}
	v, err := c.Do(context.Background(), append(words, args...)...).Result()
	if err != nil && err != redis.Nil {
		t.Fatalf("%s: %v", command, err)
	}
	return fmt.Sprint(v)
}

// infoField returns a field of INFO.
func infoField(t testing.TB, c doer, name string) string {
	t.Helper()
	for line := range strings.Lines(do(t, c, "INFO")) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+":"); ok {
			return value
		}
	}
	return ""
}

// awaitSame deletes values of modules and waits until a replica has what the cluster has.
func awaitSame(t testing.TB, c *clustertest.Cluster, node int, r *redis.Client) {
	t.Helper()
	deleteModuleValues(t, c.Client(node))
	cfg := importer.FollowConfig{
		Config: importer.Config{
			Target: client.Config{Addrs: []string{r.Options().Addr}}, Stats: new(importer.Stats), RetryFor: resptest.Patience,
		},
		Source: client.Config{
			Addrs: []string{c.Addr(node)}, Route: client.Forward,
			Dial: func(ctx context.Context, addr string) (net.Conn, error) { return c.Dial(ctx, "tcp", addr) },
		},
	}
	var last string
	defer func() {
		if t.Failed() {
			t.Log(last)
		}
	}()
	resptest.WaitFor(t, "the replica to have all", func() bool {
		compared, err := importer.Verify(context.Background(), cfg)
		last = fmt.Sprintf("%+v %v", compared, err)
		return err == nil && compared.Different == 0
	})
}

// change returns a random change of keys of a group, which lie on one node.
func change(r *rand.Rand, group int) []any {
	key := func(name string) string { return fmt.Sprintf("{%d}%s%d", group, name, r.IntN(6)) }
	n := r.IntN(1000)
	switch r.IntN(44) {
	case 0:
		return []any{"LPUSH", key("queue"), n, strings.Repeat("x", n)}
	case 1:
		return []any{"RPOPLPUSH", key("queue"), key("queue")}
	case 2:
		return []any{"XADD", key("log"), "MAXLEN", "~", 50, "*", "n", n}
	case 3:
		return []any{"HSET", key("table"), n % 300, strings.Repeat("y", n%90), n % 7, n}
	case 4:
		return []any{"ZINCRBY", key("board"), n, n % 200}
	case 5:
		return []any{"APPEND", key("text"), n}
	case 6:
		return []any{"SETRANGE", key("text"), n * 100, "x"}
	case 7:
		return []any{"SADD", key("group"), n % 300, fmt.Sprint("m", n)}
	case 8:
		return []any{"SPOP", key("group"), 3}
	case 9:
		return []any{"PEXPIRE", key("counter"), 1 + n/2}
	case 10:
		return []any{"DEL", key("text")}
	case 11:
		return []any{"SET", key("text"), n, "EX", 1000 + n}
	case 12:
		return []any{"EVAL", "redis.call('INCR', KEYS[1]); return redis.call('RPUSH', KEYS[2], ARGV[1])", 2, key("counter"), key("queue"), n}
	case 13:
		return []any{"SUNIONSTORE", key("group"), key("group"), key("group")}
	case 14:
		return []any{"ZUNIONSTORE", key("board"), 2, key("board"), key("board"), "WEIGHTS", 1, 0.5}
	case 15:
		return []any{"COPY", key("text"), key("text"), "DB", 3, "REPLACE"}
	case 16:
		return []any{"MOVE", key("text"), 3}
	case 17:
		return []any{"LTRIM", key("queue"), 0, 40}
	case 18:
		return []any{"BITFIELD", key("text"), "INCRBY", "u8", n, 1}
	case 19:
		return []any{"PFADD", key("sketch"), n, n + 1}
	case 20:
		return []any{"SORT", key("group"), "ALPHA", "STORE", key("queue")}
	case 21:
		return []any{"GETDEL", key("counter")}
	case 22:
		return []any{"RENAME", key("text"), key("text")}
	case 23:
		return []any{"XGROUP", "CREATE", key("log"), "g", "0", "MKSTREAM"}
	case 24:
		return []any{"XREADGROUP", "GROUP", "g", fmt.Sprint("c", n%3), "COUNT", 5, "STREAMS", key("log"), ">"}
	case 25:
		return []any{"EVAL", "local p = redis.call('XPENDING', KEYS[1], 'g', '-', '+', 3); for _, e in ipairs(p) do redis.call('XACK', KEYS[1], 'g', e[1]) end", 1, key("log")}
	case 26:
		return []any{"XAUTOCLAIM", key("log"), "g", fmt.Sprint("c", n%3), 0, "0", "COUNT", 2}
	case 27:
		return []any{"HDEL", key("table"), n % 300, n % 200}
	case 28:
		return []any{"PERSIST", key("text")}
	case 29:
		return []any{"GETEX", key("text"), "PX", 10_000 + n}
	case 30:
		return []any{"SET", key("brief"), n, "PX", 1 + n%20}
	case 31:
		return []any{"LSET", key("queue"), 0, n}
	case 32:
		return []any{"XSETID", key("log"), fmt.Sprintf("%d-1", time.Now().UnixMilli()+int64(n))}
	case 33:
		return []any{"JSON.SET", key("doc"), "$", fmt.Sprintf(`{"n":%d,"list":[1],"pad":"%s"}`, n, strings.Repeat("x", n*(n%20)))}
	case 34:
		return []any{"JSON.NUMINCRBY", key("doc"), "$..n", n}
	case 35:
		return []any{"JSON.ARRAPPEND", key("doc"), "$.list", n, `"ä"`}
	case 36:
		return []any{"BF.MADD", key("seen"), n, n + 1, n + 2}
	case 37:
		return []any{"BF.RESERVE", key("seen"), "0.001", 1 + n*n%50_000}
	case 38:
		return []any{"SET", key("doc"), n} // of another type
	case 39:
		return []any{"DEL", key("doc"), key("seen")}
	case 40:
		return []any{"COPY", key("doc"), key("seen"), "REPLACE"}
	}
	return []any{"INCRBY", key("counter"), n}
}

// deleteModuleValues deletes what a Redis without modules does not have.
func deleteModuleValues(t testing.TB, cl *redis.Client) {
	t.Helper()
	ctx := context.Background()
	for database := range 4 {
		for _, typ := range []string{"ReJSON-RL", "MBbloom--"} {
			cursor := "0"
			for {
				pipe := cl.Pipeline()
				pipe.Do(ctx, "SELECT", database)
				scan := pipe.Do(ctx, "SCAN", cursor, "TYPE", typ, "COUNT", 1000)
				pipe.Do(ctx, "SELECT", 0)
				if _, err := pipe.Exec(ctx); err != nil {
					t.Fatal(err)
				}
				reply, _ := scan.Slice()
				for _, key := range reply[1].([]any) {
					pipe.Do(ctx, "SELECT", database)
					pipe.Do(ctx, "DEL", key)
				}
				pipe.Do(ctx, "SELECT", 0)
				if _, err := pipe.Exec(ctx); err != nil {
					t.Fatal(err)
				}
				if cursor = reply[0].(string); cursor == "0" {
					break
				}
			}
		}
	}
}

// A writer writes random changes through the nodes of a cluster until stop.
type writer struct {
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// startWriter writes through some nodes, in pipelines, transactions and, with everything, now and then with what covers
// all keys. It rests between two pipelines.
func startWriter(t testing.TB, c *clustertest.Cluster, seed uint64, everything bool, pause time.Duration, nodes ...int) *writer {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	w := &writer{cancel: cancel}
	for _, i := range nodes {
		cl := c.Client(i)
		w.running.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			for ctx.Err() == nil {
				write(ctx, cl, r, everything)
				time.Sleep(pause)
			}
		})
	}
	t.Cleanup(w.stop)
	return w
}

func (w *writer) stop() {
	w.cancel()
	w.running.Wait()
}

// write makes some changes. Errors are left aside: keys hold other types, nodes are away.
func write(ctx context.Context, c *redis.Client, r *rand.Rand, everything bool) {
	group := r.IntN(40)
	pipe := c.Pipeline()
	if r.IntN(4) == 0 {
		pipe = c.TxPipeline()
	}
	if n := r.IntN(4); n < 2 {
		pipe.Do(ctx, "SELECT", n)
	}
	for range 1 + r.IntN(20) {
		pipe.Do(ctx, change(r, group)...)
	}
	pipe.Do(ctx, "SELECT", 0)
	_, _ = pipe.Exec(ctx)
	if !everything {
		return
	}
	switch r.IntN(100) {
	case 0:
		_ = c.Do(ctx, "FLUSHALL").Err()
	case 1:
		_ = c.Do(ctx, "FLUSHDB").Err()
	case 2:
		_ = c.Do(ctx, "SWAPDB", r.IntN(2), r.IntN(4)).Err()
	}
}
