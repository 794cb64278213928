package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	"github.com/ringside-kv/ringside/internal/freeport"
	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/resp/node/nodetest"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// clusterPatience is for what takes a second or two when the machine does nothing else.
const clusterPatience = 2 * time.Minute

// A processCluster is a cluster of real processes, each with ports and a directory that
// it keeps when it is killed and started again.
type processCluster struct {
	t        *testing.T
	strategy string
	binary   string
	args     []string
	nodes    []*processNode
	seeds    []string // gossip addresses of nodes that are to stay
}

type processNode struct {
	*serverProcess
	id    string
	args  []string
	alive bool
}

func newProcessCluster(t *testing.T, strategy string, args ...string) *processCluster {
	return &processCluster{t: t, strategy: strategy, binary: os.Args[0], args: append([]string{"--strategy", strategy, "--cache", "16mb", "--block-cache", "16mb"}, args...)}
}

// start adds a node that joins those that are there.
func (c *processCluster) start(id string, args ...string) *processNode {
	c.t.Helper()
	ports := freePorts(c.t, 3)
	n := &processNode{id: id, args: slices.Concat(c.args, []string{
		"--id", id, "--dir", filepath.Join(c.t.TempDir(), id),
		"--addr", ports[0], "--bus-addr", ports[1], "--gossip-addr", ports[2],
	}, args)}
	if len(c.seeds) > 0 {
		n.args = append(n.args, "--join", strings.Join(c.seeds, ","))
	}
	c.seeds = append(c.seeds, ports[2])
	c.nodes = append(c.nodes, n)
	c.restart(n)
	return n
}

func (c *processCluster) restart(n *processNode) {
	c.t.Helper()
	n.serverProcess = startBinary(c.t, c.binary, n.args...)
	n.alive = true
}

// kill ends a node's process without a chance to do anything.
func (n *processNode) kill() {
	n.stop(syscall.SIGKILL)
	n.alive = false
}

// freePorts are addresses on which nothing listens.
func freePorts(t *testing.T, n int) []string {
	t.Helper()
	addrs, release, err := freeport.Loopback(n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return addrs
}

// settled waits until the living nodes agree that exactly ids serve, and that nothing is
// left to move.
func (c *processCluster) settled(ids ...string) {
	c.t.Helper()
	cfg := strategy.DefaultConfig()
	cfg.Name = c.strategy
	if slices.Contains(c.args, "slot") {
		cfg.Hash = strategy.Slot
	}
	placing, err := cfg.New()
	if err != nil {
		c.t.Fatal(err)
	}
	var members []ring.Member
	for _, id := range ids {
		members = append(members, ring.Member{ID: id, Weight: 1})
	}
	slices.Sort(ids)
	last := ""
	c.await(fmt.Sprintf("%v serve, and nothing moves", ids), func() bool {
		for _, n := range c.living() {
			p, err := n.placement()
			if err != nil {
				last = n.id + ": " + err.Error()
				return false
			}
			owners := map[string]int{}
			for row := range p.Rows() {
				owners[row.Primary]++
				if len(row.Learners) > 0 {
					last = fmt.Sprintf("%s sees learners in %v", n.id, row.Range)
					return false
				}
			}
			if last = fmt.Sprintf("%s sees %v", n.id, owners); !slices.Equal(slices.Sorted(maps.Keys(owners)), ids) {
				return false
			}
			desired, err := placing.Desired(ring.Input{Members: members, Backups: 1, Present: p})
			if err != nil {
				c.t.Fatal(err)
			}
			if plan := ring.NewPlan(p, desired); len(plan.Handoffs)+len(plan.Promotions)+len(plan.Drops) > 0 {
				last += ", which is not as desired"
				return false
			}
		}
		return true
	}, &last)
}

func (c *processCluster) await(what string, holds func() bool, last *string) {
	c.t.Helper()
	c.awaitFor(clusterPatience, what, holds, last)
}

// awaitFor is await for what may take longer.
func (c *processCluster) awaitFor(patience time.Duration, what string, holds func() bool, last *string) {
	c.t.Helper()
	// To ask every node for its placement, and to compute the desired one, takes many
	// milliseconds of a processor.
	for end := time.Now().Add(patience); !holds(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			for _, n := range c.living() {
				lines := strings.Split(n.log.String(), "\n")
				c.t.Logf("%s:\n%s", n.id, strings.Join(lines[max(0, len(lines)-30):], "\n"))
			}
			c.t.Fatalf("in vain: %s; at last: %s", what, *last)
		}
	}
}

func (c *processCluster) living() []*processNode {
	return slices.DeleteFunc(slices.Clone(c.nodes), func(n *processNode) bool { return !n.alive })
}

// client talks to this node alone, which forwards.
func (n *processNode) client() *redis.Client {
	return redistest.Client(&redis.Options{
		Addr: n.addr, MaxRetries: -1, ReadTimeout: 20 * time.Second, ContextTimeoutEnabled: true, PoolSize: 4,
		OnConnect: func(ctx context.Context, conn *redis.Conn) error {
			return conn.Do(ctx, "RING", "ROUTE", "forward").Err()
		},
	})
}

// placement is what the node takes for the cluster's.
func (n *processNode) placement() (*ring.Placement, error) {
	client := n.client()
	defer client.Close()
	b, err := client.Do(context.Background(), "RING", "PLACEMENT").Text()
	if err != nil {
		return nil, err
	}
	p := new(ring.Placement)
	return p, p.UnmarshalBinary([]byte(b))
}

// fill writes keys of a size in bytes, through one node.
func (c *processCluster) fill(n *processNode, keys, size int) {
	c.t.Helper()
	client := n.client()
	defer client.Close()
	ctx := context.Background()
	for from := 0; from < keys; from += 500 {
		pipe := client.Pipeline()
		for i := from; i < min(from+500, keys); i++ {
			pipe.Set(ctx, fill(i), fillValue(i, size), 0)
		}
		if _, err := pipe.Exec(ctx); err != nil {
			c.t.Fatal(err)
		}
	}
}

func fill(i int) string { return fmt.Sprint("fill:", i) }

func fillValue(i, size int) string {
	return strings.Repeat(fmt.Sprintf("%d.", i), size/(len(fmt.Sprint(i))+1)+1)[:size]
}

// checkFill reads all that fill has written, through one node.
func (c *processCluster) checkFill(n *processNode, keys, size int) {
	c.t.Helper()
	client := n.client()
	defer client.Close()
	ctx := context.Background()
	wrong := 0
	for from := 0; from < keys && wrong < 10; from += 500 {
		pipe := client.Pipeline()
		var gets []*redis.StringCmd
		for i := from; i < min(from+500, keys); i++ {
			gets = append(gets, pipe.Get(ctx, fill(i)))
		}
		_, _ = pipe.Exec(ctx)
		for i, get := range gets {
			if got, err := get.Result(); err != nil || got != fillValue(from+i, size) {
				wrong++
				c.t.Errorf("%s through %s has %d bytes %.40q, %v", fill(from+i), n.id, len(got), got, err)
			}
		}
	}
}

// checkCounts compares what DBSIZE says with what a scan finds, through every node.
func (c *processCluster) checkCounts(want int) {
	c.t.Helper()
	ctx := context.Background()
	for _, n := range c.living() {
		client := n.client()
		size := client.DBSize(ctx).Val()
		seen := map[string]bool{}
		iter := client.Scan(ctx, 0, "", 1000).Iterator()
		for iter.Next(ctx) {
			seen[iter.Val()] = true
		}
		if err := iter.Err(); err != nil {
			c.t.Errorf("SCAN through %s: %v", n.id, err)
		}
		if int64(len(seen)) != size || want >= 0 && len(seen) != want {
			c.t.Errorf("through %s: DBSIZE %d, SCAN %d, want %d", n.id, size, len(seen), want)
		}
		_ = client.Close()
	}
}

// check compares all that the workers know with what every node answers.
func (c *processCluster) check(l *nodetest.AppLoad) {
	c.t.Helper()
	for _, n := range c.living() {
		client := n.client()
		for _, w := range l.Workers {
			if err := w.Check(nodetest.GoRedis(client)); err != nil {
				c.t.Errorf("through %s: %v", n.id, err)
			}
		}
		_ = client.Close()
	}
}

// stopLoad ends a load and reports what went wrong.
func stopLoad(t *testing.T, l *nodetest.AppLoad) {
	t.Helper()
	l.Stop()
	for _, w := range l.Workers {
		t.Logf("client %s: %d commands, %d failed, the slowest took %v", w.Name, w.Done, w.Failed, w.Slowest)
		if w.Wrong != nil {
			t.Errorf("client %s: %v", w.Name, w.Wrong)
		}
		if w.Done == 0 {
			t.Errorf("client %s got nothing done", w.Name)
		}
	}
}

// rueidisDoer is the other library that applications use.
func rueidisDoer(client rueidis.Client) nodetest.Doer {
	return func(ctx context.Context, args ...string) (string, error) {
		keys := 1
		if args[0] == "MGET" {
			keys = len(args) - 1
		}
		command := client.B().Arbitrary(args[0]).Keys(args[1 : 1+keys]...).Args(args[1+keys:]...).Build()
		reply, err := client.Do(ctx, command).ToAny()
		if rueidis.IsRedisNil(err) {
			return "", nil
		}
		return nodetest.Flat(reply), err
	}
}

// Three nodes join one, and two leave, while every kind of client goes on: not one command
// fails, and every answer is right.
func TestClusterGrowsAndShrinksUnderEveryClient(t *testing.T) {
	randomtest.Draw(t, 4)
	if testing.Short() {
		t.Skip("takes many seconds")
	}
	type way struct {
		strategy string
		args     []string
		slots    bool
	}
	ways := map[string]way{"buckets, forward": {strategy: "buckets"}}
	if os.Getenv("RINGSIDE_LONG") != "" {
		ways["ketama, forward"] = way{strategy: "ketama"}
		ways["vnode, forward"] = way{strategy: "vnode"}
		for _, s := range []string{"buckets", "ketama", "vnode"} {
			ways[s+", slots, redirect"] = way{s, []string{"--hash", "slot", "--route", "redirect"}, true}
		}
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			c := newProcessCluster(t, way.strategy, way.args...)
			a := c.start("a")
			c.settled("a")
			const size = 1000
			keys := filled()
			c.fill(a, keys, size)

			var load nodetest.AppLoad
			plain := a.client()
			defer plain.Close()
			load.Start(restingWorker("plain", seed), nodetest.GoRedis(plain), false)
			clusterClient := redistest.ClusterClient(&redis.ClusterOptions{Addrs: []string{a.addr}, ReadTimeout: 20 * time.Second})
			defer clusterClient.Close()
			load.Start(restingWorker("ClusterClient", seed), nodetest.GoRedis(clusterClient), false)
			rue, err := rueidis.NewClient(rueidis.ClientOption{
				InitAddress: []string{a.addr}, DisableCache: true, ConnWriteTimeout: 20 * time.Second,
				ShuffleInit: false,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer rue.Close()
			load.Start(restingWorker("rueidis", seed), rueidisDoer(rue), false)

			all := []string{"a"}
			for _, id := range []string{"b", "c", "d"} {
				n := c.start(id)
				all = append(all, id)
				c.settled(all...)
				if id == "c" {
					another := n.client()
					defer another.Close()
					load.Start(restingWorker("plain at c", seed), nodetest.GoRedis(another), false)
				}
			}
			for _, id := range []string{"b", "d"} {
				c.leave(id)
				all = slices.DeleteFunc(all, func(s string) bool { return s == id })
				c.settled(all...)
			}
			stopLoad(t, &load)
			c.check(&load)
			for _, n := range c.living() {
				c.checkFill(n, keys, size)
			}
		})
	}
}

// onlyAtLength skips a test of processes whose like in virtual time is in resp/node and runs by
// default. Go tool task test:cluster sets RINGSIDE_LONG.
func onlyAtLength(t *testing.T) {
	t.Helper()
	if os.Getenv("RINGSIDE_LONG") == "" {
		t.Skip("go tool task test:cluster")
	}
}

// restingWorker is a worker that rests for ten milliseconds on average after each command, so
// that clients leave the processors to the nodes and to other tests. With RINGSIDE_LONG, as in
// go tool task test:cluster, it does not rest.
func restingWorker(name string, seed uint64) *nodetest.AppWorker {
	w := nodetest.NewAppWorker(name, seed)
	if os.Getenv("RINGSIDE_LONG") == "" {
		w.Rest = 10 * time.Millisecond
	}
	return w
}

// filled is how many keys a node holds before its cluster changes.
func filled() int {
	if os.Getenv("RINGSIDE_LONG") != "" {
		return 20_000
	}
	return 3_000
}

// leave has a node hand over what it has; its process then ends by itself.
func (c *processCluster) leave(id string) {
	c.t.Helper()
	n := c.nodes[slices.IndexFunc(c.nodes, func(n *processNode) bool { return n.id == id })]
	client := n.client()
	defer client.Close()
	if err := client.Do(context.Background(), "RING", "LEAVE").Err(); err != nil {
		c.t.Fatalf("%s: RING LEAVE: %v", id, err)
	}
	select {
	case <-n.read:
	case <-time.After(clusterPatience):
		c.t.Fatalf("%s does not end:\n%s", id, &n.log)
	}
	_ = n.cmd.Wait()
	n.alive = false
	if code := n.cmd.ProcessState.ExitCode(); code != 0 {
		c.t.Errorf("%s: exit code %d:\n%s", id, code, &n.log)
	}
}

// Whoever is killed while ranges change hands, and starts again: what was acknowledged is
// there, once.
func TestClusterSurvivesKillsWhileRangesChangeHands(t *testing.T) {
	randomtest.Draw(t, 4)
	t.Parallel() // it waits most of the time
	if testing.Short() {
		t.Skip("takes many seconds")
	}
	rounds, keys := 1, 8_000
	// a founds and so leads at first; a and b send to c.
	whose := map[string]string{"leader": "a", "source": "b", "target": "c", "all": "abc"}
	if os.Getenv("RINGSIDE_LONG") != "" {
		rounds, keys = 8, 30_000
	} else { // one of them in each run: three processes each; test:cluster takes all
		drawn := []string{"leader", "source", "target", "all"}[rand.IntN(4)]
		whose = map[string]string{drawn: whose[drawn]}
	}
	for who, victims := range whose {
		t.Run(who, func(t *testing.T) {
			t.Parallel() // it waits most of the time
			for round := range rounds {
				seed := rand.Uint64()
				t.Logf("seed %d", seed)
				rnd := rand.New(rand.NewPCG(seed, 1))
				c := newProcessCluster(t, []string{"buckets", "ketama", "vnode"}[rnd.IntN(3)])
				a, b := c.start("a"), c.start("b")
				c.settled("a", "b")
				const size = 1000
				c.fill(a, keys, size)
				var load nodetest.AppLoad
				for _, n := range []*processNode{a, b, c.start("c")} {
					client := n.client()
					defer client.Close()
					load.Start(restingWorker("of "+n.id, seed), nodetest.GoRedis(client), true)
				}
				time.Sleep(time.Duration(rnd.IntN(2500)) * time.Millisecond) // any moment will do
				for _, n := range c.nodes {
					if strings.Contains(victims, n.id) {
						n.kill()
					}
				}
				time.Sleep(time.Duration(rnd.IntN(1500)) * time.Millisecond) // and any while
				for _, n := range c.nodes {
					if !n.alive {
						c.restart(n)
					}
				}
				c.settled("a", "b", "c")
				stopLoad(t, &load)
				c.check(&load)
				for _, n := range c.nodes {
					c.checkFill(n, keys, size)
				}
				c.checkCounts(-1)
				for _, n := range c.nodes {
					n.stop(syscall.SIGTERM)
				}
				if t.Failed() {
					t.Fatalf("in round %d, with %s", round, c.strategy)
				}
			}
		})
	}
}
