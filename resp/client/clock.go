package client

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"
)

// A peerClock knows how far the peer's clock is ahead of this node's, from below.
//
// The peer writes its time with each batch of replies. That time, less this node's time when
// the frame has been read, is the offset less the time that the frame took: never more than the
// offset. The best sample is kept, and lowered as it ages, since clocks drift apart.
//
// Invariant: a deadline that is moved to the peer's clock by this offset is never later than the
// deadline itself, however long frames travel.
type peerClock struct {
	least time.Duration // the offset was not less
	at    time.Duration // when that was known, on this node's clock
}

// maxDrift bounds how far two clocks drift apart: by less than one part in so many. Clocks are
// off by some 100 parts in a million, and are slewed by 500 at most.
const maxDrift = 1000

// clockPeriod is how often the serving side tells its time if it has nothing else to tell: the
// offset is too low by 10 ms at most for its age.
const clockPeriod = 10 * time.Second

// newPeerClock knows a first sample: see sample.
func newPeerClock(theirs, mine time.Duration) peerClock {
	return peerClock{least: theirs - mine, at: mine}
}

// sample takes in the peer's time, and this node's when it has read it or later.
func (p *peerClock) sample(theirs, mine time.Duration) {
	if offset := theirs - mine; offset >= p.offset(mine) {
		*p = newPeerClock(theirs, mine)
	}
}

// offset is by how much the peer's clock is ahead of this node's at least, at a time of this
// node's.
func (p *peerClock) offset(mine time.Duration) time.Duration {
	age := max(mine-p.at, 0)
	return p.least - (age+maxDrift-1)/maxDrift
}

// deadline is the time of the peer's clock at which so much time has passed from a time of this
// node's on, or an earlier one. It is never 0, which stands for no deadline.
func (p *peerClock) deadline(mine, left time.Duration) time.Duration {
	end := mine + left
	if d := end + p.offset(end); d != 0 { // the clocks drift until then
		return d
	}
	return -1
}

// readClock reads the clock frame that a connection begins with. It ends with ctx.
func readClock(ctx context.Context, conn net.Conn) (theirs time.Duration, err error) {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })
	var b [clockFrame]byte
	_, err = io.ReadFull(conn, b[:])
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		return 0, fmt.Errorf("read the peer's clock: %w", err)
	}
	if n := binary.BigEndian.Uint32(b[:]); n != clockFrame-lengthSize {
		return 0, fmt.Errorf("read the peer's clock: %w: a frame of %d bytes", ErrProtocol, n)
	}
	frame, err := parseReply(b[:])
	if err == nil && frame.status != statusClock {
		err = fmt.Errorf("%w: status %d in its place", ErrProtocol, frame.status)
	}
	if err != nil {
		return 0, fmt.Errorf("read the peer's clock: %w", err)
	}
	return frame.clock(), nil
}

// monotonic is a clock for those who give none. It may stand still while the machine is
// suspended.
func monotonic() time.Duration { return time.Duration(now()) }
