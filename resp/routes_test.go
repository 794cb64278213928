package resp

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

// A routed is some servers in front of one store, so that a range can change hands
// without its data moving: what is tested is who runs a request, and when.
type routed struct {
	t       *testing.T
	servers []*Server
	addrs   []string
	links   map[string]Route
	store   *store.Store
	token   ring.TokenFunc
	calls   sync.WaitGroup
	// ways are the links as each server has them, by its number and the other's id.
	ways map[int]map[string]*directLink
}

func routedTest(t *testing.T, n int) *routed { return routedTestWith(t, n, nil) }

// routedSlots has slots for tokens.
func routedSlots(t *testing.T, n int) *routed {
	return routedTestWith(t, n, func(c *Config, sc *store.Config) { c.Slots, sc.Hash, sc.Token = true, "slot", ring.SlotToken })
}

// routedApart has a store for each server: what one changes nobody hears of by accident. Nodes
// may stand still for long before others forget what they keep.
func routedApart(t *testing.T, n int) *routed { return routedOver(t, n, true, nil) }

func routedTestWith(t *testing.T, n int, change func(*Config, *store.Config)) *routed {
	t.Helper()
	return routedOver(t, n, false, change)
}

func openRouted(t *testing.T, sc store.Config) *store.Store {
	t.Helper()
	sc.ExpireFields = collection.ExpireFields
	st, err := store.Open(sc)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}

func routedOver(t *testing.T, n int, apart bool, change func(*Config, *store.Config)) *routed {
	t.Helper()
	sc := store.Config{Dir: t.TempDir(), Strategy: "buckets", Hash: "native", Token: buckets.Token, Cache: 8 << 20, MemTable: 2 << 20}
	cfg := Config{Settings: Settings{ProtectedMode: true}}
	if change != nil {
		change(&cfg, &sc)
	}
	st := openRouted(t, sc)
	r := &routed{t: t, links: make(map[string]Route), store: st, token: sc.Token, ways: make(map[int]map[string]*directLink)}
	t.Cleanup(r.calls.Wait)
	for i := range n {
		cfg.Store, cfg.NodeID = st, fmt.Sprint("n", i)
		if apart {
			sc.Dir = t.TempDir()
			cfg.Store = openRouted(t, sc)
		}
		srv, err := NewServer(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if apart {
			srv.tracking.lease = time.Minute
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan error, 1)
		go func() { served <- srv.Serve(l) }()
		t.Cleanup(func() {
			_ = srv.Close(context.Background())
			<-served
		})
		r.servers = append(r.servers, srv)
		r.addrs = append(r.addrs, l.Addr().String())
		id := fmt.Sprint("n", i)
		r.links[id] = Route{ID: id, Addr: l.Addr().String(), Link: &directLink{r: r, srv: srv}}
	}
	return r
}

// directLink runs a batch on another server of the process.
type directLink struct {
	r    *routed
	srv  *Server
	from string // who sends
}

// Way implements Link.
func (l *directLink) Way() Way { return &directWay{directLink: l} }

type directWay struct {
	*directLink
	done chan directResult
}

type directResult struct {
	replies Replies
	err     error
}

// Send implements Way.
func (w *directWay) Send(batch []byte, n int, terms Terms, timeout time.Duration, arrived func()) error {
	keeper := ""
	if terms.Keeps {
		keeper = w.from
	}
	w.done = make(chan directResult, 1)
	done := w.done
	batch = bytes.Clone(batch)
	w.r.calls.Go(func() {
		w.srv.RunForwarded([]Forwarded{{
			Batch: batch, Requests: n, RESP3: terms.RESP3, Early: terms.Early, Keeper: keeper, Author: terms.Author, NoTouch: terms.NoTouch, Known: terms.Known, Atomic: terms.Atomic, Part: terms.Part, Deadline: w.srv.cfg.Clock() + timeout, From: w.from,
			Answer: func(r Replies, err error) {
				done <- directResult{Replies{Bytes: bytes.Clone(r.Bytes), Ends: slices.Clone(r.Ends), Statuses: slices.Clone(r.Statuses)}, err}
				if arrived != nil {
					arrived()
				}
			},
		}}, nil)
	})
	return nil
}

// Wait implements Way.
func (w *directWay) Wait() (Replies, error) {
	r := <-w.done
	return r.replies, r.err
}

// place gives a server the placement as it should see it.
func (r *routed) place(i int, p *ring.Placement, held map[int]bool) {
	self, nodes := fmt.Sprint("n", i), maps.Clone(r.links)
	if r.ways[i] == nil {
		r.ways[i] = make(map[string]*directLink)
	}
	for id, route := range nodes {
		if l, ok := route.Link.(*directLink); ok {
			if r.ways[i][id] == nil {
				r.ways[i][id] = &directLink{r, l.srv, self}
			}
			route.Link = r.ways[i][id]
			nodes[id] = route
		}
	}
	r.servers[i].SetRoutes(&Routes{Placement: p, Self: self, Nodes: nodes, Held: held})
}

func (r *routed) placeAll(p *ring.Placement) {
	for i := range r.servers {
		r.place(i, p, nil)
	}
}

// spread is a placement of 16 ranges on random nodes.
func (r *routed) spread(rnd *rand.Rand) *ring.Placement {
	rows := make([]ring.Row, 16)
	for i := range rows {
		rows[i] = ring.Row{
			Range:   ring.Range{Start: ring.Token(i) << 28, End: ring.Token(i+1) << 28},
			Primary: fmt.Sprint("n", rnd.IntN(len(r.servers))),
		}
	}
	p, err := ring.NewPlacement(rows)
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

func (r *routed) client(i int) *redis.Client {
	c := redistest.Client(&redis.Options{Addr: r.addrs[i], MaxRetries: -1})
	r.t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestAnyNodeServesAnyKey(t *testing.T) {
	seed := randomtest.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 0))
	r := routedTest(t, 3)
	r.placeAll(r.spread(rnd))
	ctx := context.Background()
	for _, protocol := range []int{2, 3} {
		o := resptest.Dial(t, r.addrs[0], protocol)
		var keys, pairs []string
		for i := range 100 {
			keys = append(keys, fmt.Sprint("key:", i))
			pairs = append(pairs, keys[i], fmt.Sprint("value ", i))
		}
		if got := o.Do(append([]string{"MSET"}, pairs...)...).String(); got != "+OK" {
			t.Fatal(got)
		}
		for i := range r.servers {
			values, err := r.client(i).MGet(ctx, append(keys, "none")...).Result()
			if err != nil || len(values) != 101 || values[42] != "value 42" || values[100] != nil {
				t.Errorf("node %d: %v, %v", i, values, err)
			}
			if n, err := r.client(i).Exists(ctx, append(keys, "none", keys[7])...).Result(); n != 101 || err != nil {
				t.Errorf("node %d: %d exist, %v", i, n, err)
			}
		}
		if n, err := r.client(2).Del(ctx, keys[:50]...).Result(); n != 50 || err != nil {
			t.Errorf("%d deleted, %v", n, err)
		}
		if got := o.Do(append([]string{"MSETNX"}, pairs...)...).String(); got != "-"+msgCrossSlot {
			t.Errorf("MSETNX: %s", got)
		}
		if got := o.Do("MSETNX", "{a}1", "1", "{a}2", "2").String(); got[0] != ':' {
			t.Errorf("MSETNX of one tag: %s", got)
		}
		odd := append([]string{"MSET"}, pairs[:len(pairs)-1]...)
		for i, got := range o.DoAll([][]string{odd, {"GET", "key:99"}, odd}) {
			if want := [...]string{"-ERR wrong number of arguments for 'mset' command", "$value 99", "-ERR wrong number of arguments for 'mset' command"}[i]; got.String() != want {
				t.Errorf("MSET of a key without a value: %s", got)
			}
		}
		if got := o.Do("GET", "key:1", "extra").String(); got != "-ERR wrong number of arguments for 'get' command" {
			t.Error(got)
		}
	}
}

// A pipeline of random commands gets the replies that a lone server would give, in
// order, whoever serves which key.
func TestPipelineKeepsItsOrderOverNodes(t *testing.T) {
	seed := randomtest.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 0))
	r := routedTest(t, 3)
	r.placeAll(r.spread(rnd))
	lone, addr := serveTest(t, nil)
	_ = lone
	one := redistest.Client(&redis.Options{Addr: addr, MaxRetries: -1})
	defer one.Close()
	ctx := context.Background()
	for round := range 200 {
		var pipes [2]redis.Pipeliner
		pipes[0], pipes[1] = one.Pipeline(), r.client(rnd.IntN(3)).Pipeline()
		for range 1 + rnd.IntN(40) {
			key := fmt.Sprint("k", rnd.IntN(30))
			other := fmt.Sprint("k", rnd.IntN(30))
			var args []any
			switch rnd.IntN(9) {
			case 0:
				args = []any{"SET", key, rnd.IntN(1000)}
			case 1:
				args = []any{"GET", key}
			case 2:
				args = []any{"INCR", key}
			case 3:
				args = []any{"APPEND", key, "x"}
			case 4:
				args = []any{"ECHO", round}
			case 5:
				args = []any{"MGET", key, other, "k1"}
			case 6:
				args = []any{"DEL", key, other}
			case 7:
				args = []any{"NOSUCH", key}
			case 8:
				args = []any{"GETRANGE", key, 0}
			}
			for _, p := range pipes {
				p.Do(ctx, args...)
			}
		}
		want, _ := pipes[0].Exec(ctx)
		got, _ := pipes[1].Exec(ctx)
		for i := range want {
			if want[i].String() != got[i].String() {
				t.Fatalf("round %d, request %d: %s, want %s", round, i, got[i], want[i])
			}
		}
	}
}

// Ranges change hands again and again while clients count: no request fails, none is
// lost or run twice, and nobody serves a range that another does. hold, quiesce, hand
// over: the way of a cutover.
func TestRangesChangeHandsUnderLoad(t *testing.T) {
	seed := randomtest.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 0))
	r := routedTest(t, 3)
	now := r.spread(rnd)
	r.placeAll(now)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()

	const keys = 40
	counts := make([][keys]int64, 6)
	var clients sync.WaitGroup
	for w := range counts {
		client := r.client(w % 3)
		random := rand.New(rand.NewPCG(seed, uint64(w+1)))
		clients.Go(func() {
			for ctx.Err() == nil {
				pipe := client.Pipeline()
				var which []int
				for range 1 + random.IntN(20) {
					k := random.IntN(keys)
					which = append(which, k)
					pipe.Incr(context.Background(), fmt.Sprint("count:", k))
				}
				if _, err := pipe.Exec(context.Background()); err != nil {
					t.Errorf("client %d: %v", w, err)
					return
				}
				for _, k := range which {
					counts[w][k]++
				}
			}
		})
	}
	for range 60 {
		now = r.handOver(rnd, now)
	}
	cancel()
	clients.Wait()
	for k := range keys {
		want := int64(0)
		for w := range counts {
			want += counts[w][k]
		}
		got, err := r.client(0).Get(context.Background(), fmt.Sprint("count:", k)).Int64()
		if err != nil && want > 0 || got != want {
			t.Errorf("count:%d is %d, %d were acknowledged (%v)", k, got, want, err)
		}
	}
}
