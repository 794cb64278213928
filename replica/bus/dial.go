package bus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Dial connects to the bus of another node, which must have the given id (any, if
// it is empty). A refusal by either side is a *RefusedError. The time for
// connecting and shaking hands is bounded by ctx and by the HandshakeTimeout. The
// caller closes the connection; Close of the bus does, too. The connection has a method
// PeerIncarnation() uint64, which tells to which start of the node it leads, and PeerVersion() uint16, which
// tells the version of the protocol that both use.
func (b *Bus) Dial(ctx context.Context, addr, peerID string, purpose Purpose) (net.Conn, Peer, error) {
	conn, peer, err := b.dial(ctx, addr, peerID, purpose)
	if err != nil {
		if b.ctx.Err() != nil {
			err = ErrClosed
		}
		return nil, Peer{}, fmt.Errorf("dial %s for %s: %w", addr, purpose, err)
	}
	b.metrics.dialled.Inc(1)
	return conn, peer, nil
}

func (b *Bus) dial(ctx context.Context, addr, peerID string, purpose Purpose) (net.Conn, Peer, error) {
	if len(peerID) > maxName {
		return nil, Peer{}, fmt.Errorf("node id of %d bytes", len(peerID))
	}
	ctx, cancel := context.WithTimeout(ctx, b.cfg.HandshakeTimeout)
	defer cancel()
	defer context.AfterFunc(b.ctx, cancel)()
	// A node that names no range refuses all versions but its own.
	ranged := b.cfg.Versions.Newest > unrangedVersion
	both := ranged && b.cfg.Versions.Oldest <= unrangedVersion
	node := cmp.Or(peerID, addr)
	if both && b.unranged.has(node, time.Now()) {
		ranged = false
	}
	conn, peer, err := b.dialWithVersion(ctx, addr, peerID, purpose, ranged)
	var refused *RefusedError
	if both && ranged && errors.As(err, &refused) && refused.ByPeer && refused.Reason == reasonVersion {
		if conn, peer, err = b.dialWithVersion(ctx, addr, peerID, purpose, false); err == nil {
			b.unranged.note(node, time.Now())
		}
	}
	return conn, peer, err
}

// dialWithVersion connects and shakes hands.
func (b *Bus) dialWithVersion(ctx context.Context, addr, peerID string, purpose Purpose, ranged bool) (net.Conn, Peer, error) {
	raw, err := b.cfg.Network.Dial(ctx, addr)
	if err != nil {
		return nil, Peer{}, err
	}
	own, err := b.adopt(raw)
	if err != nil {
		return nil, Peer{}, err
	}
	stop := interrupt(ctx, own)
	conn, peer, err := dialHandshake(&b.cfg, own, peerID, purpose, ranged)
	if stop() && err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = own.SetDeadline(time.Time{})
	}
	if err != nil {
		_ = own.Close()
		var refused *RefusedError
		if ctx.Err() != nil && !errors.As(err, &refused) {
			err = fmt.Errorf("%w: %w", ctx.Err(), err)
		}
		return nil, Peer{}, err
	}
	own.reached(peer)
	b.cfg.Met(peer)
	return conn, peer, nil
}

// unrangedPeers are the nodes that have lately refused a hello that names versions. Such a node
// is tried anew after unrangedMemory: it may have been upgraded.
type unrangedPeers struct {
	mu    sync.Mutex
	until map[string]time.Time // by the node's id, or its address
}

const unrangedMemory = time.Minute

func (u *unrangedPeers) has(id string, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	until, known := u.until[id]
	if known && now.After(until) {
		delete(u.until, id)
		return false
	}
	return known
}

func (u *unrangedPeers) note(id string, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.until == nil {
		u.until = make(map[string]time.Time)
	}
	u.until[id] = now.Add(unrangedMemory)
}
