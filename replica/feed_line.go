package replica

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/ringside-kv/ringside/replica/socket"
)

// A feedLine is a line and its connection, which is made anew as long as the session
// lasts. What is not said to be its own goroutines' is guarded by feeds.mu.
//
// Invariant: one at a time writes to a connection, its goroutine while writing is set, else
// who holds feeds.mu; and at is moved before that is given up. So frames leave in order, and
// once each.
type feedLine struct {
	f      *feeds
	l      *line
	ctx    context.Context
	cancel context.CancelFunc
	wake   chan struct{} // there is something to write
	log    backlog
	at     backlogPlace // up to where it has been written
	// writing: the line's goroutine writes, without mu. Nobody else does then.
	writing bool
	direct  *socket.Conn // nil: none, or one whose writes may wait
	over    bool
	corked  uint64 // no frame above this one is written; 0: all are
	there   bool   // the member has answered
	answer  []byte
	asked   uint64 // the frame that answer is for
}

// begin gives a line a connection; mu is held. It is started by start.
func (f *feeds) begin(l *line) *feedLine {
	fl := &feedLine{f: f, l: l, wake: make(chan struct{}, 1)}
	fl.ctx, fl.cancel = context.WithCancel(f.e.ctx)
	f.lines[l] = fl
	f.fresh = append(f.fresh, fl)
	return fl
}

// start starts lines; turning is held, mu is not.
func (f *feeds) start() {
	for _, fl := range f.fresh {
		f.e.done.Go(fl.run)
	}
	f.fresh = nil
}

// errRefused is an end that a member made.
var errRefused = errors.New("the member ended it")

func (fl *feedLine) run() {
	defer fl.cancel()
	for fl.ctx.Err() == nil {
		err := fl.once()
		if errors.Is(err, errRefused) || errors.Is(err, ErrFrame) {
			fl.f.mu.Lock()
			fl.f.cut(fl, err.Error())
			fl.f.mu.Unlock()
			return
		}
		if fl.ctx.Err() == nil {
			fl.f.e.cfg.Logger.Debug("replicating to a backup failed", "node", fl.l.node, "err", err)
		}
		pause(fl.ctx, 20*time.Millisecond)
	}
}

// once feeds by one connection, until that ends.
func (fl *feedLine) once() error {
	e := fl.f.e
	within, cancel := context.WithTimeout(fl.ctx, e.cfg.Patience)
	conn, err := e.cfg.DialFeed(within, fl.l.node)
	cancel()
	if err != nil {
		return err
	}
	// The goroutine writes to conn itself, which takes many parts at a time: what it writes
	// may be acknowledged, and its memory used again, before the call has returned.
	in, direct := socket.Of(conn)
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(fl.ctx, func() { _ = conn.Close() })
	defer stop()
	hello, err := json.Marshal(greeting{From: e.cfg.Self, Incarnation: e.cfg.Incarnation, To: fl.l.incarnation, Session: fl.l.session})
	if err != nil {
		return err
	}
	if _, err := conn.Write(appendFrame(nil, frameOpen, hello)); err != nil {
		return err
	}
	r := bufio.NewReader(in)
	kind, payload, _, err := readFrame(r, nil)
	if err != nil {
		return err
	}
	if kind == frameFail {
		return fmt.Errorf("%w: %.300s", errRefused, payload)
	}
	have, _, err := sequenced(payload)
	if err != nil || kind != frameReady {
		return fmt.Errorf("%w: kind %d in place of an answer", ErrFrame, kind)
	}
	if err := fl.heard(have); err != nil {
		return err
	}
	fl.f.mu.Lock()
	fl.there = true
	fl.at = fl.log.after(have)
	if e.cfg.Reached == nil { // whose steps are those of the goroutines
		fl.direct = direct
	}
	fl.f.tell()
	fl.f.mu.Unlock()
	ended := make(chan error, 1)
	go func() {
		ended <- fl.read(r)
		_ = conn.Close()
		signal(fl.wake)
	}()
	err = fl.write(conn, ended)
	fl.f.mu.Lock()
	fl.direct, fl.writing = nil, false
	fl.f.mu.Unlock()
	_ = conn.Close()
	return err
}

// alongMost is how many bytes whoever commits writes by himself, at most.
const alongMost = 16 << 10

// along writes what has just been put into an empty log, if that takes no waiting, and tells
// whether it has: a member that has acknowledged everything is sent the next change without
// waking the line's goroutine. Where something is under way already, that writes what has
// come meanwhile in one go. feeds.mu is held.
func (fl *feedLine) along() bool {
	if fl.direct == nil || fl.writing || fl.over || fl.corked > 0 {
		return false
	}
	out, next := fl.log.from(fl.at, ^uint64(0))
	if len(out) != 1 || len(out[0]) > alongMost {
		return false
	}
	n, err := fl.direct.WriteSome(out[0])
	if err != nil || n < len(out[0]) {
		fl.at = backlogPlace{fl.log.gone, n} // the goroutine goes on there, or sees the error, too
		return false
	}
	fl.at = next
	return true
}

// write writes all that there is and comes. It returns when the reader has ended.
func (fl *feedLine) write(conn net.Conn, ended <-chan error) error {
	for {
		fl.f.mu.Lock()
		limit := ^uint64(0)
		if fl.corked > 0 {
			limit = fl.corked
		}
		out, next := fl.log.from(fl.at, limit)
		fl.at, fl.writing = next, len(out) > 0
		changes := fl.l.changes > 0
		fl.f.mu.Unlock()
		if len(out) > 0 {
			if _, err := out.WriteTo(conn); err != nil {
				_ = conn.Close()
				if why := <-ended; errors.Is(why, errRefused) || errors.Is(why, ErrFrame) {
					return why
				}
				return err
			}
			if changes {
				fl.f.e.reached(WriteSent)
			}
			continue
		}
		select {
		case <-fl.wake:
		case err := <-ended:
			return err
		}
	}
}

// read takes in what the member says.
func (fl *feedLine) read(r *bufio.Reader) error {
	var buf []byte
	for {
		kind, payload, next, err := readFrame(r, buf)
		buf = next
		if err != nil {
			return err
		}
		switch kind {
		case frameAck:
			k, _, err := sequenced(payload)
			if err == nil {
				err = fl.heard(k)
			}
			if err != nil {
				return err
			}
		case feedAnswer:
			k, answer, err := sequenced(payload)
			if err != nil {
				return err
			}
			fl.f.mu.Lock()
			fl.asked, fl.answer = k, append([]byte(nil), answer...)
			fl.f.tell()
			fl.f.mu.Unlock()
		case frameFail:
			return fmt.Errorf("%w: %.300s", errRefused, payload)
		default:
			return fmt.Errorf("%w: kind %d from a backup", ErrFrame, kind)
		}
	}
}

// heard takes in an acknowledgement.
func (fl *feedLine) heard(k uint64) error {
	f := fl.f
	f.mu.Lock()
	freed, ok := f.office.heard(fl.l, k, time.Now())
	if ok && fl.l.broken == "" {
		fl.log.acked(k)
		f.tell()
	}
	f.mu.Unlock()
	if !ok {
		return fmt.Errorf("%w: %s acknowledges frame %d", ErrFrame, fl.l.node, k)
	}
	if len(freed) > 0 {
		f.e.reached(WriteFreed)
	}
	f.freed(freed)
	return nil
}

// emit sends a frame and returns its number; feeds.mu is held.
func (fl *feedLine) emit(frame *feedFrame) uint64 {
	fl.f.office.emit(fl.l, frame, time.Now())
	return fl.l.sent
}

// went waits until the member has taken in everything up to a frame.
func (fl *feedLine) went(ctx context.Context, k uint64) error {
	return fl.f.until(ctx, func() (bool, error) {
		if fl.l.broken != "" {
			return false, fmt.Errorf("%s: %s", fl.l.node, fl.l.broken)
		}
		return fl.l.acked >= k, nil
	})
}

// ask asks the member something and waits for its answer.
func (fl *feedLine) ask(ctx context.Context, q *question) (*report, error) {
	text, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	var answer []byte
	for answer == nil {
		fl.f.mu.Lock()
		k := fl.emit(&feedFrame{kind: feedAsk, body: text})
		fl.f.mu.Unlock()
		err = fl.f.until(ctx, func() (bool, error) {
			if fl.l.broken != "" {
				return false, fmt.Errorf("%s: %s", fl.l.node, fl.l.broken)
			}
			if fl.asked == k {
				answer = fl.answer
			}
			// The answer is written before the acknowledgement: a connection that broke has
			// taken it along.
			return answer != nil || fl.l.acked >= k, nil
		})
		if err != nil {
			return nil, err
		}
	}
	r := new(report)
	if err := json.Unmarshal(answer, r); err != nil {
		return nil, fmt.Errorf("%w: an answer of %s: %w", ErrFrame, fl.l.node, err)
	}
	return r, nil
}
