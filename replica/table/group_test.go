package table

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"go.uber.org/goleak"

	"github.com/ringside-kv/ringside/internal/fakenet"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A group is tables that reach each other through memory.
type group struct {
	t   *testing.T
	dir string // empty: all in memory
	// change, if there is one, changes a configuration.
	change func(*Config)

	mu     sync.Mutex
	tables map[string]*Table
	wires  map[string]*raft.InmemTransport
	cut    map[string]bool // nodes that nobody reaches
}

func newGroup(t *testing.T, dir string) *group {
	return &group{t: t, dir: dir, tables: map[string]*Table{}, wires: map[string]*raft.InmemTransport{}, cut: map[string]bool{}}
}

func (g *group) config(id string) Config {
	_, wire := raft.NewInmemTransportWithTimeout(raft.ServerAddress(id), 500*time.Millisecond)
	g.mu.Lock()
	defer g.mu.Unlock()
	for other, w := range g.wires {
		if !g.cut[other] {
			wire.Connect(raft.ServerAddress(other), w)
			w.Connect(raft.ServerAddress(id), wire)
		}
	}
	g.wires[id] = wire
	delete(g.cut, id)
	cfg := Config{
		ID: id, transport: wire,
		Forward: func(ctx context.Context, node string, message []byte) ([]byte, error) {
			return g.forward(ctx, id, node, message)
		},
		Peers: func() []string { return g.others(id) },
	}
	if g.dir != "" {
		cfg.Dir = filepath.Join(g.dir, id)
	}
	return cfg
}

func (g *group) forward(ctx context.Context, from, to string, message []byte) ([]byte, error) {
	g.mu.Lock()
	table := g.tables[to]
	if g.cut[to] || g.cut[from] {
		table = nil
	}
	g.mu.Unlock()
	if table == nil {
		return nil, fmt.Errorf("%w: %s is away", ErrUnsent, to)
	}
	return table.HandleForward(ctx, message)
}

func (g *group) others(id string) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var ids []string
	for other := range g.tables {
		if other != id && !g.cut[other] {
			ids = append(ids, other)
		}
	}
	return ids
}

func (g *group) open(id string) *Table {
	g.t.Helper()
	cfg := g.config(id)
	if g.change != nil {
		g.change(&cfg)
	}
	table, err := Open(cfg)
	if err != nil {
		g.t.Fatal(err)
	}
	g.mu.Lock()
	g.tables[id] = table
	g.mu.Unlock()
	return table
}

// kill takes a node from the others first, as its death would.
func (g *group) kill(id string) {
	g.t.Helper()
	g.mu.Lock()
	g.cut[id] = true
	table := g.tables[id]
	g.wires[id].DisconnectAll()
	for _, w := range g.wires {
		w.Disconnect(raft.ServerAddress(id))
	}
	delete(g.tables, id)
	delete(g.wires, id)
	g.mu.Unlock()
	if err := table.Close(); err != nil {
		g.t.Error(err)
	}
}

// link makes or cuts the way between two nodes.
func (g *group) link(a, b string, on bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, way := range [][2]string{{a, b}, {b, a}} {
		if on {
			g.wires[way[0]].Connect(raft.ServerAddress(way[1]), g.wires[way[1]])
		} else {
			g.wires[way[0]].Disconnect(raft.ServerAddress(way[1]))
		}
	}
}

func (g *group) close() {
	for _, id := range g.others("") {
		g.kill(id)
	}
}

// start makes a group of n nodes, the first of which founds it.
func (g *group) start(n int) {
	g.t.Helper()
	for i := range n {
		id := nodeID(i)
		table := g.open(id)
		if i == 0 {
			g.must(table.Found(g.context(), found(id, 16)))
			continue
		}
		g.must(table.Apply(g.context(), &Register{Node: id, Incarnation: 1, Intact: true}))
	}
	g.until(func() bool { return g.voters() == votersFor(n) && g.alike() }, "%d nodes have %d voters and one table", n, votersFor(n))
}

func (g *group) context() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	g.t.Cleanup(cancel)
	return ctx
}

func (g *group) must(_ Result, err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
}

// until waits for a condition in the time of the test's bubble.
func (g *group) until(holds func() bool, what string, args ...any) {
	g.t.Helper()
	for range 6000 {
		if holds() {
			return
		}
		pause := time.NewTimer(10 * time.Millisecond)
		<-pause.C
	}
	g.t.Fatalf("it does not come true that "+what, args...)
}

func (g *group) leader() *Table {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, table := range g.tables {
		if _, is := table.Leader(); is {
			return table
		}
	}
	return nil
}

func (g *group) voters() int {
	leader := g.leader()
	if leader == nil {
		return 0
	}
	n := 0
	for _, s := range leader.servers() {
		if s.Suffrage == raft.Voter {
			n++
		}
	}
	return n
}

// alike reports whether all tables are the same.
func (g *group) alike() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	first := ""
	for _, table := range g.tables {
		b := mustBytes(g.t, table.State())
		if first == "" {
			first = b
		}
		if b != first {
			return false
		}
	}
	return true
}

func virtually(t *testing.T, dir string, test func(t *testing.T, g *group)) {
	fakenet.Bubble(t, func(t *testing.T) {
		g := newGroup(t, dir)
		defer g.close()
		test(t, g)
	})
}

func TestOneNodeIsItsOwnCluster(t *testing.T) {
	virtually(t, t.TempDir(), func(t *testing.T, g *group) {
		begun := time.Now()
		table := g.open("n0")
		if table.Known() {
			t.Error("a new directory belongs to a cluster")
		}
		g.must(table.Found(g.context(), found("n0", 16)))
		if took := time.Since(begun); took > 300*time.Millisecond {
			t.Errorf("founding took %v", took)
		}
		if id, is := table.Leader(); id != "n0" || !is {
			t.Errorf("the leader is %q", id)
		}
		before := mustBytes(t, table.State())
		server := table.Server()
		if _, err := table.Found(g.context(), found("n0", 16)); !IsRefused(err) {
			t.Errorf("founded twice: %v", err)
		}
		g.kill("n0")

		begun = time.Now()
		table = g.open("n0")
		if table.Server() != server || !table.Known() {
			t.Error("the directory is not known again")
		}
		g.until(func() bool { return mustBytes(t, table.State()) == before }, "the table is there again")
		if took := time.Since(begun); took > 300*time.Millisecond {
			t.Errorf("the restart took %v", took)
		}
		g.must(table.Apply(g.context(), &Register{Node: "n0", Incarnation: 2}))
		if row, _ := table.State().Row(0); row.Epoch != 2 {
			t.Errorf("after a restart the epoch is %d", row.Epoch)
		}
	})
}

func TestKilledLeaderIsReplacedAndTablesStayAlike(t *testing.T) {
	for _, n := range []int{3, 5} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			virtually(t, "", func(t *testing.T, g *group) {
				g.start(n)
				old, _ := g.leader().Leader()
				g.kill(old)
				killed := time.Now()
				asked := g.tables[g.others("")[0]]
				node, _ := asked.State().Node("n1")
				g.must(asked.Apply(g.context(), &SetWeight{"n1", node.Incarnation, 3}))
				t.Logf("decided %v after the leader was killed", time.Since(killed))
				if took := time.Since(killed); took > 2*time.Second {
					t.Errorf("that is later than leases last")
				}
				if now, _ := asked.State().Node("n1"); now.Weight != 3 {
					t.Error("the node that asked does not see what was decided")
				}
				g.until(g.alike, "all tables are alike")
			})
		})
	}
}
