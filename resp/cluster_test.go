package resp

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/ring"

	"github.com/ringside-kv/ringside/resp/internal/placement"
)

// withBackups is spread with the next node as backup of each range.
func (r *routed) withBackups(rnd *rand.Rand) *ring.Placement {
	rows := slices.Collect(func(yield func(ring.Row) bool) {
		for row := range r.spread(rnd).Rows() {
			row := *row
			var n int
			_, _ = fmt.Sscanf(row.Primary, "n%d", &n)
			row.Epoch, row.Backups = 7, []string{fmt.Sprint("n", (n+1)%len(r.servers))}
			if !yield(row) {
				return
			}
		}
	})
	p, err := ring.NewPlacement(rows)
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

func TestGoRedisClusterClient(t *testing.T) {
	randomtest.DrawShort(t, 4)
	seed := randomtest.Seed(t)
	for _, mode := range []string{"redirect", "forward"} {
		r := routedSlots(t, 3)
		p := r.withBackups(rand.New(rand.NewPCG(seed, 0)))
		r.placeAll(p)
		primaries := make(map[string]bool)
		for row := range p.Rows() {
			primaries[row.Primary] = true
		}
		for _, srv := range r.servers {
			srv.settings.Redirect.Store(mode == "redirect")
		}
		useClusterClient(t, r, mode == "redirect", redistest.ClusterClient(&redis.ClusterOptions{Addrs: r.addrs[:1]}))
		useClusterClient(t, r, mode == "redirect", redistest.ClusterClient(&redis.ClusterOptions{Addrs: r.addrs[:1], ReadOnly: true, RouteRandomly: true, Protocol: 2}))
		// A node that was drawn no slots is a replica, and forwards.
		if n := r.forwards(); mode == "redirect" && len(primaries) == len(r.servers) && n > 0 {
			t.Errorf("%d requests were forwarded: the client took nodes with slots for replicas", n)
		}
	}
}

// A client that reads at replicas reads at nodes without slots of their own, which ask the primary.
func TestGoRedisClusterClientReadsAtReplicas(t *testing.T) {
	r := routedSlots(t, 4)
	p, err := ring.NewPlacement([]ring.Row{
		{Range: ring.Range{End: 1 << 31}, Primary: "n0", Backups: []string{"n2"}},
		{Range: ring.Range{Start: 1 << 31}, Primary: "n1", Backups: []string{"n3"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.placeAll(p)
	for _, srv := range r.servers {
		srv.settings.Redirect.Store(true)
	}
	useClusterClient(t, r, true, redistest.ClusterClient(&redis.ClusterOptions{Addrs: r.addrs[:1], ReadOnly: true}))
	if r.forwards() == 0 {
		t.Error("no read went to a replica")
	}
}

// forwards is how many requests the servers have forwarded.
func (r *routed) forwards() (n int64) {
	for _, srv := range r.servers {
		n += srv.stats.Forwarded.Load()
	}
	return n
}

func useClusterClient(t *testing.T, r *routed, redirect bool, c *redis.ClusterClient) {
	t.Helper()
	defer c.Close()
	ctx := context.Background()
	if err := c.FlushAll(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	if redirect {
		if err := c.ForEachMaster(ctx, func(ctx context.Context, c *redis.Client) error { return c.FlushAll(ctx).Err() }); err != nil {
			t.Fatal(err)
		}
	}
	pipe := c.Pipeline()
	for i := range 300 {
		pipe.Set(ctx, fmt.Sprint("key:", i), i, 0)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		if n, err := c.Get(ctx, fmt.Sprint("key:", i)).Int(); n != i || err != nil {
			t.Fatalf("key:%d is %d, %v", i, n, err)
		}
	}
	if redirect { // the client adds the masters up
		if n, err := c.DBSize(ctx).Result(); n != 300 || err != nil {
			t.Errorf("DBSIZE: %d %v", n, err)
		}
	}
	if err := c.MSet(ctx, "{a}1", "1", "{a}2", "2").Err(); err != nil {
		t.Error(err)
	}
	if slot, err := c.ClusterKeySlot(ctx, "foo").Result(); slot != 12182 || err != nil {
		t.Errorf("KEYSLOT: %d %v", slot, err)
	}
	moved := int64(0)
	for _, srv := range r.servers {
		moved += srv.stats.Redirected.Load()
	}
	if !redirect && moved > 0 {
		t.Errorf("%d requests were redirected", moved)
	}
}

func TestRueidisCluster(t *testing.T) {
	seed := randomtest.Seed(t)
	r := routedSlots(t, 3)
	r.placeAll(r.withBackups(rand.New(rand.NewPCG(seed, 0))))
	for _, srv := range r.servers {
		srv.settings.Redirect.Store(true)
	}
	for _, old := range []bool{false, true} {
		c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: r.addrs[1:2], DisableCache: true, AlwaysRESP2: old, ShuffleInit: true})
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		if n := len(c.Nodes()); n != 3 {
			t.Errorf("%d nodes", n)
		}
		for i := range 200 {
			key := fmt.Sprint("key:", i)
			if err := c.Do(ctx, c.B().Set().Key(key).Value("v").Build()).Error(); err != nil {
				t.Fatal(err)
			}
			if v, err := c.Do(ctx, c.B().Get().Key(key).Build()).ToString(); v != "v" || err != nil {
				t.Fatal(v, err)
			}
		}
		c.Close()
	}
}

// Clients of a cluster get along with a node that shows itself as all of it: native
// tokens, or a lone node.
func TestClusterClientsThroughOneNode(t *testing.T) {
	r := routedTest(t, 3)
	r.placeAll(r.spread(rand.New(rand.NewPCG(3, 4))))
	useClusterClient(t, r, false, redistest.ClusterClient(&redis.ClusterOptions{Addrs: r.addrs[2:]}))
	_, lone := serveTest(t, nil)
	for _, addr := range []string{r.addrs[0], lone} {
		o := resptest.Dial(t, addr, 2)
		slots := o.Do("CLUSTER", "SLOTS")
		_, port, _ := net.SplitHostPort(addr)
		if len(slots.Elems) != 1 || !strings.HasPrefix(slots.String(), "*(*(:0 :16383 *($127.0.0.1 :"+port+" ") {
			t.Errorf("CLUSTER SLOTS: %v", slots)
		}
		if text := o.Do("INFO", "cluster").Text; !strings.Contains(text, "cluster_enabled:0") {
			t.Error(text)
		}
		c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}, DisableCache: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Do(context.Background(), c.B().Set().Key("a").Value("1").Build()).Error(); err != nil {
			t.Error(err)
		}
		c.Close()
	}
}

// After READONLY a node with a copy answers reads, as fresh as the primary; writes, and reads
// at a node without a copy, are sent elsewhere.
func TestReadonlyReadsAtBackup(t *testing.T) {
	r := routedSlots(t, 3)
	half, err := ring.NewPlacement([]ring.Row{
		{Range: ring.Range{End: 1 << 31}, Primary: "n0", Backups: []string{"n1"}},
		{Range: ring.Range{Start: 1 << 31}, Primary: "n1", Backups: []string{"n0"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.placeAll(half)
	primary, backup, other := r.redirecting(1), r.redirecting(0), r.redirecting(2)
	moved := "-MOVED 12182 " + r.addrs[1]
	for i := range 20 { // every read sees the write before
		primary.Want("+OK", "SET", "foo", fmt.Sprint(i))
		backup.Want("+OK", "READONLY")
		backup.Want(fmt.Sprint("$", i), "GET", "foo")
		backup.Want("*($"+fmt.Sprint(i)+" _$)", "MGET", "foo", "{foo}2")
		backup.Want(moved, "SET", "foo", "x")
		backup.Want(moved, "GETDEL", "foo")
		backup.Want(fmt.Sprint("$", i), "EVAL", "return redis.call('get',KEYS[1])", "1", "foo")
		backup.Want("-"+msgCrossSlot, "MGET", "foo", "bar")
		backup.Want("+OK", "READWRITE")
		backup.Want(moved, "GET", "foo")
	}
	other.Want("+OK", "READONLY")
	other.Want(moved, "GET", "foo")
	backup.Want("+OK", "READONLY")
	backup.Want("+RESET", "RESET")
	backup.Want("+OK", "RING", "ROUTE", "redirect")
	backup.Want(moved, "GET", "foo")
}

// After READONLY a node with a copy runs scripts unless they say that they write, and they cannot. The errors are those of a
// replica of Redis 7.4.
func TestReadonlyScriptsAtBackup(t *testing.T) {
	r := routedSlots(t, 3)
	half, err := ring.NewPlacement([]ring.Row{
		{Range: ring.Range{End: 1 << 31}, Primary: "n0", Backups: []string{"n1"}},
		{Range: ring.Range{Start: 1 << 31}, Primary: "n1", Backups: []string{"n0"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.placeAll(half)
	primary, backup, other := r.redirecting(1), r.redirecting(0), r.redirecting(2)
	moved := "-MOVED 12182 " + r.addrs[1]
	primary.Want("+OK", "SET", "foo", "1")
	const library = "#!lua name=l\n" +
		"redis.register_function('w', function(k) return redis.call('get', k[1]) end)\n" +
		"redis.register_function{function_name='r', callback=function(k) return redis.call('get', k[1]) end, flags={'no-writes'}}\n" +
		"redis.register_function{function_name='lies', callback=function(k) return redis.call('set', k[1], 2) end, flags={'no-writes'}}"
	for _, addr := range r.addrs { // as all nodes of a cluster have them
		resptest.Dial(t, addr, 2).Want("$l", "FUNCTION", "LOAD", library)
	}
	const get, set = "return redis.call('get',KEYS[1])", "return redis.call('set',KEYS[1],2)"
	sha := primary.Do("SCRIPT", "LOAD", get).Text
	for _, o := range []*resptest.Conn{backup, other} {
		o.Want("+OK", "READONLY")
	}
	for _, test := range []struct{ want, words string }{
		{"$1", "EVAL|" + get}, {"$1", "EVAL_RO|" + get}, {"$1", "EVALSHA|" + sha}, {"$1", "eval|" + get},
		{"$1", "EVAL|#!lua flags=no-writes\n" + get}, {moved, "EVAL|#!lua\n" + get},
		{"-READONLY You can't write against a read only replica. script: 3e9de9560b2b6fcff9bec44cea52270f9e4d3703, on @user_script:1.", "EVAL|" + set},
		{"-ERR Write commands are not allowed from read-only scripts. script: 3e9de9560b2b6fcff9bec44cea52270f9e4d3703, on @user_script:1.", "EVAL_RO|" + set},
		{"-NOSCRIPT No matching script. Please use EVAL.", "EVALSHA|aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
		{moved, "FCALL|w"}, {"$1", "FCALL|r"}, {"-ERR Function not found", "FCALL|nosuch"},
		{"-ERR Write commands are not allowed from read-only scripts. script: lies, on @user_function:4.", "FCALL|lies"},
	} {
		words := append(strings.Split(test.words, "|"), "1", "foo")
		backup.Want(test.want, words...)
		other.Want(moved, words...)
		if test.want == moved || test.want[0] == '-' {
			continue
		}
		backup.Want("+OK", "MULTI")
		backup.Want("+QUEUED", words...)
		backup.Want("*("+test.want+")", "EXEC")
	}
	primary.Want("$1", "GET", "foo")
}

// A transaction of reads is queued and run where READONLY has single reads answered.
func TestReadonlyTransactionAtBackup(t *testing.T) {
	r := routedSlots(t, 3)
	half, err := ring.NewPlacement([]ring.Row{
		{Range: ring.Range{End: 1 << 31}, Primary: "n0", Backups: []string{"n1"}},
		{Range: ring.Range{Start: 1 << 31}, Primary: "n1", Backups: []string{"n0"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.placeAll(half)
	primary, backup, other := r.redirecting(1), r.redirecting(0), r.redirecting(2)
	moved := "-MOVED 12182 " + r.addrs[1]
	backup.Want("+OK", "READONLY")
	other.Want("+OK", "READONLY")
	for i := range 5 {
		primary.Want("+OK", "SET", "foo", fmt.Sprint(i))
		value := fmt.Sprint("$", i)

		backup.Want("+OK", "WATCH", "foo")
		backup.Want("+OK", "MULTI")
		backup.Want("+QUEUED", "GET", "foo")
		backup.Want("+QUEUED", "EVAL_RO", "return redis.call('get', KEYS[1])", "1", "foo")
		backup.Want("+QUEUED", "MGET", "foo", "{foo}2")
		backup.Want("*("+value+" "+value+" *("+value+" _$))", "EXEC")

		backup.Want("+OK", "WATCH", "foo")
		primary.Want("+OK", "SET", "foo", fmt.Sprint(i))
		backup.Want("+OK", "MULTI")
		backup.Want("+QUEUED", "GET", "foo")
		backup.Want("_*", "EXEC")

		backup.Want("+OK", "MULTI") // PING is on no keys, so EXEC runs in two parts
		backup.Want("+QUEUED", "PING")
		backup.Want("+QUEUED", "GET", "foo")
		backup.Want("*(+PONG "+value+")", "EXEC")

		backup.Want("+OK", "MULTI")
		backup.Want("+QUEUED", "GET", "foo")
		backup.Want(moved, "SET", "foo", "x")
		backup.Want("-"+msgExecAbort, "EXEC")

		other.Want("+OK", "MULTI")
		other.Want(moved, "GET", "foo")
		other.Want("-"+msgExecAbort, "EXEC")
	}
	// The copy is handed over between MULTI and EXEC.
	backup.Want("+OK", "MULTI")
	backup.Want("+QUEUED", "GET", "foo")
	whole, err := ring.NewPlacement([]ring.Row{{Primary: "n1", Epoch: 2}})
	if err != nil {
		t.Fatal(err)
	}
	r.placeAll(whole)
	backup.Want(moved, "EXEC")
}

func TestMovedTellsWhere(t *testing.T) {
	r := routedSlots(t, 2)
	half, err := ring.NewPlacement([]ring.Row{
		{Range: ring.Range{End: 1 << 31}, Primary: "n0"},
		{Range: ring.Range{Start: 1 << 31}, Primary: "n1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.placeAll(half)
	o := r.redirecting(0)
	o.Want("-MOVED 12182 "+r.addrs[1], "GET", "foo")
	o.Want("_$", "GET", "bar") // slot 5061
	o.Want("-"+msgCrossSlot, "MGET", "foo", "bar")
	o.Want("+OK", "ASKING")
	o.Want("+OK", "READONLY")
	o.Want("-MOVED 12182 "+r.addrs[1], "GET", "foo")
	o.Want("+OK", "READWRITE")
	o.Want("$redirect", "RING", "ROUTE")
	o.Want("+OK", "RING", "ROUTE", "Forward")
	o.Want("_$", "GET", "foo")
	o.Want("*(_$ _$)", "MGET", "foo", "bar")
	o.Want("+OK", "CONFIG", "SET", "route", "redirect")
	o.Want("$forward", "RING", "ROUTE")
	o.Want("+RESET", "RESET")
	o.Want("$redirect", "RING", "ROUTE")
	if !strings.HasPrefix(o.Do("CONFIG", "SET", "route", "x").Text, "ERR ") {
		t.Error("route x is accepted")
	}
	if n := r.servers[0].stats.Redirected.Load(); n != 2 {
		t.Errorf("%d redirects are counted", n)
	}

	native := routedTest(t, 2)
	native.placeAll(half)
	key := ""
	for i := 0; native.token([]byte(key)) < 1<<31; i++ {
		key = fmt.Sprint("k", i)
	}
	native.redirecting(0).Want(fmt.Sprintf("-MOVED %d %s", native.token([]byte(key)), native.addrs[1]), "GET", key)
}

func TestKeysOfASlot(t *testing.T) {
	for _, slots := range []bool{true, false} {
		r := routedTest(t, 2)
		if slots {
			r = routedSlots(t, 2)
		}
		p, err := ring.NewPlacement([]ring.Row{
			{Range: ring.Range{End: 1 << 31}, Primary: "n0"},
			{Range: ring.Range{Start: 1 << 31}, Primary: "n1"},
		})
		if err != nil {
			t.Fatal(err)
		}
		r.placeAll(p)
		a, b := resptest.Dial(t, r.addrs[0], 2), resptest.Dial(t, r.addrs[1], 2)
		for i := range 20 {
			a.Want("+OK", "SET", fmt.Sprintf("{foo}%d", i), "v") // slot 12182: n1's
			a.Want("+OK", "SET", fmt.Sprint("other", i), "v")
		}
		b.Want(":20", "CLUSTER", "COUNTKEYSINSLOT", "12182")
		if got := b.Do("CLUSTER", "GETKEYSINSLOT", "12182", "7"); len(got.Elems) != 7 || !strings.HasPrefix(got.Elems[6].Text, "{foo}") {
			t.Errorf("GETKEYSINSLOT: %v", got)
		}
		b.Want("*", "CLUSTER", "GETKEYSINSLOT", "12182", "0")
		if slots {
			a.Want(":0", "CLUSTER", "COUNTKEYSINSLOT", "12182")
		} else {
			a.Want(":20", "CLUSTER", "COUNTKEYSINSLOT", "12182")
		}
	}
}

// The formats are those of Redis: one that has all slots is compared with a lone node.
func TestClusterAgainstRedis(t *testing.T) {
	randomtest.DrawShort(t, 4)
	// hide, below, would take the number of slots, or of the last one, for a port.
	start := func(start func() string) (addr string) {
		for addr == "" || strings.HasSuffix(addr, ":16383") || strings.HasSuffix(addr, ":16384") {
			addr = start()
		}
		return addr
	}
	real := start(func() string { return redistest.StartCluster(t, "") })
	ours := start(func() string { _, addr := serveTest(t, nil); return addr })
	for proto := 2; proto <= 3; proto++ {
		a, b := resptest.Dial(t, real, proto), resptest.Dial(t, ours, proto)
		hide := func(o *resptest.Conn, addr string, v resptest.Value) string {
			id := o.Do("CLUSTER", "MYID").Text
			if len(id) != 40 {
				t.Errorf("id %q", id)
			}
			_, port, _ := net.SplitHostPort(addr)
			var n int
			_, _ = fmt.Sscan(port, &n)
			// Redis does not know its address before it has met another node.
			return strings.NewReplacer(id, "ID", port, "PORT", fmt.Sprint(n+10000), "BUS", "127.0.0.1", "").Replace(v.String())
		}
		for _, line := range []string{
			"CLUSTER SLOTS", "CLUSTER SHARDS", "CLUSTER NODES", "CLUSTER INFO", "CLUSTER KEYSLOT {a}b",
			"CLUSTER COUNTKEYSINSLOT 1", "CLUSTER COUNTKEYSINSLOT x", "CLUSTER COUNTKEYSINSLOT -1", "CLUSTER COUNTKEYSINSLOT 16384",
			"CLUSTER GETKEYSINSLOT 1 10", "CLUSTER GETKEYSINSLOT 1 -1", "CLUSTER GETKEYSINSLOT x 1", "CLUSTER GETKEYSINSLOT 1 x",
			"CLUSTER GETKEYSINSLOT 16384 1", "CLUSTER NOSUCH", "CLUSTER KEYSLOT", "READONLY", "READWRITE", "ASKING", "ASKING x",
		} {
			args := strings.Fields(line)
			want, got := hide(a, real, a.Do(args...)), hide(b, ours, b.Do(args...))
			want, got = withoutEpochs(want), withoutEpochs(got)
			if want != got {
				t.Errorf("%s, RESP%d:\n got %s\nwant %s", line, proto, got, want)
			}
		}
	}
}

// withoutEpochs takes out of CLUSTER INFO and NODES what counts on.
func withoutEpochs(s string) string {
	for _, name := range []string{"cluster_current_epoch:", "cluster_my_epoch:"} {
		if i := strings.Index(s, name); i >= 0 {
			end := strings.IndexByte(s[i:], '\r')
			s = s[:i+len(name)] + s[i+end:]
		}
	}
	s = strings.Replace(s, " 0 0 1 connected", " 0 0 0 connected", 1)
	return s
}

func TestClusterNodesInSlotMode(t *testing.T) {
	r := routedSlots(t, 3)
	p, err := ring.NewPlacement([]ring.Row{
		{Range: ring.Range{End: 1 << 31}, Primary: "n0", Backups: []string{"n2"}, Epoch: 3},
		{Range: ring.Range{Start: 1 << 31, End: 3 << 30}, Primary: "n1", Epoch: 1},
		{Range: ring.Range{Start: 3 << 30}, Primary: "n0", Backups: []string{"n2"}, Epoch: 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.links["proxy"] = Route{ID: "proxy", Addr: "10.0.0.9:6379", Proxy: true}
	r.placeAll(p)
	o := resptest.Dial(t, r.addrs[1], 2)
	var ids, at []string
	for i, addr := range r.addrs {
		ids = append(ids, placement.NodeID(fmt.Sprint("n", i)))
		var port int
		_, _ = fmt.Sscanf(addr, "127.0.0.1:%d", &port)
		at = append(at, fmt.Sprintf("%s@%d", addr, port+10000))
	}
	want := ids[0] + " " + at[0] + " master - 0 0 3 connected 0-8191 12288-16383\n" +
		ids[1] + " " + at[1] + " myself,master - 0 0 3 connected 8192-12287\n" +
		ids[2] + " " + at[2] + " slave " + ids[0] + " 0 0 3 connected\n" +
		placement.NodeID("proxy") + " 10.0.0.9:6379@16379 master,proxy - 0 0 3 connected\n"
	if got := o.Do("CLUSTER", "NODES").Text; got != want {
		t.Errorf("CLUSTER NODES:\n%swant\n%s", got, want)
	}
	o.Want("$"+ids[1], "CLUSTER", "MYID")
	slots := o.Do("CLUSTER", "SLOTS")
	if len(slots.Elems) != 3 || len(slots.Elems[0].Elems) != 4 || slots.Elems[0].Elems[3].Elems[2].Text != ids[2] {
		t.Errorf("CLUSTER SLOTS: %v", slots)
	}
	shards := o.Do("CLUSTER", "SHARDS")
	if len(shards.Elems) != 2 || len(shards.Elems[0].Field("slots").Elems) != 4 || shards.Elems[0].Field("nodes").Elems[1].Field("role").Text != "replica" {
		t.Errorf("CLUSTER SHARDS: %v", shards)
	}
	if text := o.Do("INFO", "cluster", "server").Text; !strings.Contains(text, "cluster_enabled:1") || !strings.Contains(text, "redis_mode:cluster") {
		t.Error(text)
	}
	o.Want("$cluster-enabled", "ECHO", "cluster-enabled")
	if got := o.Do("CONFIG", "GET", "cluster-enabled").Elems[1].Text; got != "yes" {
		t.Errorf("cluster-enabled %s", got)
	}
}

// A node with slots of its own, or with copies of several nodes' slots, is no replica in any
// answer of CLUSTER: clients would send reads there without READONLY.
func TestNodeWithSlotsIsListedAsReplicaOfNone(t *testing.T) {
	r := routedSlots(t, 4)
	p, err := ring.NewPlacement([]ring.Row{
		{Range: ring.Range{End: 1 << 31}, Primary: "n0", Backups: []string{"n1", "n2"}},
		{Range: ring.Range{Start: 1 << 31, End: 3 << 30}, Primary: "n1", Backups: []string{"n0", "n2"}},
		{Range: ring.Range{Start: 3 << 30}, Primary: "n1", Backups: []string{"n3", "n0"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.placeAll(p)
	o := resptest.Dial(t, r.addrs[0], 2)
	// One run of slots has a replica: n3, which has copies of n1's slots alone.
	for i, copies := range [][]string{{"n0"}, {"n1"}, {"n1", "n3"}} {
		run := o.Do("CLUSTER", "SLOTS").Elems[i].Elems[2:]
		var got []string
		for _, node := range run {
			got = append(got, node.Elems[2].Text)
		}
		var want []string
		for _, id := range copies {
			want = append(want, placement.NodeID(id))
		}
		if !slices.Equal(got, want) {
			t.Errorf("run %d of CLUSTER SLOTS: %v, want %v", i, got, want)
		}
	}
	for _, shard := range o.Do("CLUSTER", "SHARDS").Elems {
		for i, node := range shard.Field("nodes").Elems {
			if replica := node.Field("role").Text == "replica"; replica != (i > 0) || replica && node.Field("id").Text != placement.NodeID("n3") {
				t.Errorf("node %d of a shard: %v", i, node)
			}
		}
	}
	if got := strings.Count(o.Do("CLUSTER", "NODES").Text, "slave "+placement.NodeID("n1")); got != 1 {
		t.Errorf("CLUSTER NODES names %d replicas of n1, want 1", got)
	}
}

func TestRedisClusterTools(t *testing.T) {
	randomtest.DrawShort(t, 4)
	r := routedSlots(t, 3)
	r.links["proxy"] = Route{ID: "proxy", Addr: "127.0.0.1:1", Proxy: true} // which none of them takes for a node with keys
	r.placeAll(r.withBackups(rand.New(rand.NewPCG(5, 6))))
	for _, srv := range r.servers {
		srv.settings.Redirect.Store(true)
	}
	_, port, _ := net.SplitHostPort(r.addrs[0])
	for _, test := range []struct{ tool, args, want string }{
		{"redis-cli", "-c set foo bar", "OK"},
		{"redis-cli", "-c get foo", "bar"},
		{"redis-cli", "-c get {foo}1", ""},
		{"redis-benchmark", "--cluster -n 600 -c 4 -P 4 -t set,get", "Cluster has"},
		{"redis-benchmark", "--cluster -n 600 -c 4 -r 1000 -q -t incr", "INCR"},
	} {
		path, err := exec.LookPath(test.tool)
		if err != nil {
			t.Skip(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), resptest.Patience)
		defer cancel()
		out, err := exec.CommandContext(ctx, path, append([]string{"-p", port}, strings.Fields(test.args)...)...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), test.want) || strings.Contains(string(out), "MOVED") {
			t.Errorf("%s %s: %v\n%s", test.tool, test.args, err, out)
		}
	}
}
