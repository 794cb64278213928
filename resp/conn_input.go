package resp

import "github.com/ringside-kv/ringside/resp/internal/budget"

// A connection's read buffer holds what its client has sent and what is not run yet.

const (
	minInput  = 1 << 10  // bytes of a fresh read buffer
	freeInput = 4 << 10  // of one that need not wait for memory
	keepInput = 64 << 10 // of one that is kept for the next request
)

// fill reads more into the buffer, which it makes larger when a request does not
// fit.
func (c *conn) fill() error {
	size := len(c.in)
	if c.start > 0 && c.end == len(c.in) && len(c.in) < keepInput {
		c.widenInput()
	}
	if c.asyncForward.on && len(c.in) == size && !c.takeSpareInput() {
		c.awaitAsyncForward()
	}
	if c.start == c.end {
		c.start, c.end = 0, 0
		if len(c.in) > keepInput {
			c.resizeInput(nil)
		}
	}
	if c.end == len(c.in) {
		switch {
		case c.start > 0:
			copy(c.in, c.in[c.start:c.end])
			c.end -= c.start
			c.start = 0
		case !c.growInput():
			return budget.ErrClosed
		}
	}
	n, err := c.read(c.in[c.end:])
	c.drained = n < len(c.in)-c.end
	if n == 0 && err != nil {
		return err
	}
	c.end += n
	c.session.bytesIn.Add(int64(n))
	c.srv.stats.BytesIn.Add(int64(n))
	return nil
}

// widenInput doubles a read buffer that was too small for what has come: a pipeline
// that is read in pieces is run in pieces, and waits for its replies, from other nodes
// perhaps, as often. Where memory is short it stays as it is.
func (c *conn) widenInput() {
	size := 2 * len(c.in)
	if n := int64(size - len(c.in)); size <= freeInput {
		c.srv.budget.Take(&c.Account, n)
	} else if !c.srv.budget.Spare(&c.Account, n) {
		return
	}
	c.moveInput(size)
}

// read is a Read that shows since when a client keeps a large request waiting
// half-way: a few bytes now and then are no progress. Nor is such a client idle.
func (c *conn) read(b []byte) (int, error) {
	if c.turn.InRound() {
		return readInTurn(c, b)
	}
	if c.end-c.start < keepInput {
		return c.net.Read(b)
	}
	if c.stalledAt.Load() == 0 || c.progress >= keepInput {
		c.stalledAt.Store(int64(c.srv.clock()))
		c.progress = 0
	}
	n, err := c.net.Read(b)
	c.progress += n
	c.session.lastUsed.Store(int64(c.srv.clock()))
	return n, err
}

// resumeInput notes that it is not the client who keeps its request waiting.
func (c *conn) resumeInput() {
	if c.stalledAt.Load() != 0 {
		c.stalledAt.Store(0)
	}
}

// growInput doubles the read buffer, or waits until there is memory for it. Small
// requests do not wait.
func (c *conn) growInput() bool {
	size := max(2*len(c.in), minInput)
	if c.guard.Need > size && c.guard.Need < 2*size {
		size = c.guard.Need
	}
	c.resumeInput()
	if n := int64(size - len(c.in)); size <= freeInput {
		c.srv.budget.Take(&c.Account, n)
	} else if c.leaveTurn(); !c.srv.budget.Acquire(&c.Account, n) {
		return false
	}
	c.moveInput(size)
	return true
}

func (c *conn) moveInput(size int) {
	in := make([]byte, size)
	c.start, c.end = 0, copy(in, c.in[c.start:c.end])
	c.in = in
}

func (c *conn) resizeInput(in []byte) {
	c.srv.budget.Release(&c.Account, int64(len(c.in)-len(in)))
	c.in = in
}
