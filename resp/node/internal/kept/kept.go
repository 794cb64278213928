package kept

import (
	"net"
	"sync"
)

// Conns are idle connections, one to each node at most. Its methods may be called from any goroutine.
type Conns struct {
	mu     sync.Mutex
	idle   map[string]net.Conn // by node
	closed bool
}

// Take returns a connection, which is the caller's then; nil if there is none.
func (c *Conns) Take(node string) net.Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	conn := c.idle[node]
	delete(c.idle, node)
	return conn
}

// Keep takes a connection that is in order, or closes it.
func (c *Conns) Keep(node string, conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.idle[node] != nil {
		_ = conn.Close()
		return
	}
	if c.idle == nil {
		c.idle = make(map[string]net.Conn)
	}
	c.idle[node] = conn
}

// Close closes all, and those that Keep is given later.
func (c *Conns) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, conn := range c.idle {
		_ = conn.Close()
	}
	clear(c.idle)
}
