package feed

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/ringside-kv/ringside/internal/socket"
	"github.com/ringside-kv/ringside/replica/internal/frame"
	"github.com/ringside-kv/ringside/replica/internal/locks"
	"github.com/ringside-kv/ringside/replica/step"
)

// A sessionSender sends a session to its member over one connection after the other. primaryFeed.mu
// guards its fields, but for those of its own goroutines.
//
// Invariant: one goroutine at a time writes to a connection: the sender's own while writing is set,
// else the one that holds primaryFeed.mu. written moves before that right is given up. So frames
// leave in order, and each of them once.
type sessionSender struct {
	feed    *primaryFeed
	session *session
	ctx     context.Context
	cancel  context.CancelFunc
	wake    chan struct{} // there is something to write
	backlog backlog
	written backlogPosition // position up to which the backlog has been written
	// the sender's own goroutine writes, without mu; no other one does
	writing   bool
	direct    *socket.Conn // nil if there is no connection, or its writes may block
	stopped   bool
	holdAfter uint64 // the sender writes no frame above this one; 0: no limit
	ready     bool   // the backup has answered
	answer    []byte
	answers   uint64 // the frame that answer belongs to
}

// newSender creates the sender of a session. mu is held. startSenders starts it.
func (f *primaryFeed) newSender(l *session) *sessionSender {
	fl := &sessionSender{feed: f, session: l, wake: make(chan struct{}, 1)}
	fl.ctx, fl.cancel = context.WithCancel(f.hub.ctx)
	f.senders[l] = fl
	f.starting = append(f.starting, fl)
	return fl
}

// startSenders starts the new senders. transitionMu is held, mu is not.
func (f *primaryFeed) startSenders() {
	for _, fl := range f.starting {
		f.hub.done.Go(fl.run)
	}
	f.starting = nil
}

// errEndedByBackup says that the backup ended the session.
var errEndedByBackup = errors.New("the member ended it")

func (s *sessionSender) run() {
	defer s.cancel()
	for s.ctx.Err() == nil {
		err := s.serveConn()
		if errors.Is(err, errEndedByBackup) || errors.Is(err, frame.ErrMalformed) {
			s.feed.mu.Lock()
			s.feed.endSession(s, err.Error())
			s.feed.mu.Unlock()
			return
		}
		if s.ctx.Err() == nil {
			s.feed.hub.cfg.Logger.Debug("replicating to a backup failed", "node", s.session.node, "err", err)
		}
		locks.Pause(s.ctx, 20*time.Millisecond)
	}
}

// serveConn sends over one connection until it ends.
func (s *sessionSender) serveConn() error {
	e := s.feed.hub
	within, cancel := context.WithTimeout(s.ctx, e.cfg.Patience)
	conn, err := e.cfg.Dial(within, s.session.node)
	cancel()
	if err != nil {
		return err
	}
	// The goroutine writes to conn itself, which takes many buffers at a time. Their frames may be
	// acknowledged, and their memory reused, before the call returns.
	in, direct := socket.Of(conn)
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(s.ctx, func() { _ = conn.Close() })
	defer stop()
	hello, err := json.Marshal(greeting{From: e.cfg.Self, Incarnation: e.cfg.Incarnation, To: s.session.incarnation, Session: s.session.id})
	if err != nil {
		return err
	}
	if _, err := conn.Write(frame.Append(nil, frame.Open, hello)); err != nil {
		return err
	}
	r := bufio.NewReader(in)
	kind, payload, _, err := frame.Read(r, nil)
	if err != nil {
		return err
	}
	if kind == frame.Fail {
		return fmt.Errorf("%w: %.300s", errEndedByBackup, payload)
	}
	have, _, err := frame.CutSequence(payload)
	if err != nil || kind != frame.Ready {
		return fmt.Errorf("%w: kind %d in place of an answer", frame.ErrMalformed, kind)
	}
	if err := s.handleAck(have); err != nil {
		return err
	}
	s.feed.mu.Lock()
	s.ready = true
	s.written = s.backlog.positionAfter(have)
	if e.cfg.Reached == nil { // steps of tests are those of the goroutines
		s.direct = direct
	}
	s.feed.wakeWaiters()
	s.feed.mu.Unlock()
	ended := make(chan error, 1)
	go func() {
		ended <- s.readLoop(r)
		_ = conn.Close()
		locks.Signal(s.wake)
	}()
	err = s.writeLoop(conn, ended)
	s.feed.mu.Lock()
	s.direct, s.writing = nil, false
	s.feed.mu.Unlock()
	_ = conn.Close()
	return err
}

// maxDirectWrite bounds the bytes that a committing goroutine writes itself.
const maxDirectWrite = 16 << 10

// writeDirectly writes a frame that was added to an empty backlog, if this does not block, and
// reports whether it did. So a member that has acknowledged everything receives the next change
// without a wake-up of the sender's goroutine. If something is under way, that goroutine writes all
// later frames in one go. primaryFeed.mu is held.
func (s *sessionSender) writeDirectly() bool {
	if s.direct == nil || s.writing || s.stopped || s.holdAfter > 0 {
		return false
	}
	out, next := s.backlog.buffersFrom(s.written, ^uint64(0))
	if len(out) != 1 || len(out[0]) > maxDirectWrite {
		return false
	}
	n, err := s.direct.WriteSome(out[0])
	if err != nil || n < len(out[0]) {
		s.written = backlogPosition{s.backlog.dropped, n} // the goroutine continues there, or sees the error, too
		return false
	}
	s.written = next
	return true
}

// writeLoop writes the backlog. It returns when readLoop has ended.
func (s *sessionSender) writeLoop(conn net.Conn, ended <-chan error) error {
	for {
		s.feed.mu.Lock()
		limit := ^uint64(0)
		if s.holdAfter > 0 {
			limit = s.holdAfter
		}
		out, next := s.backlog.buffersFrom(s.written, limit)
		s.written, s.writing = next, len(out) > 0
		changes := s.session.unackedChanges > 0
		s.feed.mu.Unlock()
		if len(out) > 0 {
			if _, err := out.WriteTo(conn); err != nil {
				_ = conn.Close()
				if why := <-ended; errors.Is(why, errEndedByBackup) || errors.Is(why, frame.ErrMalformed) {
					return why
				}
				return err
			}
			if changes {
				s.feed.hub.reached(step.WriteSent)
			}
			continue
		}
		select {
		case <-s.wake:
		case err := <-ended:
			return err
		}
	}
}

// readLoop processes the messages of the backup.
func (s *sessionSender) readLoop(r *bufio.Reader) error {
	var buf []byte
	for {
		kind, payload, next, err := frame.Read(r, buf)
		buf = next
		if err != nil {
			return err
		}
		switch kind {
		case frame.Ack:
			k, _, err := frame.CutSequence(payload)
			if err == nil {
				err = s.handleAck(k)
			}
			if err != nil {
				return err
			}
		case kindAnswer:
			k, answer, err := frame.CutSequence(payload)
			if err != nil {
				return err
			}
			s.feed.mu.Lock()
			s.answers, s.answer = k, append([]byte(nil), answer...)
			s.feed.wakeWaiters()
			s.feed.mu.Unlock()
		case frame.Fail:
			return fmt.Errorf("%w: %.300s", errEndedByBackup, payload)
		default:
			return fmt.Errorf("%w: kind %d from a backup", frame.ErrMalformed, kind)
		}
	}
}

// handleAck processes an acknowledgement.
func (s *sessionSender) handleAck(k uint64) error {
	f := s.feed
	f.mu.Lock()
	freed, ok := f.state.handleAck(s.session, k, time.Now())
	if ok && s.session.endReason == "" {
		s.backlog.dropAcked(k)
		f.wakeWaiters()
	}
	f.mu.Unlock()
	if !ok {
		return fmt.Errorf("%w: %s acknowledges frame %d", frame.ErrMalformed, s.session.node, k)
	}
	if len(freed) > 0 {
		f.hub.reached(step.WriteFreed)
	}
	f.releaseReplies(freed)
	return nil
}

// send sends a frame and returns its number. primaryFeed.mu is held.
func (s *sessionSender) send(frame *feedFrame) uint64 {
	s.feed.state.send(s.session, frame, time.Now())
	return s.session.sent
}

// waitAcked waits until the backup has acknowledged all frames up to k.
func (s *sessionSender) waitAcked(ctx context.Context, k uint64) error {
	return s.feed.waitUntil(ctx, func() (bool, error) {
		if s.session.endReason != "" {
			return false, fmt.Errorf("%s: %s", s.session.node, s.session.endReason)
		}
		return s.session.acked >= k, nil
	})
}

// askBackup sends a question to the backup and waits for the report.
func (s *sessionSender) askBackup(ctx context.Context, q *question) (*report, error) {
	text, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	var answer []byte
	for answer == nil {
		s.feed.mu.Lock()
		k := s.send(&feedFrame{kind: kindQuestion, body: text})
		s.feed.mu.Unlock()
		err = s.feed.waitUntil(ctx, func() (bool, error) {
			if s.session.endReason != "" {
				return false, fmt.Errorf("%s: %s", s.session.node, s.session.endReason)
			}
			if s.answers == k {
				answer = s.answer
			}
			// The backup writes the answer before the acknowledgement: a broken connection may have
			// lost the answer.
			return answer != nil || s.session.acked >= k, nil
		})
		if err != nil {
			return nil, err
		}
	}
	r := new(report)
	if err := json.Unmarshal(answer, r); err != nil {
		return nil, fmt.Errorf("%w: an answer of %s: %w", frame.ErrMalformed, s.session.node, err)
	}
	return r, nil
}
