package bus

import (
	"crypto/ecdh"
	"crypto/rand"
	"fmt"
	"io"
	"net"
)

// Peer is the node at the other end, as its hello names it. With a cluster key
// it has proved that it knows the key, and with TLS that it has a certificate.
type Peer struct {
	ID string
	// Incarnation counts the peer's starts; Generation is 0 if it is in no cluster.
	Incarnation, Generation uint64
	// Purpose is what the connection was dialled for.
	Purpose Purpose
	// Version of the bus protocol is what both sides use on the connection.
	Version uint16
	// Secure reports that the connection is secured by certificates.
	Secure bool
}

// A handshake is one run of it, on either side.
type handshake struct {
	cfg    *Config
	conn   net.Conn
	in     io.Reader // of conn; what an acceptor has read already comes first
	bound  []byte    // what the proofs cover of the TLS connection; nil without TLS
	mine   hello
	theirs hello
	// The hellos as they travelled.
	sent, received []byte
	share          *ecdh.PrivateKey // nil without a key
	secret         *secret          // nil without a key
	other          *secret          // of an acceptor with another key that the dialler may prove; else nil
}

// dialHandshake runs the dialler's side on a connection whose deadline is set. It
// returns the connection to go on with. Unless ranged, it speaks unrangedVersion.
func dialHandshake(cfg *Config, conn net.Conn, wantID string, purpose Purpose, ranged bool) (net.Conn, Peer, error) {
	h, err := newHandshake(cfg, conn)
	if err != nil {
		return nil, Peer{}, err
	}
	h.mine = cfg.hello(purpose, wantID, ranged)
	if err := h.sendHello(); err != nil {
		return nil, Peer{}, err
	}
	if err := h.receiveHello(); err != nil {
		return nil, Peer{}, err
	}
	if err := h.checkPeer(); err != nil {
		return nil, Peer{}, err
	}
	if err := h.agree(h.sent, h.received); err != nil {
		return nil, Peer{}, err
	}
	if err := h.sendProof(frameProof, labelDialler); err != nil {
		return nil, Peer{}, err
	}
	if err := h.checkProof(frameWelcome, labelAcceptor); err != nil {
		return nil, Peer{}, err
	}
	return h.finish(labelDialler, labelAcceptor)
}

// acceptHandshake runs the acceptor's side. serves tells which purposes there are.
func acceptHandshake(cfg *Config, conn net.Conn, serves func(Purpose) bool) (net.Conn, Peer, error) {
	h, err := newHandshake(cfg, conn)
	if err != nil {
		return nil, Peer{}, err
	}
	if err := h.receiveHello(); err != nil {
		return nil, Peer{}, err
	}
	h.mine = cfg.hello(h.theirs.purpose, "", h.theirs.ranged && cfg.Versions.Newest > unrangedVersion)
	if err := h.checkPeer(); err != nil {
		return nil, Peer{}, err
	}
	if p := h.theirs.purpose; !serves(p) {
		return nil, Peer{}, h.refuse(reasonPurpose, fmt.Sprintf("node %q does not serve connections for %s", h.mine.id, p))
	}
	if err := h.sendHello(); err != nil {
		return nil, Peer{}, err
	}
	if err := h.agree(h.received, h.sent); err != nil {
		return nil, Peer{}, err
	}
	if err := h.agreeOther(h.received, h.sent); err != nil {
		return nil, Peer{}, err
	}
	if err := h.checkProof(frameProof, labelDialler); err != nil {
		return nil, Peer{}, err
	}
	if err := h.sendProof(frameWelcome, labelAcceptor); err != nil {
		return nil, Peer{}, err
	}
	return h.finish(labelAcceptor, labelDialler)
}

func newHandshake(cfg *Config, conn net.Conn) (*handshake, error) {
	h := &handshake{cfg: cfg, conn: conn, in: conn}
	if opened, ok := conn.(*openedConn); ok {
		h.conn = opened.Conn
	}
	var err error
	if h.bound, err = binding(h.conn); err != nil {
		return nil, fmt.Errorf("handshake: %w", err)
	}
	return h, nil
}

func (h *handshake) sendHello() error {
	if h.mine.keyed {
		var err error
		if h.share, err = ecdh.X25519().GenerateKey(rand.Reader); err != nil {
			return fmt.Errorf("handshake: %w", err)
		}
		copy(h.mine.share[:], h.share.PublicKey().Bytes())
	}
	h.sent = h.mine.encode()
	return writeFrame(h.conn, frameHello, h.sent)
}

func (h *handshake) receiveHello() error {
	var err error
	if h.received, err = readFrame(h.in, frameHello); err != nil {
		return err
	}
	h.theirs, err = decodeHello(h.received, h.cfg.Versions.Newest)
	return err
}

// checkPeer refuses a peer that does not belong to this node's cluster, and every peer while
// the node admits none.
func (h *handshake) checkPeer() error {
	if err := h.cfg.Admit(); err != nil {
		return h.refuse(reasonKey, fmt.Sprintf("node %q: %v", h.mine.id, err))
	}
	reason, text := compare(&h.mine, &h.theirs)
	if h.bound == nil && h.cfg.TLS != nil && !h.cfg.TLS.Optional {
		if reason |= reasonTLS; text != "" {
			text += "; "
		}
		text += fmt.Sprintf("node %q demands TLS with a certificate of the cluster's authority (cluster-tls-cert), node %q speaks none", h.mine.id, h.theirs.id)
	}
	if reason != 0 {
		return h.refuse(reason, text)
	}
	return nil
}

func (h *handshake) refuse(reason Reason, text string) error {
	// The peer may be gone: what counts here is the reason.
	_ = writeRefusal(h.conn, reason, text)
	return &RefusedError{Reason: reason, Text: text}
}

func (h *handshake) agree(dialler, acceptor []byte) error {
	if !h.mine.keyed {
		return nil
	}
	var err error
	h.secret, err = newSecret(h.cfg.Key, h.share, h.theirs.share[:], transcript(dialler, acceptor, h.bound))
	return err
}

// agreeOther is agree for the other key that an acceptor takes. Which of the two is in use, the dialler's proof tells.
func (h *handshake) agreeOther(dialler, acceptor []byte) (err error) {
	if h.secret != nil && len(h.cfg.AcceptKey) > 0 {
		h.other, err = newSecret(h.cfg.AcceptKey, h.share, h.theirs.share[:], transcript(dialler, acceptor, h.bound))
	}
	return err
}

func (h *handshake) sendProof(kind frameKind, label string) error {
	if h.secret == nil {
		return writeFrame(h.conn, kind, nil)
	}
	proof, err := h.secret.proof(label)
	if err != nil {
		return fmt.Errorf("handshake: %w", err)
	}
	return writeFrame(h.conn, kind, proof)
}

func (h *handshake) checkProof(kind frameKind, label string) error {
	proof, err := readFrame(h.in, kind)
	if err != nil {
		return err
	}
	if h.other != nil && h.other.proves(label, proof) {
		h.secret = h.other
		return nil
	}
	if h.secret != nil && !h.secret.proves(label, proof) {
		return h.refuse(reasonKey, fmt.Sprintf("nodes %q and %q have different cluster keys (requirepass is in the place of one that is not set)", h.mine.id, h.theirs.id))
	}
	return nil
}

// finish seals the connection if there is a key, and no TLS that does so.
func (h *handshake) finish(mine, theirs string) (net.Conn, Peer, error) {
	peer := Peer{
		ID:          h.theirs.id,
		Incarnation: h.theirs.incarnation,
		Generation:  h.theirs.generation,
		Purpose:     h.theirs.purpose,
		Version:     h.mine.versions.agree(h.theirs.versions),
		Secure:      h.bound != nil,
	}
	if h.secret == nil || peer.Secure {
		return h.conn, peer, nil
	}
	sealing, err := h.secret.derive(mine)
	if err != nil {
		return nil, Peer{}, fmt.Errorf("handshake: %w", err)
	}
	opening, err := h.secret.derive(theirs)
	if err != nil {
		return nil, Peer{}, fmt.Errorf("handshake: %w", err)
	}
	conn, err := newSealedConn(h.conn, sealing, opening)
	return conn, peer, err
}
