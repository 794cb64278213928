package replica

import (
	"context"
	"errors"
	"time"

	"github.com/ringside-kv/ringside/replica/feed"
	"github.com/ringside-kv/ringside/replica/internal/locks"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

const (
	// chunkBytes is the approximate size of one step of a copy, which holds latches.
	chunkBytes = 256 << 10
	// busyRequests is the rate of requests, per second, at which a node counts as busy. Its copies
	// then rest for maxRestFactor times as long as they work; in proportion with fewer requests.
	busyRequests  = 5_000
	maxRestFactor = 4
	// pollInterval is the longest wait of a copy before it looks again whether it may continue.
	pollInterval = 50 * time.Millisecond
)

// portionCopy is a running copy of a portion. Every change of the part already sent follows on the
// same stream.
type portionCopy struct {
	e *Engine
	t *transfer
	h *table.Handoff
	p *portion

	out    []OutgoingCopy
	st     *table.State // that was checked last
	epochs rowEpochs    // when the copy began
}

// close ends the taps.
func (c *portionCopy) close() {
	c.e.cfg.Store.EndCopies(c.out)
	c.out = nil
}

// copyAll sends all entries of the ranges. The taps send later changes until close. Ranges in which
// a unit holds a latch for long leave the portion; the error is errOccupied if no range remains.
func (c *portionCopy) copyAll(ctx context.Context) error {
	sink := func(i int, batch []byte) { _ = c.t.stream.Send(i, batch) } // Drained returns the error
	var err error
	if c.out, err = c.e.cfg.Store.StartCopies(c.p.ranges, sink, c.t.stream.Pace); err != nil {
		return err
	}
	var occupied []ring.Range
	for i, r := range c.p.ranges {
		err := c.copyRange(ctx, i, c.out[i])
		if errors.Is(err, ErrOccupied) {
			c.out[i].Close() // the receiver stays a learner; digests show later what it has
			occupied = append(occupied, r)
			continue
		}
		if err != nil {
			return err
		}
	}
	c.t.occupied = append(c.t.occupied, occupied...)
	if c.p.ranges = withoutRanges(c.p.ranges, occupied); len(c.p.ranges) == 0 {
		return errOccupied
	}
	return c.t.stream.Drained(ctx)
}

// copyRange copies one range.
func (c *portionCopy) copyRange(ctx context.Context, i int, out OutgoingCopy) error {
	keys, bytes := int64(0), int64(0)
	for done := false; !done; {
		for question := out.Ask(); question != nil; question = out.Ask() {
			answer, err := c.t.stream.Ask(ctx, i, question)
			if err == nil {
				err = out.Answer(answer)
			}
			if err != nil {
				return err
			}
		}
		limit, err := c.waitForPermit(ctx)
		if err != nil {
			return err
		}
		began, sent := time.Now(), c.t.stream.Sent()
		if done, err = out.Step(limit); err != nil {
			return err
		}
		c.e.limiter.spend(c.t.stream.Sent() - sent)
		k, b := out.Progress()
		c.t.addProgress(k-keys, b-bytes)
		keys, bytes = k, b
		c.e.restForClients(ctx, time.Since(began))
	}
	// Progress is reported in terms of the measured load.
	load := c.t.loads[c.p.ranges[i]]
	c.t.addProgress(load.Keys-keys, load.Bytes-bytes)
	return nil
}

// checkWanted returns errChanged if the table no longer wants the portion to move.
func (c *portionCopy) checkWanted() error {
	st := c.e.cfg.Table.State()
	if c.e.resigning.Load() {
		return errResigning
	}
	if st == c.st {
		return nil
	}
	if _, ok := st.Handoff(c.h.ID); !ok {
		return feed.ErrChanged
	}
	for _, r := range c.p.ranges {
		row, ok := st.Row(r.Start)
		if !ok || row.Range != r || row.Primary != c.e.cfg.Self || row.Op.Handoff != c.h.ID || c.epochs.isPast(row) {
			return feed.ErrChanged
		}
	}
	c.st = st
	return nil
}

// waitForPermit waits until the copy may continue. limit is the size of its next step.
func (c *portionCopy) waitForPermit(ctx context.Context) (limit int, err error) {
	paused := false
	for {
		if err := c.checkWanted(); err != nil {
			return 0, err
		}
		moves := c.st.Cluster().Moves
		wait := pollInterval
		if paused = moves.Paused; !paused {
			wait = c.e.limiter.wait(moves.Throttle)
		}
		if !paused && wait == 0 {
			break
		}
		if err := c.t.stream.Err(); err != nil {
			return 0, err
		}
		if paused {
			c.e.noteWait(c.t, Paused, "paused")
		} else {
			c.e.noteWait(c.t, NotWaiting, "")
		}
		if locks.Pause(ctx, min(wait, pollInterval)); ctx.Err() != nil {
			return 0, ctx.Err()
		}
	}
	c.e.noteWait(c.t, NotWaiting, "")
	limit = chunkBytes
	if rate := c.st.Cluster().Throttle; rate > 0 {
		limit = int(min(chunkBytes, max(rate/10, 1<<10)))
	}
	return limit, c.t.stream.Room(ctx)
}
