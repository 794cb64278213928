package replica

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/ketama"
)

// The engines of a cluster in one process, in virtual time: the table's state machine
// without Raft, stores that are maps, and fronts that only count.

// agreed is one table for all nodes. A command may be lost, or be applied although its
// caller hears nothing.
type agreed struct {
	mu      sync.Mutex
	st      *table.State
	index   uint64
	watches map[chan struct{}]struct{}
	rnd     *rand.Rand
	faults  float64
}

type view struct {
	*agreed
	leads bool
}

func (v *view) Leads() bool { return v.leads }

func (a *agreed) State() *table.State {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.st
}

func (a *agreed) Changes() (<-chan struct{}, func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := make(chan struct{}, 1)
	a.watches[c] = struct{}{}
	return c, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.watches, c)
	}
}

// delay takes up to a time, which goes by in the test alone.
func (a *agreed) delay(most time.Duration) {
	a.mu.Lock()
	d := time.Duration(a.rnd.Int64N(int64(most)))
	a.mu.Unlock()
	time.Sleep(d)
}

var errNoAnswer = errors.New("no answer")

func (a *agreed) Apply(_ context.Context, c table.Command) error {
	c, err := table.Decode(table.Encode(c))
	if err != nil {
		return err
	}
	a.delay(3 * time.Millisecond)
	defer a.delay(time.Millisecond)
	a.mu.Lock()
	defer a.mu.Unlock()
	lost := a.rnd.Float64() < a.faults
	if lost && a.rnd.IntN(2) == 0 {
		return errNoAnswer
	}
	a.index++
	st, err := a.st.Apply(a.index, c)
	a.st = st
	for w := range a.watches {
		select {
		case w <- struct{}{}:
		default:
		}
	}
	if lost {
		return errNoAnswer
	}
	return err
}

// A gate is a front: operations run under the routes that they began with.
type gate struct {
	self    string
	mu      sync.Mutex
	p       *ring.Placement
	held    func(ring.Range) bool
	term    int
	running map[int]int // operations by term
}

func (g *gate) Route(p *ring.Placement, held func(ring.Range) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.p, g.held = p, held
	g.term++
}

func (g *gate) Quiesce(ctx context.Context) error {
	g.mu.Lock()
	term := g.term
	g.mu.Unlock()
	for ctx.Err() == nil {
		g.mu.Lock()
		earlier := 0
		for t, n := range g.running {
			if t < term {
				earlier += n
			}
		}
		g.mu.Unlock()
		if earlier == 0 {
			return nil
		}
		time.Sleep(50 * time.Microsecond)
	}
	return ctx.Err()
}

// serve runs f if this node serves the key.
func (g *gate) serve(key string, f func()) bool {
	g.mu.Lock()
	if g.p == nil {
		g.mu.Unlock()
		return false
	}
	row, term := g.p.Lookup(tokenOf(key)), g.term
	if row.Primary != g.self || g.held(row.Range) {
		g.mu.Unlock()
		return false
	}
	g.running[term]++
	g.mu.Unlock()
	f()
	g.mu.Lock()
	g.running[term]--
	g.mu.Unlock()
	return true
}

type testNode struct {
	id     string
	store  *memory
	gate   *gate
	engine *Engine
	stop   context.CancelFunc
	serves sync.WaitGroup
}

type testCluster struct {
	t        *testing.T
	agreed   *agreed
	strategy ring.Strategy
	mu       sync.Mutex
	nodes    map[string]*testNode
	starts   uint64
}

func newTestCluster(t *testing.T, rnd *rand.Rand, faults float64) *testCluster {
	s, err := ketama.New(ketama.Config{Points: 16})
	if err != nil {
		t.Fatal(err)
	}
	c := &testCluster{t: t, strategy: s, nodes: make(map[string]*testNode)}
	c.agreed = &agreed{st: new(table.State), watches: make(map[chan struct{}]struct{}), rnd: rnd}
	first, err := s.Desired(ring.Input{Members: []ring.Member{{ID: "n1", Weight: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	found := &table.Found{
		Cluster: table.Cluster{Name: "test", Generation: 1, Strategy: table.Settings{Name: "ketama", Hash: "native", Points: 16}},
		Node:    "n1", Incarnation: 1, Weight: 1,
	}
	for row := range first.Rows() {
		found.Rows = append(found.Rows, *row)
	}
	if err := c.agreed.Apply(t.Context(), found); err != nil {
		t.Fatal(err)
	}
	c.agreed.faults = faults
	c.starts = 1
	c.start("n1", 1)
	return c
}

// join registers a node and starts it.
func (c *testCluster) join(id string) {
	c.starts++
	c.sure(func() table.Command { return &table.Register{Node: id, Incarnation: c.starts, Weight: 1} },
		func(st *table.State) bool { n, ok := st.Node(id); return ok && n.Incarnation == c.starts })
	c.start(id, c.starts)
}

// sure applies a command until the state shows it.
func (c *testCluster) sure(command func() table.Command, shows func(*table.State) bool) {
	for !shows(c.agreed.State()) {
		if err := c.agreed.Apply(c.t.Context(), command()); table.IsRefused(err) && !shows(c.agreed.State()) {
			c.t.Fatal(err)
		}
	}
}

func (c *testCluster) start(id string, incarnation uint64) {
	ctx, stop := context.WithCancel(context.Background())
	n := &testNode{id: id, store: newMemory(c.slow), gate: &gate{self: id, running: make(map[int]int)}, stop: stop}
	engine, err := New(Config{
		Self: id, Incarnation: incarnation, Strategy: c.strategy, Store: n.store,
		Table: &view{c.agreed, id == "n1"}, Front: n.gate, Dial: func(_ context.Context, to string) (net.Conn, error) {
			c.mu.Lock()
			peer := c.nodes[to]
			c.mu.Unlock()
			if peer == nil {
				return nil, errors.New("no such node")
			}
			here, there := net.Pipe()
			peer.serves.Go(func() { _ = peer.engine.Serve(ctx, id, there) })
			return here, nil
		},
	})
	if err != nil {
		c.t.Fatal(err)
	}
	n.engine = engine
	c.mu.Lock()
	c.nodes[id] = n
	c.mu.Unlock()
}

// slow is what applying a batch takes: little, but now and then a while.
func (c *testCluster) slow() {
	c.agreed.mu.Lock()
	stalls := c.agreed.rnd.IntN(20) == 0
	c.agreed.mu.Unlock()
	if stalls {
		time.Sleep(10 * time.Millisecond)
		return
	}
	c.agreed.delay(400 * time.Microsecond)
}

func (c *testCluster) close() {
	for _, n := range c.nodes {
		n.engine.Close()
		n.stop()
	}
	for _, n := range c.nodes {
		n.serves.Wait()
	}
}

// settled tells whether everything lies where the strategy wants it.
func (c *testCluster) settled() bool {
	st := c.agreed.State()
	desired, err := Desired(st, c.strategy)
	return err == nil && len(desired) == 0 && len(st.Handoffs()) == 0
}

// count adds one to a key wherever it is served; it waits while nobody does.
func (c *testCluster) count(ctx context.Context, key string) bool {
	for ctx.Err() == nil {
		c.mu.Lock()
		nodes := make([]*testNode, 0, len(c.nodes))
		for _, n := range c.nodes {
			nodes = append(nodes, n)
		}
		c.mu.Unlock()
		served := 0
		for _, n := range nodes {
			if n.gate.serve(key, func() {
				c.agreed.delay(2 * time.Millisecond)
				n.store.mu.Lock()
				n.store.put(key, n.store.data[key]+1)
				n.store.mu.Unlock()
			}) {
				served++
				break
			}
		}
		if served > 0 {
			return true
		}
		time.Sleep(time.Millisecond) // of the test's own time
	}
	return false
}

// Nodes join and leave while clients count: in the end every count is there, once,
// at the node that serves it, whatever answers of the table were lost on the way.
func TestNothingIsLostWhileRangesMove(t *testing.T) {
	for _, faults := range []float64{0, 0.1} {
		t.Run(fmt.Sprintf("faults=%v", faults), func(t *testing.T) {
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			synctest.Test(t, func(t *testing.T) {
				rnd := rand.New(rand.NewPCG(seed, 0))
				c := newTestCluster(t, rand.New(rand.NewPCG(seed, 1)), faults)
				defer c.close()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				counts := make([]map[string]int, 4)
				var clients sync.WaitGroup
				for w := range counts {
					counts[w] = make(map[string]int)
					random := rand.New(rand.NewPCG(seed, uint64(w+2)))
					clients.Go(func() {
						for ctx.Err() == nil {
							key := fmt.Sprint("key", random.IntN(300))
							if c.count(ctx, key) {
								counts[w][key]++
							}
							time.Sleep(time.Duration(random.IntN(8000)) * time.Microsecond)
						}
					})
				}
				wait := func(what string) {
					for range 600 {
						if c.settled() {
							return
						}
						time.Sleep(time.Second)
					}
					t.Fatalf("in vain: %s; %+v", what, c.agreed.State().Handoffs())
				}
				time.Sleep(time.Second)
				for i := range 4 {
					c.join(fmt.Sprint("n", i+2))
					if rnd.IntN(2) == 0 {
						wait("a join")
					}
				}
				wait("joins")
				c.sure(func() table.Command { return &table.Leave{Node: "n3", Incarnation: 3} },
					func(st *table.State) bool { n, _ := st.Node("n3"); return n.State == table.Leaving })
				wait("a leave")
				cancel()
				clients.Wait()
				st := c.agreed.State()
				if err := st.Check(); err != nil {
					t.Error(err)
				}
				total := make(map[string]int)
				for _, of := range counts {
					for key, n := range of {
						total[key] += n
					}
				}
				for key, want := range total {
					primary := st.Placement().Lookup(tokenOf(key)).Primary
					if got := c.nodes[primary].store.data[key]; got != want {
						t.Errorf("%s is %d at %s, counted %d times", key, got, primary, want)
					}
					for id, n := range c.nodes {
						if _, left := n.store.data[key]; left && id != primary {
							t.Errorf("%s is still at %s", key, id)
						}
					}
				}
				if n := len(c.nodes["n3"].store.data); n > 0 {
					t.Errorf("%d keys are left at n3", n)
				}
			})
		})
	}
}
