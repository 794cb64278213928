package replica

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
)

// Receive is the other end of a [Stream]: open is told the stream's purpose, and then
// apply is given each batch in order, with the number of its range; it may not keep the
// memory. What apply has
// returned for is acknowledged. Receive returns when the sender ends the stream, with
// nil, or when something fails, and closes the connection.
func Receive(conn net.Conn, open func(purpose []byte) error, apply func(r int, batch []byte) error) error {
	defer func() { _ = conn.Close() }()
	r := bufio.NewReaderSize(conn, 256<<10)
	kind, payload, buf, err := readFrame(r, nil)
	if err != nil {
		return fmt.Errorf("stream: %w", err)
	}
	if kind != frameOpen {
		return giveUp(conn, fmt.Errorf("%w: kind %d at the beginning", ErrFrame, kind))
	}
	if err := open(payload); err != nil {
		return giveUp(conn, err)
	}
	var ack []byte
	for applied := uint64(0); ; {
		kind, payload, buf, err = readFrame(r, buf)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, net.ErrClosed):
			return nil
		case err != nil:
			return fmt.Errorf("stream: %w", err)
		case kind != frameBatch:
			return giveUp(conn, fmt.Errorf("%w: kind %d in the place of a batch", ErrFrame, kind))
		}
		n, batch, err := sequenced(payload)
		if err != nil {
			return giveUp(conn, err)
		}
		if n != applied+1 {
			return giveUp(conn, fmt.Errorf("%w: batch %d does not follow %d", ErrFrame, n, applied))
		}
		if len(batch) < 4 {
			return giveUp(conn, fmt.Errorf("%w: a batch of no range", ErrFrame))
		}
		if err := apply(int(binary.BigEndian.Uint32(batch)), batch[4:]); err != nil {
			return giveUp(conn, err)
		}
		applied = n
		if r.Buffered() > frameHead { // more is there: one acknowledgement for all
			continue
		}
		ack = appendFrame(ack[:0], frameAck, sequence(applied))
		if _, err := conn.Write(ack); err != nil {
			return fmt.Errorf("stream: %w", err)
		}
	}
}

// giveUp tells the sender why.
func giveUp(conn net.Conn, why error) error {
	_, _ = conn.Write(appendFrame(nil, frameFail, []byte(why.Error())))
	return why
}
