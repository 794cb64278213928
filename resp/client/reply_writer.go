package client

import (
	"net"
	"runtime"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/internal/socket"
)

// A replyWriter combines the answers of one connection into few writes. As with a
// link, whoever finds the role of the writer free takes it and writes for all, and
// hands it to run when the socket takes no more.
type replyWriter struct {
	conn   net.Conn
	cfg    *ServeConfig
	direct *socket.Conn  // conn, nil where a write may wait
	kick   chan struct{} // capacity 1: the role of the writer goes to run
	ended  chan struct{}

	mu   sync.Mutex
	room sync.Cond // pending or unanswered has shrunk, or the writer failed
	// pending is empty or begins with a clock frame, which swap completes.
	pending  []byte
	large    [][]byte // replies of a size that is not copied under the lock
	waiting  int      // bytes of large
	writing  bool
	corked   bool // the reader will flush
	stopping bool
	left     int // bytes taken from pending and not yet written
	// Bytes of requests that have no answer yet.
	unanswered int
	err        error

	out []byte // the writer's
}

func newReplyWriter(conn net.Conn, cfg *ServeConfig) *replyWriter {
	w := &replyWriter{
		cfg:   cfg,
		kick:  make(chan struct{}, 1),
		ended: make(chan struct{}),
	}
	w.conn, w.direct = socket.Of(conn)
	w.room.L = &w.mu
	return w
}

// admit counts a request in. It waits while too much is unanswered or unwritten.
func (w *replyWriter) admit(size int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil && w.full(size) {
		if w.uncork() {
			w.kick <- struct{}{}
		}
		noticed := w.noticeClose()
		for w.err == nil && w.full(size) {
			w.room.Wait()
		}
		w.mu.Unlock()
		noticed()
		w.mu.Lock()
	}
	w.corked = true
	w.unanswered += size
	return w.err
}

// noticeClose looks now and then whether this side has closed the connection: while
// the reader waits for answers, nobody else would notice, and whoever closes may wait
// for the reader before it sees to the answers. The function that it returns ends it.
func (w *replyWriter) noticeClose() (end func()) {
	const period = 100 * time.Millisecond
	over := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		ticker := time.NewTicker(period)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				if err := w.conn.SetReadDeadline(time.Time{}); err != nil {
					w.abort(err)
					return
				}
			case <-over:
				return
			}
		}
	})
	return func() {
		close(over)
		running.Wait()
	}
}

func (w *replyWriter) full(size int) bool {
	return w.unanswered > 0 && w.unanswered+size > w.cfg.MaxPending ||
		len(w.pending)+w.waiting+w.left > w.cfg.MaxPending
}

// fits tells whether a request of so many bytes is admitted at once.
func (w *replyWriter) fits(size int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err != nil || !w.full(size)
}

// cork makes answers wait for flush.
func (w *replyWriter) cork() {
	w.mu.Lock()
	w.corked = true
	w.mu.Unlock()
}

// uncork takes the role of the writer if there is something to write.
func (w *replyWriter) uncork() bool {
	w.corked = false
	return w.claim()
}

func (w *replyWriter) flush() {
	w.mu.Lock()
	lead := w.uncork()
	w.mu.Unlock()
	if lead {
		w.lead()
	}
}

func (w *replyWriter) claim() bool {
	if w.writing || w.stopping || w.err != nil || len(w.pending)+w.waiting == 0 {
		return false
	}
	if w.corked && len(w.pending)+w.waiting < writeBatch {
		return false
	}
	w.writing = true
	return true
}

func (w *replyWriter) reply(id uint64, lens []uint32, marks, replies []byte, size int) {
	if len(replies) > writeBatch {
		frame := make([]byte, 0, lengthSize+replySize(len(lens), len(marks), len(replies)))
		frame = appendReply(frame, id, lens, marks, replies)
		w.mu.Lock()
		w.large = append(w.large, frame)
		w.waiting += len(frame)
	} else {
		w.mu.Lock()
		w.begin()
		w.pending = appendReply(w.pending, id, lens, marks, replies)
	}
	w.answered(size)
}

func (w *replyWriter) text(id uint64, s status, text string, size int) {
	text = text[:min(len(text), maxText, w.cfg.MaxFrame-replyHead)]
	w.mu.Lock()
	w.begin()
	w.pending = appendReplyHead(w.pending, id, s, 0, len(text))
	w.pending = append(w.pending, text...)
	w.answered(size)
}

// begin puts a clock frame in front of what is pending. The caller holds mu.
func (w *replyWriter) begin() {
	if len(w.pending) == 0 {
		w.pending = appendClock(w.pending)
	}
}

// sayClock tells the peer this side's time, also where there is no reply.
func (w *replyWriter) sayClock() {
	w.mu.Lock()
	if w.err == nil && !w.stopping {
		w.begin()
	}
	lead := w.claim()
	w.mu.Unlock()
	if lead {
		w.lead()
	}
}

// answered is called with mu held, and lets go of it.
func (w *replyWriter) answered(size int) {
	w.unanswered -= size
	if w.err != nil || w.stopping {
		w.drop() // nobody hears
	}
	lead := w.claim()
	w.mu.Unlock()
	w.room.Signal()
	if lead {
		// Not by whoever answers: it may have more to answer, or better to do.
		w.kick <- struct{}{}
	}
}

// sayEnd tells the peer, once all that was read is answered, that nothing else was. Nothing
// is read any more.
func (w *replyWriter) sayEnd() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil && w.unanswered > 0 {
		noticed := w.noticeClose()
		for w.err == nil && w.unanswered > 0 {
			if w.uncork() {
				w.kick <- struct{}{}
			}
			w.room.Wait()
		}
		w.mu.Unlock()
		noticed()
		w.mu.Lock()
	}
	if w.err == nil {
		w.begin()
		w.pending = appendReplyHead(w.pending, 0, statusEnd, 0, 0)
	}
}

// abort ends the connection.
func (w *replyWriter) abort(err error) {
	w.mu.Lock()
	if w.err == nil {
		w.err = err
	}
	w.drop()
	w.mu.Unlock()
	w.room.Signal()
	_ = w.conn.Close()
}

func (w *replyWriter) drop() { w.pending, w.large, w.waiting = nil, nil, 0 }

func (w *replyWriter) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// lead writes what is pending without ever waiting for the socket.
func (w *replyWriter) lead() {
	if w.direct == nil {
		w.kick <- struct{}{}
		return
	}
	if !w.writeDirect() {
		w.kick <- struct{}{}
	}
}

// writeDirect is a turn as the writer, which it has given up if it returns true.
func (w *replyWriter) writeDirect() bool {
	for range leadRounds {
		if !w.swap() {
			return true
		}
		n, err := w.direct.WriteSome(w.out)
		if w.out = w.out[:copy(w.out, w.out[n:])]; err != nil || len(w.out) > 0 {
			return false // drain will come upon the error itself
		}
	}
	return false
}

// swap takes what is pending. If there is nothing, it gives up the role of the
// writer and returns false.
func (w *replyWriter) swap() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.left > 0 {
		w.left = 0
		w.room.Signal()
	}
	if cap(w.out) > keptBuffer {
		w.out = nil
	}
	if len(w.pending)+w.waiting == 0 || w.err != nil {
		w.writing = false
		if w.stopping {
			w.room.Broadcast()
		}
		return false
	}
	if len(w.pending) > 0 {
		w.out, w.pending = w.pending, w.out[:0]
		putClock(w.out, w.cfg.Clock())
	} else {
		w.out, w.large[0] = w.large[0], nil
		w.large = w.large[1:]
		w.waiting -= len(w.out)
	}
	w.left = len(w.out)
	return true
}

// run takes over the role of the writer when it is handed over.
func (w *replyWriter) run() {
	idle := time.NewTicker(clockPeriod)
	defer idle.Stop()
	for {
		select {
		case <-idle.C:
			w.sayClock()
		case <-w.kick:
			if len(w.out) == 0 && w.direct != nil && w.writeDirect() {
				continue
			}
			if err := w.drain(); err != nil {
				w.abort(err)
				w.mu.Lock()
				w.writing = false
				w.room.Broadcast()
				w.mu.Unlock()
			}
		case <-w.ended:
			return
		}
	}
}

func (w *replyWriter) drain() error {
	if w.direct != nil {
		// A direct write would heed a deadline left behind.
		defer func() { _ = w.conn.SetWriteDeadline(time.Time{}) }()
	} else {
		runtime.Gosched() // as in lead
	}
	for len(w.out) > 0 || w.swap() {
		for rest := w.out; len(rest) > 0; {
			n, err := writeSome(w.conn, rest, w.cfg.WriteTimeout)
			if err != nil {
				return err
			}
			rest = rest[n:]
		}
		w.out = w.out[:0]
	}
	return nil
}

// stop waits until what is pending is written or cannot be, closes the connection
// and ends run. Answers that come later are dropped.
func (w *replyWriter) stop() {
	w.mu.Lock()
	w.stopping = true
	for w.writing {
		w.room.Wait()
	}
	w.drop()
	w.mu.Unlock()
	_ = w.conn.Close()
	close(w.ended)
}
