package resp_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/freeport"
	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/resp"
	"github.com/ringside-kv/ringside/resp/node"
)

// A whole cluster is real nodes in this process, with the ports that nodes have.
type whole struct {
	t     *testing.T
	nodes []*node.Node
	tags  atomic.Pointer[[]string] // whose keys are to change hands

	orders, refused atomic.Int64 // to move ranges, and those that were not taken
}

// OpenWholeTable opens so many nodes of one cluster, which keeps a copy of everything, and waits
// until each has its share.
func openWhole(t *testing.T, n int) *whole {
	t.Helper()
	w := &whole{t: t}
	w.tags.Store(new([]string))
	gossip, release, err := freeport.Loopback(n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	t.TempDir()
	t.Cleanup(w.close) // before the directories go
	for i := range n {
		cfg := node.DefaultConfig()
		cfg.ID, cfg.Dir, cfg.Addr, cfg.HTTPAddr = fmt.Sprint("n", i), t.TempDir(), "127.0.0.1:0", "off"
		cfg.BusAddr, cfg.GossipAddr, cfg.Strategy = "127.0.0.1:0", gossip[i], node.StrategyVnode
		cfg.Cache, cfg.BlockCache, cfg.VNodes = 8<<20, 8<<20, 1
		if i > 0 {
			cfg.Join = gossip[:1]
		}
		if os.Getenv("RINGSIDE_TEST_LOG") != "" {
			cfg.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil)).With("at", cfg.ID)
		}
		one, err := node.Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		w.nodes = append(w.nodes, one)
	}
	for i := range n {
		client := w.client(i)
		defer client.Close()
		for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			info, err := client.Do(t.Context(), "RING", "INFO").Text()
			if err == nil && strings.Contains(info, fmt.Sprintf("\r\nnodes:%d\r\n", n)) && !strings.Contains(info, "\r\nprimaries:0\r\n") &&
				strings.Contains(info, "\r\nhandoffs_running:0\r\n") && strings.Contains(info, "\r\nranges_short_of_backups:0\r\n") {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("the nodes are no cluster: %s %v", info, err)
			}
		}
	}
	return w
}

func (w *whole) client(i int) *redis.Client {
	return redistest.Client(&redis.Options{Addr: w.nodes[i].Addr().String(), MaxRetries: -1, ReadTimeout: time.Minute})
}

func (w *whole) addrs() (addrs []string) {
	for _, n := range w.nodes {
		addrs = append(addrs, n.Addr().String())
	}
	return addrs
}

func (w *whole) close() {
	for _, n := range w.nodes {
		if err := n.Close(); err != nil {
			w.t.Errorf("%s: %v", n.ID(), err)
		}
	}
}

// move has the keys of hash tags change hands until it is told to stop.
//
// Who has the next point at or behind a token has its range. So each order gives a node points
// closer behind the tokens of some tags than any before.
func (w *whole) move(ctx context.Context, rnd *rand.Rand) {
	client := w.client(0)
	defer client.Close()
	for gap := uint32(1 << 24); ctx.Err() == nil; gap-- {
		tags := *w.tags.Load()
		if len(tags) == 0 {
			time.Sleep(time.Millisecond)
			continue
		}
		tag := tags[rnd.IntN(len(tags))]
		token, primary, err := locate(ctx, client, tag)
		if err != nil {
			continue
		}
		to := (slices.Index([]string{"n0", "n1", "n2"}, primary) + 1 + rnd.IntN(2)) % len(w.nodes)
		points := []string{point(token + gap)}
		for _, other := range tags {
			if token, _, err := locate(ctx, client, other); err == nil && rnd.IntN(3) == 0 {
				points = append(points, point(token+gap))
			}
		}
		w.orders.Add(1)
		if err := client.Do(ctx, "RING", "PIN", fmt.Sprintf("n%d=%s", to, strings.Join(points, ","))).Err(); err != nil && ctx.Err() == nil {
			w.refused.Add(1)
			w.t.Logf("n%d=%s: %v", to, points, err)
		}
		// Most orders are carried out before the next one comes.
		for end := time.Now().Add(time.Duration(rnd.IntN(1500)) * time.Millisecond); ctx.Err() == nil && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			if _, now, err := locate(ctx, client, tag); err == nil && now == fmt.Sprint("n", to) {
				break
			}
		}
	}
}

// locate is the token of a hash tag, and who has it.
func locate(ctx context.Context, client *redis.Client, tag string) (token uint32, primary string, err error) {
	said, err := client.Do(ctx, "RING", "LOCATE", "{"+tag+"}").Result()
	all, ok := said.(map[any]any)
	if err != nil || !ok {
		return 0, "", fmt.Errorf("RING LOCATE: %v %w", said, err)
	}
	primary, _ = all["primary"].(string)
	_, err = fmt.Sscanf(fmt.Sprint(all["token"]), "%x", &token)
	return token, primary, err
}

// point is the hash at which a point is at a token.
func point(token uint32) string { return fmt.Sprintf("0x%08x", token^1<<31) }

func TestClusterAnswersAsRedisWhileRangesChangeHands(t *testing.T) {
	randomtest.Draw(t, 4)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	began := time.Now()
	w := openWhole(t, 3)
	t.Logf("cluster after %v", time.Since(began))
	ctx, stop := context.WithCancel(t.Context())
	moved := make(chan struct{})
	go func() {
		defer close(moved)
		w.move(ctx, rand.New(rand.NewPCG(seed, 0)))
	}()
	defer func() {
		stop()
		<-moved
	}()
	resp.DifferInCluster(t, w.addrs(), seed, os.Getenv("RINGSIDE_LONG") != "", func(tags []string) { w.tags.Store(&tags) })
	t.Logf("%d orders, %d refused", w.orders.Load(), w.refused.Load())
}
