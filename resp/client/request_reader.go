package client

import (
	"errors"
	"net"
	"sync"
	"time"
)

// A requestReader reads calls and hands them over. One goroutine at a time is the
// reader: whoever handles what takes long passes the role on.
type requestReader struct {
	frames *frameReader
	w      *replyWriter
	handle func([]*Batch, func(int))
	end    <-chan struct{}
	ended  chan error // capacity 1: why reading has ended
	// handling are the goroutines that read after the first.
	handling sync.WaitGroup

	batches []*Batch
	failure error // once what was read before it is handled
}

// Batches that are handed over at once, at most.
const maxBurst = 64

// errEnds says that nothing more is to be read.
var errEnds = errors.New("client: no more calls are read")

// ending tells whether nothing more is to be read.
func (r *requestReader) ending() bool {
	select {
	case <-r.end:
		return true
	default:
		return false
	}
}

// watch has a read that waits when the end comes be given up. The function that it returns
// ends it. Nobody else sets a deadline for a read while it waits.
func (r *requestReader) watch(conn net.Conn) (unwatch func()) {
	if r.end == nil {
		return func() {}
	}
	over := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-r.end:
			_ = conn.SetReadDeadline(time.Now())
		case <-over:
		}
	})
	return func() {
		close(over)
		watching.Wait()
	}
}

// read is the reader until the connection ends or the role is passed on.
func (r *requestReader) read() {
	for {
		r.w.cork()
		more := r.collect()
		if !r.hand(r.batches) {
			return
		}
		if more {
			continue
		}
		r.w.flush()
		if r.failure == nil && r.ending() {
			r.failure = errEnds
		}
		if r.failure == nil {
			r.failure = r.frames.fill()
		}
		if r.failure != nil {
			r.ended <- r.failure
			return
		}
	}
}

// collect takes what has been read into batches. It returns whether there is more.
func (r *requestReader) collect() (more bool) {
	clear(r.batches)
	r.batches = r.batches[:0]
	for len(r.batches) < maxBurst && r.failure == nil {
		if len(r.batches) > 0 && !r.fits() {
			return true // what is there may have to be answered first
		}
		frame, err := r.frames.next()
		if err != nil || frame == nil {
			r.failure = err
			return false
		}
		request, err := parseRequest(frame)
		if err != nil {
			r.failure = err
			return false
		}
		if r.failure = r.w.admit(len(request.commands)); r.failure != nil {
			return false
		}
		r.batches = append(r.batches, newBatch(r.w, &request))
	}
	return r.failure == nil
}

// fits tells whether the next frame is let in without waiting.
func (r *requestReader) fits() bool {
	need, err := r.frames.need()
	return err != nil || r.w.fits(need)
}

// hand has batches handled. It returns false if somebody else is the reader by then.
func (r *requestReader) hand(batches []*Batch) bool {
	if len(batches) == 0 {
		return true
	}
	released := false
	r.handle(batches, func(n int) {
		released = true
		r.batches = nil // those are still in use
		r.w.flush()
		r.handling.Go(func() {
			if r.hand(batches[n:]) {
				r.read()
			}
		})
	})
	return !released
}
