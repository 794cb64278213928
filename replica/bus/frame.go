package bus

import (
	"encoding/binary"
	"fmt"
	"io"
)

// The frames of the handshake: magic, kind, length, body.

const (
	magic     = "rsbus"
	frameHead = len(magic) + 1 + 2
	maxFrame  = 4 << 10 // bytes of a body
)

type frameKind byte

const (
	frameHello   frameKind = 1
	frameRefusal frameKind = 2 // reason, text
	frameProof   frameKind = 3
	frameWelcome frameKind = 4 // the acceptor's proof
)

func appendFrame(b []byte, kind frameKind, body []byte) []byte {
	b = append(b, magic...)
	b = append(b, byte(kind))
	b = binary.BigEndian.AppendUint16(b, uint16(len(body)))
	return append(b, body...)
}

func writeFrame(w io.Writer, kind frameKind, body []byte) error {
	if len(body) > maxFrame {
		return fmt.Errorf("%w: frame of %d bytes", ErrProtocol, len(body))
	}
	_, err := w.Write(appendFrame(nil, kind, body))
	return err
}

// readFrame reads exactly one frame, nothing beyond. A refusal is returned as the
// error that it stands for.
func readFrame(r io.Reader, want frameKind) ([]byte, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, fmt.Errorf("connection ended in the handshake: %w", err)
	}
	if string(head[:len(magic)]) != magic {
		return nil, ErrProtocol
	}
	kind := frameKind(head[len(magic)])
	n := int(binary.BigEndian.Uint16(head[len(magic)+1:]))
	if kind != want && kind != frameRefusal {
		return nil, fmt.Errorf("%w: frame of kind %d instead of %d", ErrProtocol, kind, want)
	}
	if n > maxFrame {
		return nil, fmt.Errorf("%w: frame of %d bytes", ErrProtocol, n)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, fmt.Errorf("connection ended in the handshake: %w", err)
	}
	if kind == frameRefusal {
		if n < 2 {
			return nil, fmt.Errorf("%w: refusal of %d bytes", ErrProtocol, n)
		}
		return nil, &RefusedError{Reason: Reason(binary.BigEndian.Uint16(body)), Text: printable(body[2:]), ByPeer: true}
	}
	return body, nil
}

func writeRefusal(w io.Writer, reason Reason, text string) error {
	if len(text) > maxFrame-2 {
		text = text[:maxFrame-2]
	}
	return writeFrame(w, frameRefusal, append(binary.BigEndian.AppendUint16(nil, uint16(reason)), text...))
}
