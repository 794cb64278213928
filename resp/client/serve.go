package client

import (
	"errors"
	"fmt"
	"io"
	"net"
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
}

// EnsureDefaults fills in what is not set.
func (c *ServeConfig) EnsureDefaults() {
	setDefault(&c.MaxFrame, defaultMaxFrame)
	setDefault(&c.MaxPending, 16<<20)
	setDefault(&c.WriteTimeout, 10*time.Second)
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

// ServeForward reads the calls of a Peer from a connection and hands each to handle,
// in the order in which they were sent, on the goroutine that it was called on. It
// ends with the connection, which it closes, and returns nil if the other side ended
// it between two calls. Batches that have no answer by then may still be answered;
// nobody hears.
//
// handle need not answer before it returns. What it does answer leaves together with
// the answers to all that was read in one go, so it must not wait for an answer to
// have arrived. While it blocks, nothing more is read, nor the connection's end
// noticed.
func ServeForward(conn net.Conn, cfg ServeConfig, handle func(*Batch)) error {
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
	err := serveRequests(conn, &cfg, w, handle)
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

func serveRequests(conn net.Conn, cfg *ServeConfig, w *replyWriter, handle func(*Batch)) error {
	frames := newFrameReader(conn, cfg.MaxFrame)
	for {
		var arrived time.Time
		w.cork()
		for {
			frame, err := frames.next()
			if err != nil {
				return err
			}
			if frame == nil {
				break
			}
			r, err := parseRequest(frame)
			if err != nil {
				return err
			}
			if r.timeLeft > 0 && arrived.IsZero() {
				arrived = time.Now()
			}
			if err := w.admit(len(r.commands)); err != nil {
				return err
			}
			handle(newBatch(w, &r, arrived))
		}
		w.flush()
		if err := frames.fill(); err != nil {
			return err
		}
	}
}
