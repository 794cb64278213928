package client

import (
	"net"
	"runtime"
	"time"
)

const (
	// Requests are written together up to so many bytes.
	writeBatch = 256 << 10
	// Those above this size are copied without the lock.
	largeCommands = 64 << 10
	// A sender writes for others so many times before run takes over, so that its
	// own client does not wait for everybody's.
	leadRounds = 4
)

// writeSome writes the beginning of b, and returns how long that is. The other end may take
// nothing for so long.
func writeSome(conn net.Conn, b []byte, timeout time.Duration) (int, error) {
	if err := conn.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
		return 0, err
	}
	return conn.Write(b[:min(len(b), writeBatch)])
}

// claim takes the role of the writer if it is free and there is something to write.
// The caller holds mu, and goes on to write or hands the role to run.
func (w *muxConn) claim() bool {
	if w.state != muxUp || w.writing || !w.end.due() {
		return false
	}
	w.writing = true
	return true
}

// lead writes what is queued without ever waiting for the connection.
func (w *muxConn) lead() {
	if w.direct == nil {
		w.kick <- struct{}{}
		return
	}
	// Whoever else is ready to send does so now, and one write serves all.
	runtime.Gosched()
	for range leadRounds {
		if !w.refill() {
			return
		}
		n, err := w.direct.WriteSome(w.out)
		w.written += uint64(n)
		if w.out = w.out[:copy(w.out, w.out[n:])]; err != nil || len(w.out) > 0 {
			break // run will come upon the error itself
		}
	}
	w.kick <- struct{}{}
}

// drain is run's turn as the writer. It ends with an error while it holds the role,
// or with nil after it has given it up.
func (w *muxConn) drain() error {
	if w.direct == nil {
		runtime.Gosched() // as in lead
	}
	for len(w.out) > 0 || w.refill() {
		if err := w.end.write(); err != nil {
			return err
		}
		w.out = w.out[:0]
	}
	return nil
}

// refill moves queued requests to out. If there is nothing to write, or nowhere to, it
// gives up the role and returns false.
func (w *muxConn) refill() bool {
	if cap(w.out) > keptBuffer {
		w.out = nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if large := w.end.encode(); large != nil {
		w.mu.Unlock()
		w.out = append(w.out, large...)
		w.mu.Lock()
		w.end.copied()
	}
	switch {
	case len(w.out) > 0:
		return true
	case w.state == muxUp:
		w.writing = false
	default:
		w.kick <- struct{}{} // run waits for the role
	}
	return false
}
