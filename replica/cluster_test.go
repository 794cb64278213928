package replica

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/ketama"
)

// The engines of a cluster in one process, in virtual time: the table's state machine
// without Raft, stores that are maps, and fronts that only count.

type testNode struct {
	id          string
	incarnation uint64
	store       *memory
	gate        *gate
	view        *view
	engine      *Engine
	ctx         context.Context
	stop        context.CancelFunc
	serves      sync.WaitGroup
}

type testCluster struct {
	t        *testing.T
	agreed   *agreed
	strategy ring.Strategy
	config   func(*Config)
	starts   uint64
	every    atomic.Int64 // in how much time copies are compared
	crashes  sync.WaitGroup

	mu     sync.Mutex
	leader string
	nodes  map[string]*testNode // those that run
	stores map[string]*memory   // of all that ever did
	cut    map[string]bool      // nodes that nobody reaches
	away   map[string]time.Time // since when nodes are, as the leader has noticed
	wires  map[*wire]bool
	// unknown counts, by key, what may have been counted and may not.
	unknown map[string]int
}

func newTestCluster(t *testing.T, rnd *rand.Rand, faults float64) *testCluster {
	s, err := ketama.New(ketama.Config{Points: 16})
	if err != nil {
		t.Fatal(err)
	}
	c := &testCluster{
		t: t, strategy: s, leader: "n1", nodes: make(map[string]*testNode), stores: make(map[string]*memory),
		cut: make(map[string]bool), away: make(map[string]time.Time), wires: make(map[*wire]bool),
		unknown: make(map[string]int),
	}
	c.agreed = &agreed{history: []*table.State{new(table.State)}, rnd: rnd}
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
	if err := c.agreed.decide(found); err != nil {
		t.Fatal(err)
	}
	c.agreed.faults = faults
	c.starts = 1
	c.start("n1", 1, 1)
	return c
}

// join registers a node and starts it, or starts one again that has ended. What it
// knows at first may be old.
func (c *testCluster) join(id string) {
	c.starts++
	known := c.agreed.any()
	c.sure(func() table.Command { return &table.Register{Node: id, Incarnation: c.starts, Weight: 1} },
		func(st *table.State) bool { n, ok := st.Node(id); return ok && n.Incarnation == c.starts })
	c.start(id, c.starts, known)
}

// sure applies a command until the state shows it.
func (c *testCluster) sure(command func() table.Command, shows func(*table.State) bool) {
	for !shows(c.agreed.State()) {
		if err := c.agreed.propose(command()); table.IsRefused(err) && !shows(c.agreed.State()) {
			c.t.Fatal(err)
		}
	}
}

func (c *testCluster) start(id string, incarnation uint64, known int) {
	c.mu.Lock()
	store := c.stores[id]
	if store == nil {
		store = newMemory(c.slow)
		c.stores[id] = store
	}
	store.restart()
	c.mu.Unlock()
	n := &testNode{
		id: id, incarnation: incarnation, store: store,
		gate: &gate{self: id, running: make(map[int]int)},
		view: newView(c, id, known),
	}
	n.ctx, n.stop = context.WithCancel(context.Background())
	cfg := Config{
		Self: id, Incarnation: incarnation, Strategy: c.strategy, Store: store, Table: n.view, Front: n.gate,
		Absent:   c.absent,
		Dial:     func(_ context.Context, to string) (net.Conn, error) { return c.dial(n, to, (*Engine).Serve) },
		DialFeed: func(_ context.Context, to string) (net.Conn, error) { return c.dial(n, to, (*Engine).ServeFeed) },
	}
	if c.config != nil {
		c.config(&cfg)
	}
	var err error
	if n.engine, err = New(cfg); err != nil {
		c.t.Fatal(err)
	}
	c.mu.Lock()
	c.nodes[id] = n
	c.mu.Unlock()
}

// crash ends a node. What it had acknowledged stays in its store.
func (c *testCluster) crash(id string) {
	c.mu.Lock()
	n := c.nodes[id]
	delete(c.nodes, id)
	for w := range c.wires {
		if w.from == id || w.to == id {
			_ = w.Close()
		}
	}
	c.mu.Unlock()
	if n == nil {
		return
	}
	n.gate.end()
	n.stop()
	n.engine.Close()
	n.view.close()
	n.serves.Wait()
}

// absent are the nodes that do not run, or that nobody reaches: for long, once that is
// so for half a minute.
func (c *testCluster) absent() Absence {
	st := c.agreed.State()
	c.mu.Lock()
	defer c.mu.Unlock()
	away := make(Absence)
	for _, m := range st.MembersOf() {
		if c.nodes[m.ID] != nil && !c.cut[m.ID] {
			delete(c.away, m.ID)
			continue
		}
		if c.away[m.ID].IsZero() {
			c.away[m.ID] = time.Now()
		}
		away[m.ID] = time.Since(c.away[m.ID]) > 30*time.Second
	}
	return away
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

// work is what a client's operation takes: now and then nearly as long as a cutover may.
func (c *testCluster) work() {
	c.agreed.mu.Lock()
	long := c.agreed.rnd.IntN(10) == 0
	c.agreed.mu.Unlock()
	if long {
		c.agreed.delay(40 * time.Millisecond)
		return
	}
	c.agreed.delay(2 * time.Millisecond)
}

func (c *testCluster) close() {
	c.crashes.Wait()
	c.mu.Lock()
	var ids []string
	for id := range c.nodes {
		ids = append(ids, id)
	}
	c.mu.Unlock()
	for _, id := range ids {
		c.crash(id)
	}
}

// settled reports whether everything lies where the strategy wants it.
func (c *testCluster) settled() bool {
	st := c.agreed.State()
	desired, err := DesiredHandoffs(st, c.strategy, c.absent())
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
		for _, n := range nodes {
			told := make(chan error, 1)
			if !n.gate.serve(key, func() {
				c.work()
				n.store.mu.Lock()
				n.store.put(key, n.store.data[key]+1)
				held := n.store.held[key]
				n.store.mu.Unlock()
				held.wait(func(err error) { told <- err })
			}) {
				continue
			}
			if err := <-told; err != nil {
				c.mu.Lock()
				c.unknown[key]++
				c.mu.Unlock()
				return false
			}
			return true
		}
		time.Sleep(time.Millisecond) // of the test's own time
	}
	return false
}

// clients count keys until stop is called, which returns how often each was counted.
func (c *testCluster) clients(seed uint64, keys int) (stop func() map[string]int) {
	ctx, cancel := context.WithCancel(context.Background())
	counts := make([]map[string]int, 4)
	var clients sync.WaitGroup
	for w := range counts {
		counts[w] = make(map[string]int)
		random := rand.New(rand.NewPCG(seed, uint64(w+2)))
		clients.Go(func() {
			for ctx.Err() == nil {
				key := fmt.Sprint("key", random.IntN(keys))
				if c.count(ctx, key) {
					counts[w][key]++
				}
				time.Sleep(time.Duration(random.IntN(8000)) * time.Microsecond)
			}
		})
	}
	return func() map[string]int {
		cancel()
		clients.Wait()
		total := make(map[string]int)
		for _, of := range counts {
			for key, n := range of {
				total[key] += n
			}
		}
		return total
	}
}

// settle waits until everything lies where it should.
func (c *testCluster) settle(what string) {
	c.t.Helper()
	for range 600 {
		if c.settled() {
			return
		}
		time.Sleep(time.Second)
	}
	c.t.Fatalf("in vain: %s; %+v", what, c.agreed.State().Handoffs())
}

// check compares all keys with how often they were counted: each is there, once, at
// the node that serves it, and nothing is left elsewhere.
func (c *testCluster) check(total map[string]int) (faults int) {
	c.t.Helper()
	time.Sleep(40 * time.Second) // until everybody knows, and has dropped what is not its own
	st := c.agreed.State()
	if err := st.Check(); err != nil {
		c.t.Error(err)
	}
	if desired, err := DesiredPlacement(st, c.strategy, st.MembersOf()); err != nil || len(c.absent()) == 0 && st.Len() > desired.Len() {
		c.t.Errorf("%d ranges are left of %d (%v): neighbours that are alike stay apart", st.Len(), desired.Len(), err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, want := range total {
		row := st.Placement().Lookup(tokenOf(key))
		first := c.stores[row.Primary].value(key)
		for node := range row.Copies() {
			if got := c.stores[node].value(key); got < want || got > want+c.unknown[key] || got != first {
				faults++
				c.t.Errorf("%s is %d at %s (%v), counted %d times and perhaps %d more", key, got, node, row, want, c.unknown[key])
			}
		}
	}
	for id, n := range c.nodes {
		for key := range n.store.all() {
			if row := st.Placement().Lookup(tokenOf(key)); !row.Holds(id) {
				faults++
				c.t.Errorf("%s of %v is still at %s", key, row, id)
			}
		}
		for row := range st.Rows() {
			if row.Primary == id && !slices.ContainsFunc(n.store.served(), func(r ring.Range) bool { return r.Contains(row.Range.Start) }) {
				c.t.Errorf("the store of %s was not told that it serves %v", id, row.Range)
			}
		}
	}
	return faults
}

// Nodes join and leave while clients count: in the end every count is there, whatever
// answers of the table were lost on the way.
func TestNothingIsLostWhileRangesMove(t *testing.T) {
	for _, faults := range []float64{0, 0.1} {
		t.Run(fmt.Sprintf("faults=%v", faults), func(t *testing.T) {
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			fakenet.Bubble(t, func(t *testing.T) {
				rnd := rand.New(rand.NewPCG(seed, 0))
				c := newTestCluster(t, rand.New(rand.NewPCG(seed, 1)), faults)
				defer c.close()
				stop := c.clients(seed, 300)
				time.Sleep(time.Second)
				for i := range 4 {
					c.join(fmt.Sprint("n", i+2))
					if rnd.IntN(2) == 0 {
						c.settle("a join")
					}
				}
				c.settle("joins")
				c.sure(func() table.Command { return &table.Leave{Node: "n3", Incarnation: 3} },
					func(st *table.State) bool { n, _ := st.Node("n3"); return n.State == table.Leaving })
				c.settle("a leave")
				c.check(stop())
			})
		})
	}
}
