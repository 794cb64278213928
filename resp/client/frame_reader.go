package client

import (
	"encoding/binary"
	"fmt"
	"io"
)

const (
	readBuffer = 64 << 10 // bytes
	// A buffer that grew for one frame is kept up to this size.
	keptBuffer = 1 << 20
)

// A frameReader cuts a connection into frames. It grows only as bytes arrive, so
// that a length alone costs no memory.
type frameReader struct {
	from       io.Reader
	maxFrame   int // as the length field counts
	buf        []byte
	start, end int
}

func newFrameReader(from io.Reader, maxFrame int) *frameReader {
	return &frameReader{from: from, maxFrame: maxFrame, buf: make([]byte, readBuffer)}
}

// next returns the next frame that has been read whole, nil if there is none yet. It
// is valid until fill is called.
func (r *frameReader) next() ([]byte, error) {
	need, err := r.need()
	if err != nil || r.end-r.start < need {
		return nil, err
	}
	frame := r.buf[r.start : r.start+need]
	r.start += need
	return frame, nil
}

// need is the size of the next frame, as far as it is known.
func (r *frameReader) need() (int, error) {
	if r.end-r.start < lengthSize {
		return lengthSize + 1, nil
	}
	n := binary.BigEndian.Uint32(r.buf[r.start:])
	if int64(n) > int64(r.maxFrame) {
		return 0, fmt.Errorf("%w: frame of %d bytes, %d are allowed", ErrProtocol, n, r.maxFrame)
	}
	if n == 0 {
		return 0, fmt.Errorf("%w: empty frame", ErrProtocol)
	}
	return lengthSize + int(n), nil
}

// arriving tells whether a frame is arriving that is larger than the buffer was made for,
// and the number that it begins with.
func (r *frameReader) arriving() (id uint64, large bool) {
	need, err := r.need()
	if err != nil || need <= readBuffer || r.end-r.start < lengthSize+8 {
		return 0, false
	}
	return binary.BigEndian.Uint64(r.buf[r.start+lengthSize:]), true
}

// fill reads once, whatever comes. It makes room first.
func (r *frameReader) fill() error {
	need, err := r.need()
	if err != nil {
		return err
	}
	have := r.end - r.start
	switch {
	case have == 0:
		r.start, r.end = 0, 0
		if len(r.buf) > keptBuffer {
			r.buf = make([]byte, readBuffer)
		}
	case r.end < len(r.buf) && need <= len(r.buf)-r.start:
	case r.start > 0:
		r.end = copy(r.buf, r.buf[r.start:r.end])
		r.start = 0
	case r.end == len(r.buf): // all of it is the beginning of one frame
		grown := make([]byte, min(need, 2*len(r.buf)))
		r.end = copy(grown, r.buf)
		r.buf = grown
	}
	n, err := r.from.Read(r.buf[r.end:])
	r.end += n
	if n > 0 {
		return nil // an error comes again
	}
	if err == io.EOF && r.end > r.start {
		err = io.ErrUnexpectedEOF
	}
	return err
}
