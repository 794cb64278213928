package replica

import (
	"context"
	"errors"
	"net"
	"time"
)

// A wire is one end of a connection between two nodes. It takes time, and breaks when
// one of them is cut off.
type wire struct {
	net.Conn
	c        *testCluster
	from, to string
}

func (w *wire) Write(b []byte) (int, error) {
	w.c.agreed.delay(300 * time.Microsecond)
	if w.c.isCut(w.from) || w.c.isCut(w.to) || w.c.breaks() {
		_ = w.Close()
		return 0, errors.New("the connection broke")
	}
	return w.Conn.Write(b)
}

// breaks reports whether a connection is lost, which happens rarely, and only where faults
// are wanted.
func (c *testCluster) breaks() bool {
	c.agreed.mu.Lock()
	defer c.agreed.mu.Unlock()
	return c.agreed.rnd.Float64() < c.agreed.faults/200
}

func (c *testCluster) dial(n *testNode, to string, serve func(*Engine, context.Context, string, net.Conn) error) (net.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	peer := c.nodes[to]
	if peer == nil || c.cut[to] || c.cut[n.id] || n.ctx.Err() != nil {
		return nil, errors.New("no such node")
	}
	a, b := net.Pipe()
	here, there := &wire{a, c, n.id, to}, &wire{b, c, to, n.id}
	c.wires[here], c.wires[there] = true, true
	peer.serves.Go(func() {
		_ = serve(peer.engine, peer.ctx, n.id, there)
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.wires, here)
		delete(c.wires, there)
	})
	return here, nil
}

func (c *testCluster) isCut(node string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cut[node]
}

func (c *testCluster) leads(node string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.leader == node
}

// part cuts a node off, or connects it again.
func (c *testCluster) part(node string, off bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut[node] = off
	for w := range c.wires {
		if off && (w.from == node || w.to == node) {
			_ = w.Close()
		}
	}
	if n := c.nodes[node]; n != nil && !off {
		n.view.wake()
	}
}
