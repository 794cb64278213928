package bus

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
)

// TLS secures the connections of a bus by certificates, which both sides show before they shake hands. Its
// functions are called once for each connection, from any goroutine, so that certificates may change meanwhile;
// they must not block.
type TLS struct {
	// Client returns the configuration of a side that dials, Server that of one that accepts. Both have to demand
	// and to verify the certificate of the peer, and TLS 1.3.
	Client, Server func() *tls.Config
	// Optional has the bus accept connections without TLS as well, and dial without it a node that speaks none.
	Optional bool
}

// A secureConn is a TLS connection whose end is that of the connection below: it says no farewell, which would have to
// wait for a peer that does not read.
type secureConn struct {
	*tls.Conn
	own dialledConn
}

// Close implements net.Conn.
func (c *secureConn) Close() error { return c.own.Close() }

// PeerIncarnation is that of what carries the connection.
func (c *secureConn) PeerIncarnation() uint64 { return c.own.PeerIncarnation() }

// PeerVersion is that of what carries the connection.
func (c *secureConn) PeerVersion() uint16 { return c.own.PeerVersion() }

// binding is known to the two ends of a TLS connection alone. The proof of the cluster key covers it, so that
// nothing between the nodes that has a certificate, but not the key, can pass a proof on.
func binding(conn net.Conn) ([]byte, error) {
	c, ok := conn.(*secureConn)
	if !ok {
		return nil, nil
	}
	state := c.ConnectionState()
	return state.ExportKeyingMaterial("EXPORTER-ringside-bus-1", nil, 32)
}

// The first byte of a TLS record with a message of the handshake. That of magic is another.
const tlsRecord = 0x16

// An openedConn is an accepted connection of which the beginning was read.
type openedConn struct {
	net.Conn
	in io.Reader
}

// Read implements net.Conn.
func (c *openedConn) Read(p []byte) (int, error) { return c.in.Read(p) }

// acceptSecure finds out whether the peer speaks TLS, and shows and verifies certificates if it does. It returns the
// connection to shake hands on. The deadline of own is set.
func acceptSecure(cfg *Config, own dialledConn) (net.Conn, error) {
	var first [1]byte
	if _, err := io.ReadFull(own, first[:]); err != nil {
		return nil, fmt.Errorf("connection ended in the handshake: %w", err)
	}
	opened := &openedConn{own, io.MultiReader(bytes.NewReader(first[:]), own)}
	if first[0] != tlsRecord {
		return opened, nil // checkPeer decides whether that is enough
	}
	if cfg.TLS == nil {
		// The peer finds magic in the place of a record, and knows what it met.
		return nil, refuseTLS(own, fmt.Sprintf("node %q has no certificate for other nodes (cluster-tls-cert), the peer speaks TLS", cfg.ID))
	}
	secure := tls.Server(opened, cfg.TLS.Server())
	if err := secure.Handshake(); err != nil {
		err = handshakeRefusal(cfg, err)
		if errors.Is(err, ErrTLS) {
			drain(own)
		}
		return nil, err
	}
	return &secureConn{secure, own}, nil
}

// refuseTLS reads the rest of the record that has begun and refuses the peer. A system that closes a connection with
// bytes that were not read makes the other side lose what was sent last.
func refuseTLS(conn net.Conn, text string) error {
	var head [4]byte // version and length
	if _, err := io.ReadFull(conn, head[:]); err == nil {
		_, _ = io.CopyN(io.Discard, conn, int64(binary.BigEndian.Uint16(head[2:])))
	}
	_ = writeRefusal(conn, reasonTLS, text)
	return &RefusedError{Reason: reasonTLS, Text: text}
}

// drain reads what a peer may have sent after its certificate, until it has read why it was refused and hangs up. The
// deadline of the handshake bounds the wait.
func drain(conn net.Conn) { _, _ = io.CopyN(io.Discard, conn, 2*int64(maxFrame)) }

// dialSecure shows and verifies certificates as the side that has dialled. It returns errNoTLS if the peer speaks no
// TLS, as far as this side can tell.
func dialSecure(cfg *Config, own dialledConn) (net.Conn, error) {
	secure := tls.Client(own, cfg.TLS.Client())
	err := secure.Handshake()
	if err == nil {
		return &secureConn{secure, own}, nil
	}
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &record) && string(record.RecordHeader[:]) == magic:
		return nil, fmt.Errorf("%w: %w", errNoTLS, &RefusedError{Reason: reasonTLS, Text: "it answers without TLS", ByPeer: true})
	case ended(err): // as a build does that knows no TLS between nodes
		return nil, fmt.Errorf("%w: %w", errNoTLS, err)
	}
	return nil, handshakeRefusal(cfg, err)
}

// errNoTLS: the peer hung up on TLS, or answered in the protocol without.
var errNoTLS = errors.New("the peer speaks no TLS between nodes (cluster-tls-cert), or has gone")

// handshakeRefusal makes a refusal of an error of a TLS handshake, unless it is one of the connection below.
func handshakeRefusal(cfg *Config, err error) error {
	var op *net.OpError
	lost := errors.As(err, &op) && op.Op != remoteAlert && op.Op != "local error"
	if lost || ended(err) || isTimeout(err) || errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrClosedPipe) {
		return fmt.Errorf("connection ended in the TLS handshake: %w", err)
	}
	return &RefusedError{Reason: reasonTLS, Text: fmt.Sprintf("TLS with node %q: %v", cfg.ID, err), ByPeer: op != nil && op.Op == remoteAlert}
}

// remoteAlert is what the errors of package tls call an alert of the peer.
const remoteAlert = "remote error"

// alertRefusal makes a refusal of an alert that comes after the TLS handshake, and leaves other errors as they are: a
// side that has dialled ends its handshake before the peer has verified its certificate.
func alertRefusal(cfg *Config, err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == remoteAlert {
		return handshakeRefusal(cfg, op)
	}
	return err
}

// ended reports whether the peer closed the connection without a word.
func ended(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}
