package replica

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A frame on a stream is its length (4 bytes, big endian, of what follows), its kind,
// and its payload.

type frameKind byte

const (
	frameOpen  frameKind = 1 // what the stream is for, from the sender
	frameBatch frameKind = 2 // sequence number (8 bytes), number of the range (4), a batch of the store
	frameAck   frameKind = 3 // sequence number up to which everything is applied
	frameFail  frameKind = 4 // why the receiver gives up, as text
)

const (
	frameHead = 5
	// maxFrame bounds what a peer can make us hold. A batch is a commit of one unit or
	// a chunk of a copy; longer values travel in pieces.
	maxFrame = 64 << 20
)

// ErrFrame says that a peer does not speak the protocol.
var ErrFrame = errors.New("bad frame")

func appendFrame(b []byte, kind frameKind, payload ...[]byte) []byte {
	n := 1
	for _, p := range payload {
		n += len(p)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(n))
	b = append(b, byte(kind))
	for _, p := range payload {
		b = append(b, p...)
	}
	return b
}

func sequence(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// readFrame reads one frame into buf, which it makes larger as bytes come, not as
// they are announced. The payload shares its memory.
func readFrame(r *bufio.Reader, buf []byte) (kind frameKind, payload, next []byte, err error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, buf, err
	}
	n := int(binary.BigEndian.Uint32(head[:4]))
	if n < 1 || n > maxFrame {
		return 0, nil, buf, fmt.Errorf("%w: %d bytes", ErrFrame, n)
	}
	n--
	buf = buf[:0]
	for len(buf) < n {
		part := min(n-len(buf), 1<<20)
		buf = append(buf, make([]byte, part)...)
		if _, err := io.ReadFull(r, buf[len(buf)-part:]); err != nil {
			return 0, nil, buf, err
		}
	}
	return frameKind(head[4]), buf, buf, nil
}

// sequenced takes the number off a payload.
func sequenced(payload []byte) (uint64, []byte, error) {
	if len(payload) < 8 {
		return 0, nil, fmt.Errorf("%w: no sequence number", ErrFrame)
	}
	return binary.BigEndian.Uint64(payload), payload[8:], nil
}
