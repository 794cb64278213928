package node

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"

	"github.com/ringside-kv/ringside/replica/bus"
	"github.com/ringside-kv/ringside/replica/table"
)

// maxMessage bounds a message to a table, in bytes.
const maxMessage = 64 << 20

// askTable takes a message to another node's table, if that is of the same cluster.
func (c *cluster) askTable(ctx context.Context, node string, message []byte) ([]byte, error) {
	conn, peer, err := c.dialPeer(ctx, node, bus.Control)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", table.ErrUnsent, err)
	}
	if own := c.entry.generation(); peer.Generation != own {
		_ = conn.Close()
		return nil, fmt.Errorf("%w: %s is in generation %d (0 is none), this node has chosen %d", table.ErrUnsent, node, peer.Generation, own)
	}
	return exchange(ctx, conn, message)
}

// exchange sends a message, reads the reply and closes the connection.
func exchange(ctx context.Context, conn net.Conn, message []byte) ([]byte, error) {
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if err := writeMessage(conn, message); err != nil {
		return nil, err
	}
	return readMessage(conn)
}

func (c *cluster) serveControl(peer bus.Peer, conn net.Conn) {
	defer func() { _ = conn.Close() }()
	for {
		message, err := readMessage(conn)
		if err != nil {
			return
		}
		reply, err := c.reply(peer.ID, message)
		if err != nil || writeMessage(conn, reply) != nil {
			return
		}
	}
}

func writeMessage(w io.Writer, message []byte) error {
	_, err := w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...))
	return err
}

func readMessage(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := int64(binary.BigEndian.Uint32(head[:]))
	if n > maxMessage {
		return nil, fmt.Errorf("a message of %d bytes", n)
	}
	message, err := io.ReadAll(io.LimitReader(r, n))
	if err == nil && int64(len(message)) < n {
		err = io.ErrUnexpectedEOF
	}
	return message, err
}
