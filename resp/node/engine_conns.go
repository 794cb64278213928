package node

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/ringside-kv/ringside/replica/bus"
	"github.com/ringside-kv/ringside/replica/lease"
)

// messageEngine begins a message to the engine of another node; see messageQuestion.
const messageEngine = 'E'

// askEngine takes a question to another node's engine.
func (c *cluster) askEngine(ctx context.Context, node string, question []byte) ([]byte, error) {
	return askKept(ctx, c, node, append([]byte{messageEngine}, question...))
}

// askKept sends a message on a connection that is kept: a lease is asked for often, and in haste when there is
// a new leader. One that fails on such a connection is sent once more: none does harm when it is sent twice.
func askKept(ctx context.Context, c *cluster, node string, message []byte) ([]byte, error) {
	if conn := c.keptConns.Take(node); conn != nil {
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
	c.keptConns.Keep(node, conn)
	return reply, nil
}

// reach finds out whether the bus of another node accepts a connection.
func reach(ctx context.Context, c *cluster, node string) error {
	addr, err := c.busAddr(node)
	if err != nil {
		return err
	}
	if err = c.bus.Probe(ctx, addr, node); errors.Is(err, bus.ErrNoAnswer) {
		return fmt.Errorf("%w: %w", lease.ErrUnreached, err)
	}
	return err
}

// leases says how this node takes part in leases. A proxy needs none; a witness needs none for
// itself, but may be the leader that grants them.
func (c *cluster) leases() lease.Config {
	if c.n.cfg.Role == RoleProxy {
		return lease.Config{}
	}
	return lease.Config{
		Clock: c.n.clock, OwnClock: c.n.ownClock, Consensus: engineTable{c.table}, Ask: c.askEngine,
		Reach: func(ctx context.Context, node string) error { return reach(ctx, c, node) },
	}
}
