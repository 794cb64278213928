package node

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/replica/step"
	"github.com/ringside-kv/ringside/replica/table/zones"
	"github.com/ringside-kv/ringside/resp/node/nodetest"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/memdisk"
)

// A virtualCluster is whole nodes over a network in memory, with data in memory, in
// virtual time: Serf, Raft, the bus, the engine, Pebble and the server are the real ones.
type virtualCluster struct {
	t     *testing.T
	net   *fakenet.Net
	rnd   *rand.Rand
	base  func(*Config)
	nodes map[string]*virtualNode
	began time.Time
	doom  atomic.Pointer[doom]
	// scripts are those that wait, where a test has set this.
	scripts *waitingScripts
}

type virtualNode struct {
	*Node       // nil while it does not run
	id, ip, dir string
	as          string // its name, if that is not id
	fs          *memdisk.FS
	leaves      bool // it is to hand over all that it has, and goes on until then
	log         lastLines
}

// lastLines keeps the end of a log.
type lastLines struct {
	mu    sync.Mutex
	lines []string
}

func (l *lastLines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, string(b))
	if len(l.lines) > 40 {
		l.lines = l.lines[1:]
	}
	return len(b), nil
}

func (l *lastLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "")
}

func init() { redis.SetLogger(noLog{}) }

// noLog keeps the clients' view of nodes that are away out of the tests' output.
type noLog struct{}

func (noLog) Printf(context.Context, string, ...any) {}

func newVirtualCluster(t *testing.T, seed uint64, delay time.Duration, loss float64, base func(*Config)) *virtualCluster {
	return &virtualCluster{
		t: t, net: fakenet.New(seed, delay, loss), rnd: rand.New(rand.NewPCG(seed, 7)), base: base,
		nodes: map[string]*virtualNode{}, began: time.Now(),
	}
}

// say logs what happens, with the time since the beginning.
func (c *virtualCluster) say(format string, args ...any) {
	c.t.Helper()
	c.t.Logf("%7.3fs %s", time.Since(c.began).Seconds(), fmt.Sprintf(format, args...))
}

// start opens a node that is new, or does not run.
func (c *virtualCluster) start(id string, join ...string) *virtualNode {
	c.t.Helper()
	v, err := c.tryStart(id, join...)
	if err != nil {
		c.t.Fatalf("%s: %v", id, err)
	}
	return v
}

// tryStart is start for a node that may be refused.
func (c *virtualCluster) tryStart(id string, join ...string) (*virtualNode, error) {
	c.t.Helper()
	v := c.nodes[id]
	if v == nil {
		v = &virtualNode{id: id, ip: fmt.Sprintf("10.0.0.%d", len(c.nodes)+1), dir: c.t.TempDir(), fs: memdisk.New()}
		c.nodes[id] = v
	}
	cfg := DefaultConfig()
	cfg.ID, cfg.Dir, cfg.HTTPAddr, cfg.ProtectedMode = cmp.Or(v.as, id), v.dir, HTTPOff, false
	cfg.Addr, cfg.BusAddr, cfg.GossipAddr = v.ip+":6379", v.ip+":16379", v.ip+":7379"
	for _, other := range join {
		cfg.Join = append(cfg.Join, c.nodes[other].ip+":7379")
	}
	cfg.Cache, cfg.BlockCache, cfg.MinFreeDisk = 1<<20, 1<<20, 0
	cfg.env.Network = c.net.Host(v.ip)
	cfg.env.Now = func() time.Duration { return time.Since(c.began) }
	cfg.env.Steps = func(s step.Step) { c.doom.Load().reached(c, v, s) }
	cfg.env.Store = func(s *store.Config) { s.FS, s.Dir = v.fs, "data" }
	cfg.Logger = slog.New(slog.NewTextHandler(&v.log, nil))
	if os.Getenv("RINGSIDE_TEST_LOG") != "" {
		cfg.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil)).With("at", id)
	}
	c.base(&cfg)
	if isBrief() {
		fewerRanges(&cfg)
	}
	n, err := Open(cfg)
	if err != nil {
		return v, err
	}
	v.Node = n
	return v, nil
}

// stop closes a node as SIGTERM does.
func (c *virtualCluster) stop(id string) {
	c.t.Helper()
	v := c.nodes[id]
	if err := v.Close(); err != nil {
		c.t.Errorf("%s: %v", id, err)
	}
	v.Node = nil
}

// crash ends a node as kill -9 does: its files stay as they are at this moment.
func (c *virtualCluster) crash(id string) {
	c.t.Helper()
	v := c.nodes[id]
	c.net.Unplug(v.ip, true) // nothing that it still does is seen by anybody
	c.net.Crash(v.ip)
	synctest.Wait() // nobody is writing a file of the table
	dir := c.t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(v.dir)); err != nil {
		c.t.Fatal(err)
	}
	c.buried(v, dir, v.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: c.rnd}))
}

// buried ends what is left of a node of which nobody sees anything any more. What it starts
// from again are files of an earlier moment.
func (c *virtualCluster) buried(v *virtualNode, dir string, fs *memdisk.FS) {
	_ = v.Close()
	v.Node, v.dir, v.fs = nil, dir, fs
	c.net.Unplug(v.ip, false)
}

// running are the ids of the nodes that run and stay, in order.
func (c *virtualCluster) running() []string {
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(c.nodes)) {
		if v := c.nodes[id]; v.Node != nil && !v.leaves {
			ids = append(ids, id)
		}
	}
	return ids
}

// client talks to one node, from a host of its own.
func (c *virtualCluster) client(id string) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: c.nodes[id].ip + ":6379", MaxRetries: -1, PoolSize: 2, ReadTimeout: time.Minute, ContextTimeoutEnabled: true,
		// It stays at its node.
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		Dialer: func(ctx context.Context, _, addr string) (net.Conn, error) {
			return c.net.Host("10.0.1.1").Dial(ctx, addr)
		},
	})
}

// settled waits until all running nodes agree that they, and nobody else, serve, and
// that nothing is left to move.
func (c *virtualCluster) settled() {
	c.t.Helper()
	ids := c.running()
	why := ""
	for end := time.Now().Add(10 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if why = c.unsettled(ids); why == "" {
			return
		}
		if time.Now().After(end) {
			c.tell()
			c.t.Errorf("%v do not settle: %s", ids, why)
			return
		}
	}
}

// tell says what every node that runs makes of the cluster.
func (c *virtualCluster) tell() {
	c.t.Helper()
	for _, id := range slices.Sorted(maps.Keys(c.nodes)) {
		n := c.nodes[id]
		if n.Node == nil {
			continue
		}
		cl, st := n.cluster, n.cluster.table.State()
		leader, self := cl.table.Leader()
		c.say("%s: leader %q (itself: %v), members %v at %d, nodes %v, %+v, %v;\nhandoffs %+v;\n%+v;\n%+v; its log:\n%s", id, leader, self,
			st.MembersOf(), st.Index(), cl.members.Nodes(), cl.entry.chosenMembership(), n.Err(), st.Handoffs(), cl.engine.Progress(), cl.engine.Feeds(), &n.log)
	}
}

func (c *virtualCluster) unsettled(ids []string) string {
	var members []ring.Member
	for _, id := range ids {
		members = append(members, ring.Member{ID: id, Weight: 1})
	}
	for _, id := range ids {
		if err := c.nodes[id].Err(); err != nil {
			return fmt.Sprintf("%s has ended: %v", id, err)
		}
		cl := c.nodes[id].cluster
		st := cl.table.State()
		if !st.Founded() {
			return id + " knows of no cluster"
		}
		for row := range st.Rows() {
			if n, _ := st.Node(row.Primary); len(row.Learners) > 0 || row.Incarnation != n.Incarnation {
				return fmt.Sprintf("%s sees %+v", id, row)
			}
		}
		if len(st.Handoffs()) > 0 || st.Cluster().Unfinished {
			return fmt.Sprintf("%s sees %d handoffs, a switch: %v", id, len(st.Handoffs()), st.Cluster().Unfinished)
		}
		zoned := slices.Clone(members)
		for i := range zoned {
			zoned[i] = zones.Member(st.Values(), zoned[i])
		}
		desired, err := cl.strategy.Desired(inputOf(st, zoned))
		if err != nil {
			return err.Error()
		}
		if plan := ring.NewPlan(st.Placement(), desired); len(plan.Handoffs)+len(plan.Promotions)+len(plan.Drops) > 0 {
			return fmt.Sprintf("%s sees a placement that is not the desired one", id)
		}
	}
	return ""
}

// load lets workers write through nodes, one worker each.
func (c *virtualCluster) load(l *nodetest.AppLoad, seed uint64, tolerant bool, ids ...string) (closeClients func()) {
	var clients []*redis.Client
	for i, id := range ids {
		client := c.client(id)
		clients = append(clients, client)
		slow := func(ctx context.Context, args ...string) (string, error) {
			time.Sleep(20 * time.Millisecond) // virtual; a client that thinks leaves time for more events
			return nodetest.GoRedis(client)(ctx, args...)
		}
		l.Start(nodetest.NewAppWorker(fmt.Sprintf("%d-%s", i, id), seed), slow, tolerant)
	}
	return func() {
		for _, client := range clients {
			_ = client.Close()
		}
	}
}

// check compares all that the workers know with what every node answers.
func (c *virtualCluster) check(l *nodetest.AppLoad) {
	c.t.Helper()
	least, greatest := 0, 0
	for _, w := range l.Workers {
		if w.Wrong != nil {
			c.t.Errorf("client %s: %v", w.Name, w.Wrong)
		}
		if w.Done == 0 {
			c.t.Errorf("client %s got nothing done", w.Name)
		}
		a, b := w.Keys()
		least, greatest = least+a, greatest+b
		c.say("client %s: %d commands, %d failed, the slowest took %v", w.Name, w.Done, w.Failed, w.Slowest)
	}
	for _, id := range c.running() {
		client := c.client(id)
		for _, w := range l.Workers {
			if err := w.Check(nodetest.GoRedis(client)); err != nil {
				c.t.Errorf("through %s: %v", id, err)
			}
		}
		size, err := client.DBSize(context.Background()).Result()
		if err != nil || int(size) < least || int(size) > greatest {
			c.t.Errorf("through %s: %d keys, %v, want %d to %d", id, size, err, least, greatest)
		}
		_ = client.Close()
	}
}

func (c *virtualCluster) close() {
	for _, id := range c.running() {
		c.stop(id)
	}
	time.Sleep(time.Minute) // virtual: memberlist's last probes end
}

// seeds are for runs in virtual time: for a quarter of runs by default, and for long times runs with
// RINGSIDE_LONG, as in go tool task test:virtual; or that of RINGSIDE_TEST_SEED. Each run of
// the tests draws others.
//
// Under -short, which is for the race detector, each test runs with a probability of a tenth,
// with one seed: whole nodes run the same goroutines in every test, and a test costs five times
// as much there, on one processor. go tool task test:race:all runs them all.
func seeds(t *testing.T, runs, long int) []uint64 {
	t.Helper()
	var one uint64
	if text := os.Getenv("RINGSIDE_TEST_SEED"); text != "" {
		if _, err := fmt.Sscan(text, &one); err != nil {
			t.Fatal(err)
		}
		return []uint64{one}
	}
	switch {
	case os.Getenv("RINGSIDE_LONG") != "":
		runs *= long
	case testing.Short():
		if rand.IntN(10) > 0 {
			t.Skip("not drawn this time: a tenth of these tests run under -short")
		}
		runs = 1
	default:
		runs = (runs + 3) / 4
	}
	list := make([]uint64, runs)
	for i := range list {
		list[i] = rand.Uint64()
	}
	return list
}

// isBrief tells whether a run in virtual time is to be small, which it is but with
// RINGSIDE_LONG, as in go tool task test:virtual. Small runs with seeds of their own in each
// run of the tests find what a large one does.
func isBrief() bool { return os.Getenv("RINGSIDE_LONG") == "" }

// fewerRanges gives a cluster a quarter of the ranges that it has by default. Every range goes
// through the same steps, and most of what a virtual cluster costs grows with their number, or
// with its square.
func fewerRanges(cfg *Config) {
	switch {
	case cmp.Or(cfg.Strategy, StrategyBuckets) == StrategyBuckets && cfg.Mask == "":
		cfg.Mask = "003F"
	case cfg.Strategy == StrategyKetama && cfg.Points == 0:
		cfg.Points = 40
	}
}

// turns is how often a run in virtual time does the same: at most twice in a small one.
func turns(n int) int {
	if isBrief() {
		n = min(n, 2)
	}
	return n
}

// happenings is how much happens in a run, drawn at random.
func happenings(rnd *rand.Rand) int {
	if isBrief() {
		return 3 + rnd.IntN(4)
	}
	return 6 + rnd.IntN(10)
}

// Nodes come, go, crash, stop and get cut off, at any moment and several at once; what
// was acknowledged is there in the end, and no answer was ever wrong.
func TestNothingIsLostUnderRandomFaults(t *testing.T) {
	for _, seed := range seeds(t, 4, 50) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			fakenet.Bubble(t, func(t *testing.T) { whateverHappens(t, seed) })
		})
		if t.Failed() {
			t.Fatalf("set RINGSIDE_TEST_SEED=%d to see it again", seed)
		}
	}
}

// balanceHot has many clients read one key through a node for some seconds, and then has the load
// balanced. Faults may prevent both.
func (c *virtualCluster) balanceHot(via, mode string) error {
	ctx, cancel := context.WithTimeout(c.t.Context(), 10*time.Second)
	defer cancel()
	client := c.client(via)
	defer client.Close()
	for range 20 {
		pipe := client.Pipeline()
		for i := range 60 {
			pipe.Get(ctx, fmt.Sprint("{hot}", i%3)) // of one token, as far as load goes one range
			pipe.Get(ctx, fmt.Sprint("warm", i%12))
		}
		_, _ = pipe.Exec(ctx)
		time.Sleep(100 * time.Millisecond)
	}
	return client.Do(ctx, "RING", "BALANCE", "LOAD", mode).Err()
}

func whateverHappens(t *testing.T, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 11))
	placing := []string{StrategyBuckets, StrategyKetama, StrategyVnode}[rnd.IntN(3)]
	loss := 0.1 * rnd.Float64()
	c := newVirtualCluster(t, seed, time.Duration(1+rnd.IntN(20))*time.Millisecond, loss, func(cfg *Config) { cfg.Strategy = placing })
	c.say("%s, %.0f %% of packets get lost", placing, 100*loss)
	c.start("a")
	c.start("b", "a")
	c.settled()
	var l nodetest.AppLoad
	closeClients := c.load(&l, seed, true, "a", "b")
	for range happenings(rnd) {
		time.Sleep(time.Duration(rnd.IntN(4000)) * time.Millisecond)
		up := c.running()
		what, victim := rnd.IntN(9), ""
		if len(up) == 0 {
			what = 8
		} else {
			victim = up[rnd.IntN(len(up))]
		}
		switch what {
		case 0, 1:
			if id := string(rune('a' + len(c.nodes))); len(c.nodes) < 6 {
				c.say("%s joins", id)
				c.start(id, "a", "b")
			}
		case 2:
			c.say("%s crashes", victim)
			c.crash(victim)
		case 3:
			c.say("%s stops", victim)
			c.stop(victim)
		case 4:
			cut := time.Duration(rnd.IntN(30)) * time.Second
			c.say("%s is cut off for %v", victim, cut)
			ip := c.nodes[victim].ip
			c.net.Move(1+rnd.IntN(2), ip)
			time.AfterFunc(cut, func() { c.net.Move(0, ip) })
		case 5:
			if victim == "a" || victim == "b" || len(up) < 3 {
				continue
			}
			c.say("%s leaves", victim)
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rnd.IntN(60))*time.Second)
			err := c.nodes[victim].Leave(ctx)
			cancel()
			c.say("%s has left: %v", victim, err)
			if c.nodes[victim].leaves = true; err == nil {
				c.stop(victim)
			}
		case 6:
			to := []string{StrategyBuckets, StrategyKetama, StrategyVnode}[rnd.IntN(3)]
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			client := c.client(victim)
			err := client.Do(ctx, "RING", "STRATEGY", to).Err()
			cancel()
			_ = client.Close()
			c.say("through %s a switch to %s: %v", victim, to, err)
		case 7:
			mode := []string{"ON", "ONCE", "ONCE", "OFF"}[rnd.IntN(4)]
			c.say("through %s the load is balanced %s: %v", victim, mode, c.balanceHot(victim, mode))
		default:
			for _, id := range slices.Sorted(maps.Keys(c.nodes)) {
				if v := c.nodes[id]; v.Node == nil && !v.leaves {
					c.say("%s starts again", id)
					c.start(id, "a", "b")
				}
			}
		}
	}
	time.Sleep(31 * time.Second) // every cut ends
	for _, id := range slices.Sorted(maps.Keys(c.nodes)) {
		if v := c.nodes[id]; v.Node == nil && !v.leaves {
			c.start(id, "a", "b")
		}
	}
	c.say("all are back")
	for _, id := range slices.Sorted(maps.Keys(c.nodes)) {
		if v := c.nodes[id]; v.Node != nil && v.leaves {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			err := v.Leave(ctx)
			cancel()
			if err != nil {
				c.tell()
				t.Fatalf("%s does not leave: %v", id, err)
			}
			c.stop(id)
		}
	}
	c.settled()
	c.say("settled")
	time.Sleep(time.Second)
	l.Stop()
	closeClients()
	c.check(&l)
	c.close()
}
