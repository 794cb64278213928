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
	conn, peer, err := b.dialSecure(ctx, addr, peerID, purpose, ranged)
	var refused *RefusedError
	if both && ranged && errors.As(err, &refused) && refused.ByPeer && refused.Reason == reasonVersion {
		if conn, peer, err = b.dialSecure(ctx, addr, peerID, purpose, false); err == nil {
			b.unranged.note(node, time.Now())
		}
	}
	return conn, peer, err
}

// dialSecure connects and shakes hands, by TLS if there are certificates. While TLS is optional, a node that speaks none
// is dialled without.
func (b *Bus) dialSecure(ctx context.Context, addr, peerID string, purpose Purpose, ranged bool) (net.Conn, Peer, error) {
	if b.cfg.TLS == nil || !b.cfg.TLS.Optional {
		return b.dialOnce(ctx, addr, peerID, purpose, ranged, b.cfg.TLS != nil)
	}
	node := cmp.Or(peerID, addr)
	if b.plain.has(node, time.Now()) {
		conn, peer, err := b.dialOnce(ctx, addr, peerID, purpose, ranged, false)
		if !errors.Is(err, ErrTLS) {
			return conn, peer, err
		}
	}
	conn, peer, err := b.dialOnce(ctx, addr, peerID, purpose, ranged, true)
	if errors.Is(err, errNoTLS) {
		if conn, peer, err = b.dialOnce(ctx, addr, peerID, purpose, ranged, false); err == nil {
			b.plain.note(node, time.Now())
		}
	}
	return conn, peer, err
}

// dialOnce connects and shakes hands.
func (b *Bus) dialOnce(ctx context.Context, addr, peerID string, purpose Purpose, ranged, secure bool) (net.Conn, Peer, error) {
	raw, err := b.cfg.Network.Dial(ctx, addr)
	if err != nil {
		return nil, Peer{}, err
	}
	own, err := b.adopt(raw)
	if err != nil {
		return nil, Peer{}, err
	}
	stop := interrupt(ctx, own)
	var conn net.Conn = own
	if secure {
		conn, err = dialSecure(&b.cfg, own)
	}
	var peer Peer
	if err == nil {
		conn, peer, err = dialHandshake(&b.cfg, conn, peerID, purpose, ranged)
		err = alertRefusal(&b.cfg, err)
	}
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
	b.countPlain(peer)
	b.cfg.Met(peer)
	return conn, peer, nil
}

// olderPeers are the nodes that have lately refused something that older builds do not know, or nodes with older settings.
// Such a node is tried again after olderMemory: it may have been upgraded.
type olderPeers struct {
	mu    sync.Mutex
	until map[string]time.Time // by the node's id, or its address
}

const olderMemory = time.Minute

func (u *olderPeers) has(id string, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	until, known := u.until[id]
	if known && now.After(until) {
		delete(u.until, id)
		return false
	}
	return known
}

func (u *olderPeers) note(id string, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.until == nil {
		u.until = make(map[string]time.Time)
	}
	u.until[id] = now.Add(olderMemory)
}
