package client

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// ServeConfig says how ServeForward answers.
type ServeConfig struct {
	// MaxFrame bounds the length of a frame in either direction, in bytes; default
	// 513 MiB.
	MaxFrame int
	// MaxPending bounds the bytes of replies that the peer has not taken, and
	// likewise those of requests without an answer; default 16 MiB. Beyond either,
	// reading pauses.
	MaxPending int
	// WriteTimeout is how long the peer may take nothing of its replies before the
	// connection is given up; default 10 s.
	WriteTimeout time.Duration
	// End, once it is closed, has nothing more read: what has been is still handled and
	// answered, and the peer is told that the rest was not, so that it may send that again,
	// elsewhere. nil never ends.
	End <-chan struct{}
	// Clock is what [Batch.Deadline] counts on: the time since some moment. It must never go
	// back, and should go on while the machine is suspended. It is called from any goroutine,
	// once for each write. The default is the monotonic clock of the process.
	Clock func() time.Duration
}

// endTimeout is how long a peer may take to close a connection after it was told to.
const endTimeout = time.Second

// EnsureDefaults fills in what is not set.
func (c *ServeConfig) EnsureDefaults() {
	setDefault(&c.MaxFrame, defaultMaxFrame)
	setDefault(&c.MaxPending, 16<<20)
	setDefault(&c.WriteTimeout, 10*time.Second)
	if c.Clock == nil {
		c.Clock = monotonic
	}
}

// Validate reports every fault at once.
func (c *ServeConfig) Validate() error {
	errs := []error{validMaxFrame(c.MaxFrame)}
	if c.MaxPending < 1 {
		errs = append(errs, fmt.Errorf("client: %d pending bytes are fewer than 1", c.MaxPending))
	}
	if c.WriteTimeout < 0 {
		errs = append(errs, errors.New("client: a time-out is negative"))
	}
	return errors.Join(errs...)
}

// ServeForward reads the calls of a Peer from a connection and hands them to handle, in
// the order in which they were sent, those together that arrived together. It ends with
// the connection, which it closes, when handle has returned, and returns nil if the
// other side ended it between two calls or [ServeConfig.End] is closed. Batches that have no answer by then may still
// be answered; nobody hears.
//
// handle need not answer before it returns, and must not keep the slice. What it does
// answer leaves together with the answers to all that was read in one go, so it must not
// wait for an answer to have arrived. While it runs, nothing more is read, nor the
// connection's end noticed, unless it calls release, once at most: the first n batches
// are its own from then on, and the others, and what comes, are handed to handle by
// another goroutine.
func ServeForward(conn net.Conn, cfg ServeConfig, handle func(batches []*Batch, release func(n int))) error {
	defer conn.Close()
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return err
	}
	w := newReplyWriter(conn, &cfg)
	written := make(chan struct{})
	go func() {
		defer close(written)
		w.run()
	}()
	r := &requestReader{frames: newFrameReader(w.conn, cfg.MaxFrame), w: w, handle: handle, end: cfg.End, ended: make(chan error, 1)}
	unwatch := r.watch(conn)
	w.sayClock()
	r.read()
	err := <-r.ended
	unwatch()
	r.handling.Wait()
	if r.ending() && (errors.Is(err, errEnds) || errors.Is(err, os.ErrDeadlineExceeded)) {
		err = nil
		w.sayEnd()
		w.flush()
		// What is closed while there is something to read takes with it what was written.
		_ = conn.SetReadDeadline(time.Now().Add(endTimeout))
		_, _ = io.Copy(io.Discard, conn)
	}
	w.flush()
	w.stop()
	<-written
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if cause := w.failure(); cause != nil && (err == nil || errors.Is(err, net.ErrClosed)) {
		err = cause
	}
	if err != nil {
		return fmt.Errorf("serve forwarded commands: %w", err)
	}
	return nil
}
