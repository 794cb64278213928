package backup

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	// goneLife is how long a pin stays after the last connection of its client has ended at a node. A client
	// that lives renews it before, by another connection.
	goneLife = 4 * time.Second
	// goneTimeout is how long other nodes may take to hear of it.
	goneTimeout = 2 * time.Second
	// maxFollowed is how many backups are followed for one connection. Pins of others end by their life time.
	maxFollowed = 2 * maxPins
)

// A clients knows which connections of this node use which backups, so that pins do not outlive their client by
// much.
type clients struct {
	ctx    context.Context // until close
	cancel context.CancelFunc
	ended  sync.WaitGroup

	mu    sync.Mutex
	conns map[<-chan struct{}]*followed
}

// followed is a connection. Its goroutine ends with the connection, or when no backup is left.
type followed struct {
	nodes map[string][]string // of each backup, that have pins of it
	idle  chan struct{}       // closed when no backup is left
}

func newClients() *clients {
	c := &clients{conns: make(map[<-chan struct{}]*followed)}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

func (c *clients) close() {
	c.mu.Lock()
	c.cancel()
	c.mu.Unlock()
	c.ended.Wait()
}

// use notes that a connection uses a backup at some nodes; gone is closed when it ends. lost is called then, unless
// another connection uses the backup.
func (c *clients) use(gone <-chan struct{}, id string, nodes []string, lost func(ctx context.Context, id string, nodes []string)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if gone == nil || c.ctx.Err() != nil {
		return
	}
	f := c.conns[gone]
	if f == nil {
		f = &followed{nodes: make(map[string][]string), idle: make(chan struct{})}
		c.conns[gone] = f
		c.ended.Go(func() { c.follow(gone, f, lost) })
	}
	if _, ok := f.nodes[id]; !ok && len(f.nodes) >= maxFollowed {
		for other := range f.nodes {
			delete(f.nodes, other)
			break
		}
	}
	for _, node := range nodes {
		if !slices.Contains(f.nodes[id], node) {
			f.nodes[id] = append(f.nodes[id], node)
		}
	}
}

// stop forgets that a backup is used at a node.
func (c *clients) stop(id, node string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for gone, f := range c.conns {
		f.nodes[id] = slices.DeleteFunc(f.nodes[id], func(n string) bool { return n == node })
		if len(f.nodes[id]) == 0 {
			delete(f.nodes, id)
		}
		if len(f.nodes) == 0 {
			close(f.idle)
			delete(c.conns, gone)
		}
	}
}

func (c *clients) follow(gone <-chan struct{}, f *followed, lost func(ctx context.Context, id string, nodes []string)) {
	select {
	case <-gone:
	case <-f.idle:
		return
	case <-c.ctx.Done():
		return
	}
	c.mu.Lock()
	if c.conns[gone] == f {
		delete(c.conns, gone)
	}
	left := make(map[string][]string)
	for id, nodes := range f.nodes {
		if !c.usedLocked(id) {
			left[id] = nodes
		}
	}
	c.mu.Unlock()
	for id, nodes := range left {
		lost(c.ctx, id, nodes)
	}
}

func (c *clients) usedLocked(id string) bool {
	for _, f := range c.conns {
		if len(f.nodes[id]) > 0 {
			return true
		}
	}
	return false
}

// lost tells nodes that the client of a backup may be gone.
func (k *Keeper) lost(ctx context.Context, id string, nodes []string) {
	ctx, cancel := context.WithTimeout(ctx, goneTimeout)
	defer cancel()
	_, _ = k.askAll(ctx, nodes, &request{Verb: verbGone, ID: id})
}

// gone shortens the life of a pin, until the next request for it.
func (k *Keeper) gone(id string) answer {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.open[id]; s != nil && !s.held && s.timer.Stop() {
		s.timer.Reset(goneLife)
		s.gone = true
	}
	return answer{}
}
