package frame

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A Kind is the kind of a frame.
//
// A frame is its length (4 bytes, big endian, without itself), its kind and its payload. After the
// first frame, a sender's payloads begin with a sequence number (8 bytes, big endian, from 1), by
// which they are acknowledged.
type Kind byte

// The kinds of frames, by the side that sends them.
const (
	// From the sender:
	Open  Kind = 1 // what the stream is for
	Batch Kind = 2 // number of the range (4), a batch of the store
	Begin Kind = 5 // the ranges that follow, which batches name by their number
	Ask   Kind = 6 // number of the range (4), a question of the store
	// From the receiver:
	Ack    Kind = 3 // sequence number up to which everything is durable
	Fail   Kind = 4 // why the receiver gives up, as text
	Ready  Kind = 7 // it takes part
	Answer Kind = 8 // an answer to the last question
	Busy   Kind = 9 // it takes no part now, but will later
)

const (
	// HeadSize is the size of a frame without its payload, in bytes.
	HeadSize = 5
	// MaxSize bounds what a peer can make this node hold. A batch is the commit of one unit, as
	// long as a client's request may be, or a chunk of a copy.
	MaxSize = 1 << 30
)

// ErrMalformed says that a peer does not follow the protocol.
var ErrMalformed = errors.New("bad frame")

// AppendHead appends the beginning of a frame with a payload of n bytes.
func AppendHead(b []byte, kind Kind, n int) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(n+1)), byte(kind))
}

// Append appends a frame whose payload is the given parts, one after the other.
func Append(b []byte, kind Kind, payload ...[]byte) []byte {
	n := 0
	for _, p := range payload {
		n += len(p)
	}
	b = AppendHead(b, kind, n)
	for _, p := range payload {
		b = append(b, p...)
	}
	return b
}

// Sequence returns the 8 bytes of a sequence number.
func Sequence(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// Read reads one frame into buf, which grows with the bytes that arrive, not with the announced
// length. payload shares its memory.
func Read(r *bufio.Reader, buf []byte) (kind Kind, payload, next []byte, err error) {
	var head [HeadSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, buf, err
	}
	n := int(binary.BigEndian.Uint32(head[:4]))
	if n < 1 || n > MaxSize {
		return 0, nil, buf, fmt.Errorf("%w: %d bytes", ErrMalformed, n)
	}
	n--
	buf = buf[:0]
	for len(buf) < n {
		part := min(n-len(buf), max(1<<20, cap(buf)-len(buf)))
		at := len(buf)
		if cap(buf)-at < part {
			buf = append(buf, make([]byte, part)...)
		} else {
			buf = buf[:at+part]
		}
		if _, err := io.ReadFull(r, buf[at:]); err != nil {
			return 0, nil, buf, err
		}
	}
	return Kind(head[4]), buf, buf, nil
}

// CutSequence splits the sequence number off a payload.
func CutSequence(payload []byte) (uint64, []byte, error) {
	if len(payload) < 8 {
		return 0, nil, fmt.Errorf("%w: no sequence number", ErrMalformed)
	}
	return binary.BigEndian.Uint64(payload), payload[8:], nil
}

// CutRange splits the number of a range off a payload.
func CutRange(payload []byte) (int, []byte, error) {
	if len(payload) < 4 {
		return 0, nil, fmt.Errorf("%w: of no range", ErrMalformed)
	}
	return int(binary.BigEndian.Uint32(payload)), payload[4:], nil
}

const (
	PartSize = 64 << 10 // size of a buffer for several short frames
	LongBody = 16 << 10 // a body of this size or more is written from its own buffer
)
