package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"

	"github.com/ringside-kv/ringside/internal/freeport"
	"github.com/ringside-kv/ringside/resp/node"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// A Cluster is a cluster for a load test. Its methods may be called from any goroutine; events
// happen one after the other.
type Cluster struct {
	cfg      Config
	founding strategy.Config // with which nodes start
	base     node.Config     // of all nodes
	dir      string

	ctx    context.Context // ends when the fleet is closed
	cancel context.CancelFunc
	events sync.Mutex // held by who changes the fleet
	drawn  uint64     // events for which members were drawn; guarded by events

	mu      sync.Mutex
	placing strategy.Config // in force, or being switched to
	evened  bool            // there may be overrides
	members []*member       // in the order in which they joined; those that left are not in it
	joined  int             // ever
	watches []*Watch
	// releases end the reservations of all members' ports, also of those that left.
	releases []func()
	lost     []error        // of each node that ended by itself, why
	ends     sync.WaitGroup // of those who wait for a member's end
}

// A member is a node of the fleet.
type member struct {
	id     string
	number int // n7 is 7
	dir    string

	// Guarded by Fleet.mu.
	state state
	ready bool // it has entered the cluster since it was started
	at    at   // set once
	body  body // its last
}

// at is where a member listens; it stays there.
type at struct{ client, bus, gossip string }

type state uint8

const (
	up      state = iota
	leaving       // it hands over what it has
	dead          // it was killed
)

// A body is what a member runs as, such as a [node.Node].
type body interface {
	// Done is closed when the node has ended, or wants to, or was killed.
	Done() <-chan struct{}
	// Err is, after Done, why it ends, if that is known.
	Err() error
	// Kill ends it as a loss of power does, and returns once it is gone.
	Kill()
	// Close ends it in order.
	Close() error
}

// Start runs a cluster, and returns once all nodes are in it and have their share. With an
// error nothing is left of it; else the caller must Close it.
func Start(ctx context.Context, cfg Config) (f *Cluster, err error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	of, err := ParseContestant(cfg.Contestant, cfg.Hash)
	if err != nil {
		return nil, err
	}
	f = &Cluster{cfg: cfg, founding: of.Strategy, placing: of.Strategy, base: cfg.node(of.Strategy)}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	if cfg.Processes && cfg.Binary == "" {
		if f.cfg.Binary, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("cluster: find the binary: %w", err)
		}
	}
	if f.dir, err = os.MkdirTemp(cfg.Dir, "ringside-fleet-"); err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	begun := false
	defer func() { // also when something panics
		if !begun {
			err = errors.Join(err, f.Close())
			f = nil
		}
	}()
	if _, err := f.Join(ctx, cfg.Nodes); err != nil {
		return f, err
	}
	if err := f.Balanced(ctx); err != nil {
		return f, err
	}
	begun = true
	return f, nil
}

// Addrs are the clients' addresses of the nodes that are up and ready, those that leave
// included, in the order in which they joined. One that has not entered the cluster yet is
// not ready: whoever balances load among nodes asks them that before he sends them any.
func (f *Cluster) Addrs() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var addrs []string
	for _, m := range f.members {
		if m.state != dead && m.ready {
			addrs = append(addrs, m.at.client)
		}
	}
	return addrs
}

// A Node is one that is up.
type Node struct {
	ID, Addr string
	Embedded bool // it runs in this process
}

// Nodes are those that are up.
func (f *Cluster) Nodes() []Node {
	f.mu.Lock()
	defer f.mu.Unlock()
	var nodes []Node
	for _, m := range f.members {
		if m.state != dead {
			nodes = append(nodes, Node{ID: m.id, Addr: m.at.client, Embedded: !f.cfg.Processes})
		}
	}
	return nodes
}

func (f *Cluster) watchers() []*Watch {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.watches)
}

// Close ends all nodes and removes their directories. The error also names each node that had ended
// by itself. Calls after the first do nothing.
func (f *Cluster) Close() error {
	f.cancel() // an event ends at once
	f.events.Lock()
	defer f.events.Unlock()
	for _, w := range f.watchers() {
		w.Stop()
	}
	f.mu.Lock()
	members, releases := f.members, f.releases
	f.members, f.releases = nil, nil
	f.mu.Unlock()
	var ends sync.WaitGroup
	for _, m := range members {
		if m.state != dead {
			ends.Go(m.body.Kill) // nothing that it has is wanted any more
		}
	}
	ends.Wait()
	f.ends.Wait()
	for _, release := range releases {
		release()
	}
	f.mu.Lock()
	faults := f.lost
	f.lost = nil
	f.mu.Unlock()
	if err := os.RemoveAll(f.dir); err != nil {
		faults = append(faults, fmt.Errorf("cluster: %w", err))
	}
	return errors.Join(faults...)
}

// run starts a member that is new or dead, and sees to it when it ends by itself.
func (f *Cluster) run(ctx context.Context, m *member, join []string) error {
	start := f.embed
	if f.cfg.Processes {
		start = f.spawn
	}
	listens, fresh := m.at, m.at == at{}
	release := func() {}
	var body body
	var err error
	for range 5 {
		if fresh {
			var free []string
			if free, release, err = freeport.Loopback(3); err != nil {
				return fmt.Errorf("cluster: start %s: %w", m.id, err)
			}
			listens = at{client: free[0], bus: free[1], gossip: free[2]}
		}
		body, err = start(ctx, m, listens, join)
		// Only those who reserve ports keep away from them.
		if err == nil || !fresh || !strings.Contains(err.Error(), "address already in use") {
			break
		}
		release()
	}
	if err != nil {
		release()
		return fmt.Errorf("cluster: start %s: %w", m.id, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if m.state != dead {
		f.members = append(f.members, m)
		slices.SortFunc(f.members, func(a, b *member) int { return a.number - b.number })
	}
	if fresh { // others read it while the member is up
		m.at = listens
		f.releases = append(f.releases, release)
	}
	m.body, m.state, m.ready = body, up, false
	f.ends.Go(func() { f.await(m, body) })
	return nil
}

// await takes a member out that has left, and notes that one is dead that has ended otherwise.
func (f *Cluster) await(m *member, body body) {
	<-body.Done()
	f.mu.Lock()
	left := m.state == leaving
	lost := m.state == up && f.ctx.Err() == nil
	f.mu.Unlock()
	if !left && !lost {
		return // it was killed
	}
	if left {
		f.lookOnce(f.ctx) // what it has handed over is not known to others
	}
	_ = body.Close() // it has nothing that is wanted any more, or has ended
	f.mu.Lock()
	defer f.mu.Unlock()
	if lost {
		m.state = dead
		why := "ended by itself"
		if err := body.Err(); err != nil {
			why += ": " + err.Error()
		}
		f.lost = append(f.lost, fmt.Errorf("cluster: %s %s", m.id, why))
		return
	}
	f.members = slices.DeleteFunc(f.members, func(other *member) bool { return other == m })
	_ = os.RemoveAll(m.dir) // Close tries again
}

// Label is the name of the profiler's label that says whose work a goroutine does: its value
// is a node's id, or [Generator] for the load.
const (
	Label     = "ringside"
	Generator = "generator"
)

// embed starts a member in this process.
func (f *Cluster) embed(ctx context.Context, m *member, listens at, join []string) (n body, err error) {
	cfg := f.base
	cfg.ID, cfg.Dir, cfg.Join = m.id, m.dir, join
	cfg.Addr, cfg.BusAddr, cfg.GossipAddr = listens.client, listens.bus, listens.gossip
	// All that the node starts inherits the label.
	pprof.Do(ctx, pprof.Labels(Label, m.id), func(context.Context) { n, err = node.Open(cfg) })
	return n, err
}
