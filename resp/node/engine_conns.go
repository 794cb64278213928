package node

import (
	"context"
	"fmt"
	"net"
	"sync"

	"github.com/ringside-kv/ringside/replica/bus"
	"github.com/ringside-kv/ringside/replica/lease"
)

// messageEngine begins a message to the engine of another node; see messageQuestion.
const messageEngine = 'E'

// engineConns are the connections on which the engine asks others, kept from one question to the
// next: a lease is asked for often, and in haste when there is a new leader.
type engineConns struct {
	mu     sync.Mutex
	idle   map[string]net.Conn // by node
	closed bool
}

func (a *engineConns) take(node string) net.Conn {
	a.mu.Lock()
	defer a.mu.Unlock()
	conn := a.idle[node]
	delete(a.idle, node)
	return conn
}

func (a *engineConns) keep(node string, conn net.Conn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || a.idle[node] != nil {
		_ = conn.Close()
		return
	}
	if a.idle == nil {
		a.idle = make(map[string]net.Conn)
	}
	a.idle[node] = conn
}

func (a *engineConns) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	for _, conn := range a.idle {
		_ = conn.Close()
	}
	clear(a.idle)
}

// askEngine takes a question to another node's engine. One that fails on a connection
// that was kept is asked once more: none does harm when it is asked twice.
func (c *cluster) askEngine(ctx context.Context, node string, question []byte) ([]byte, error) {
	message := append([]byte{messageEngine}, question...)
	if conn := c.engineConns.take(node); conn != nil {
		if reply, err := c.exchangeKept(ctx, node, conn, message); err == nil || ctx.Err() != nil {
			return reply, err
		}
	}
	conn, peer, err := c.dialPeer(ctx, node, bus.Control)
	if err != nil {
		return nil, err
	}
	if own := c.entry.generation(); peer.Generation != own {
		_ = conn.Close()
		return nil, fmt.Errorf("%s is in generation %d, this node in %d", node, peer.Generation, own)
	}
	return c.exchangeKept(ctx, node, conn, message)
}

// exchangeKept sends a message and reads the reply. The connection is kept, or closed.
func (c *cluster) exchangeKept(ctx context.Context, node string, conn net.Conn, message []byte) ([]byte, error) {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	err := writeMessage(conn, message)
	var reply []byte
	if err == nil {
		reply, err = readMessage(conn)
	}
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	c.engineConns.keep(node, conn)
	return reply, nil
}

// leases says how this node takes part in leases. A proxy needs none; a witness needs none for
// itself, but may be the leader that grants them.
func (c *cluster) leases() lease.Config {
	if c.n.cfg.Role == RoleProxy {
		return lease.Config{}
	}
	return lease.Config{Clock: c.n.clock, OwnClock: c.n.ownClock, Consensus: engineTable{c.table}, Ask: c.askEngine}
}
