package rdb

import (
	"fmt"
	"math"
)

// StreamWithoutActive returns what stands before the footer of a payload in the form of Redis 7.0, for a
// stream in that of 7.2, which has the times at which consumers were active beside. Any other body is
// returned as it is.
func StreamWithoutActive(body []byte) ([]byte, error) {
	if len(body) == 0 || body[0] != typeStream3 {
		return body, nil
	}
	short, from := []byte{typeStream2}, 1
	r := streamReader{p: body[1:], enc: typeStream3, most: limit{bytes: math.MaxInt64}, visitor: ignoredStream{}}
	r.active = func(left int) {
		at := len(body) - left
		short = append(short, body[from:at]...)
		from = min(at+8, len(body))
	}
	if r.read(); r.err != nil {
		return nil, fmt.Errorf("convert stream: %w", r.err)
	}
	return append(short, body[from:]...), nil
}

// ignoredStream is told of a stream, and keeps nothing.
type ignoredStream struct{}

func (ignoredStream) Entry(StreamID, [][]byte) error      { return nil }
func (ignoredStream) Head(StreamHead) error               { return nil }
func (ignoredStream) Group(StreamGroup) error             { return nil }
func (ignoredStream) Consumer([]byte, int64, int64) error { return nil }
func (ignoredStream) Pending(StreamPending) error         { return nil }
func (ignoredStream) Released(StreamPending) error        { return nil }
