package tlsgossip

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"net"
	"net/netip"
	"slices"
	"time"
)

const (
	// maxQueue is how many packets wait for one node, or for this one, before more are dropped, or the sender waits.
	maxQueue = 256
	// laneAge is for how long packets are sent on one connection.
	laneAge = 10 * time.Second
	// laneIdle ends the connection to a node that is sent nothing.
	laneIdle = 30 * time.Second
	// laneEnd ends a connection for packets at the receiver, however much comes: senders replace theirs earlier.
	laneEnd = 2 * laneIdle
)

type packet struct {
	text []byte
	from *net.UDPAddr
}

// A lane sends packets to one node. Its goroutine removes it when there is nothing to send for a while.
type lane struct {
	to    string
	queue chan []byte // filled under the lock of the endpoint
}

// send queues a packet, or drops it if too many wait.
func (e *endpoint) send(text []byte, to string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.conns == nil {
		return net.ErrClosed
	}
	l := e.lanes[to]
	if l == nil {
		l = &lane{to: to, queue: make(chan []byte, maxQueue)}
		e.lanes[to] = l
		e.running.Go(func() { e.run(l) })
	}
	select {
	case l.queue <- appendPacket(nil, text):
	default:
	}
	return nil
}

func (e *endpoint) run(l *lane) {
	w := laneWriter{e: e, to: l.to}
	defer w.end()
	idle := time.NewTimer(laneIdle)
	defer idle.Stop()
	for {
		var frames []byte
		select {
		case frames = <-l.queue:
		case <-e.ctx.Done():
			return
		case <-idle.C:
			e.mu.Lock()
			unused := len(l.queue) == 0
			if unused {
				delete(e.lanes, l.to)
			}
			e.mu.Unlock()
			if unused {
				return
			}
			idle.Reset(laneIdle)
			continue
		}
		idle.Reset(laneIdle)
		for more := true; more && len(frames) < math.MaxUint16; {
			select {
			case next := <-l.queue:
				frames = append(frames, next...)
			default:
				more = false
			}
		}
		if err := w.write(frames); err != nil {
			e.n.Logger.Debug("gossip: packets are dropped", "node", l.to, "err", err)
			l.drop()
		}
	}
}

// A laneWriter has the connection of a lane, if there is one. Close of the endpoint ends it.
type laneWriter struct {
	e    *endpoint
	to   string
	conn net.Conn
	born time.Time
	stop func() bool
}

func (w *laneWriter) end() {
	if w.conn != nil {
		w.stop()
		_ = w.conn.Close()
		w.conn = nil
	}
}

// write sends frames, on a new connection if there is none, or if the one there is turns out to have ended.
func (w *laneWriter) write(frames []byte) error {
	if w.conn != nil && time.Since(w.born) > laneAge {
		w.end()
	}
	if w.conn != nil {
		if err := w.writeOnce(frames); err == nil {
			return nil
		}
	}
	ctx, cancel := context.WithTimeout(w.e.ctx, handshakeTimeout)
	conn, err := w.e.n.dial(ctx, w.to, kindPacket, w.e.port)
	cancel()
	if err != nil {
		return err
	}
	w.conn, w.born = conn, time.Now()
	w.stop = context.AfterFunc(w.e.ctx, func() { _ = conn.Close() })
	return w.writeOnce(frames)
}

func (w *laneWriter) writeOnce(frames []byte) error {
	_ = w.conn.SetWriteDeadline(time.Now().Add(handshakeTimeout))
	_, err := w.conn.Write(frames)
	if err != nil {
		w.end()
	}
	return err
}

// drop empties the queue: what waits for a node that is not reached is old when it is.
func (l *lane) drop() {
	for {
		select {
		case <-l.queue:
		default:
			return
		}
	}
}

// receive passes packets on until the connection ends.
func (e *endpoint) receive(conn net.Conn, port uint16) {
	at, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return
	}
	from := net.UDPAddrFromAddrPort(netip.AddrPortFrom(at.Addr().Unmap(), port))
	in := bufio.NewReader(conn)
	_ = conn.SetReadDeadline(time.Now().Add(laneEnd))
	for {
		text, err := readPacket(in)
		if err != nil {
			return
		}
		select {
		case e.packets <- packet{text, from}:
		case <-e.ctx.Done():
			return
		}
	}
}

// appendPacket appends a frame: the length in two bytes, then the packet.
func appendPacket(b, text []byte) []byte {
	return append(binary.BigEndian.AppendUint16(slices.Grow(b, 2+len(text)), uint16(len(text))), text...)
}

func readPacket(in io.Reader) ([]byte, error) {
	var head [2]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil, err
	}
	text := make([]byte, binary.BigEndian.Uint16(head[:]))
	if _, err := io.ReadFull(in, text); err != nil {
		return nil, err
	}
	return text, nil
}

// packetConn is the endpoint for packets.
type packetConn struct{ e *endpoint }

// ReadFrom implements net.PacketConn.
func (c *packetConn) ReadFrom(b []byte) (int, net.Addr, error) {
	select {
	case p := <-c.e.packets:
		return copy(b, p.text), p.from, nil
	case <-c.e.ctx.Done():
		return 0, nil, net.ErrClosed
	}
}

// WriteTo implements net.PacketConn. It does not wait for the node.
func (c *packetConn) WriteTo(b []byte, addr net.Addr) (int, error) {
	if len(b) > math.MaxUint16 {
		return 0, errTooLong
	}
	if err := c.e.send(b, addr.String()); err != nil {
		return 0, err
	}
	return len(b), nil
}

var errTooLong = errors.New("a packet of more than 64 KiB")

// Close implements net.PacketConn.
func (c *packetConn) Close() error { return c.e.Close() }

// LocalAddr implements net.PacketConn.
func (c *packetConn) LocalAddr() net.Addr {
	at, err := netip.ParseAddrPort(c.e.raw.Addr().String())
	if err != nil {
		return c.e.raw.Addr()
	}
	return net.UDPAddrFromAddrPort(at)
}

// SetDeadline implements net.PacketConn. Gossip sets none.
func (c *packetConn) SetDeadline(time.Time) error { return nil }

// SetReadDeadline implements net.PacketConn. Gossip sets none.
func (c *packetConn) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline implements net.PacketConn. Gossip sets none.
func (c *packetConn) SetWriteDeadline(time.Time) error { return nil }
