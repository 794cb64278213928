package cluster

import (
	"context"
	"runtime/pprof"

	"github.com/ringside-kv/ringside/internal/freeport"
	"github.com/ringside-kv/ringside/resp/node"
)

// Label is the name of the profiler's label that says whose work a goroutine does: its value
// is a node's id, or [Generator] for the load.
const (
	Label     = "ringside"
	Generator = "generator"
)

// An embedded member runs in this process.
type embedded struct {
	*node.Node
	is at
}

// embed starts a member in this process.
func (f *Cluster) embed(ctx context.Context, m *member, join []string) (body, error) {
	cfg := f.base
	cfg.ID, cfg.Dir, cfg.Join = m.id, m.dir, join
	cfg.Logger = f.log.With("at", m.id)
	is, err := m.where()
	if err != nil {
		return nil, err
	}
	cfg.Addr, cfg.BusAddr, cfg.GossipAddr = is.client, is.bus, is.gossip
	var n *node.Node
	// All that the node starts inherits the label.
	pprof.Do(ctx, pprof.Labels(Label, m.id), func(context.Context) { n, err = node.Open(cfg) })
	if err != nil {
		return nil, err
	}
	return &embedded{Node: n, is: is}, nil
}

// where is where a member listens: there where it has before, or at free ports.
func (m *member) where() (at, error) {
	if m.at != (at{}) {
		return m.at, nil
	}
	free, release, err := freeport.Loopback(3)
	if err != nil {
		return at{}, err
	}
	m.release = release
	return at{client: free[0], bus: free[1], gossip: free[2]}, nil
}

func (e *embedded) at() at                { return e.is }
func (e *embedded) done() <-chan struct{} { return e.Done() }
func (e *embedded) kill()                 { e.Kill() }
func (e *embedded) close() error          { return e.Close() }
