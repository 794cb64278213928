package feed

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/ringside-kv/ringside/internal/socket"
	"github.com/ringside-kv/ringside/replica/internal/frame"
	"github.com/ringside-kv/ringside/replica/step"
)

// serveFeed receives the frames of one connection.
func (h *Feed) serveFeed(ctx context.Context, from string, own net.Conn) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = own.Close() })
	defer stop()
	conn, _ := socket.Of(own)
	defer func() { _ = conn.Close() }()
	r := bufio.NewReaderSize(conn, 256<<10)
	kind, payload, _, err := frame.Read(r, nil)
	if err != nil {
		return err
	}
	var g greeting
	if kind != frame.Open || json.Unmarshal(payload, &g) != nil || g.From != from {
		return fmt.Errorf("%w: no greeting of %s", frame.ErrMalformed, from)
	}
	refuse := func(err error) error {
		_, _ = conn.Write(frame.Append(nil, frame.Fail, []byte(err.Error())))
		return err
	}
	if g.To != h.cfg.Incarnation {
		return refuse(fmt.Errorf("%w: it is for start %d", ErrSession, g.To))
	}
	if n, ok := h.cfg.Table.State().Node(from); ok && n.Incarnation > g.Incarnation {
		return refuse(fmt.Errorf("%w: %s was started again", ErrSession, from))
	}
	fo := h.backups.get(from, g.Incarnation)
	if fo == nil {
		return nil
	}
	fo.takeConn(cancel)
	defer fo.connMu.Unlock()
	if err := fo.acks.waitDurable(ctx); err != nil {
		return err
	}
	fo.mu.Lock()
	anew := g.Session > fo.state.session
	if !anew {
		// Accepted frames that did not become durable are missing here.
		if err := fo.acks.failure(false); err != nil {
			fo.incomplete = true
			fo.state.endSession(err)
		}
	}
	have, err := fo.state.beginSession(g.Session)
	if err == nil && anew {
		_ = fo.acks.failure(true)
		// A receiver of the store that failed once accepts nothing more.
		fo.in.Close()
		fo.in = h.cfg.Store.ReceiveFeed()
		fo.incomplete = false
	}
	fo.mu.Unlock()
	if err != nil {
		return refuse(err)
	}
	m := &sessionReceiver{feed: fo, ctx: ctx, reader: r, conn: conn}
	return m.run(have)
}

// A sessionReceiver receives the frames of a session from one connection. It belongs to one
// goroutine.
type sessionReceiver struct {
	feed   *backupFeed
	ctx    context.Context
	reader *bufio.Reader
	conn   net.Conn
	arena  []byte

	frames []*feedFrame
	bodies [][]byte
}

const (
	// feedGroup is the approximate number of bytes applied at a time.
	feedGroup = 1 << 20
	// feedFrames is the maximum number of frames applied at a time.
	feedFrames = 1024
)

func (r *sessionReceiver) run(have uint64) error {
	w := r.feed.acks.attach(r.conn, have, r.feed.hub.reached)
	var err error
	for err == nil {
		if err = r.readGroup(); err == nil {
			err = r.applyGroup(w)
		}
	}
	// A broken connection does not end the session.
	var gone net.Error
	if r.ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, io.ErrClosedPipe) || errors.As(err, &gone) {
		w.close(nil)
		return nil
	}
	r.feed.mu.Lock()
	r.feed.state.endSession(err)
	r.feed.mu.Unlock()
	w.close(err)
	return err
}

// readGroup reads one frame, and all further frames that have arrived with it.
func (r *sessionReceiver) readGroup() error {
	r.frames = r.frames[:0]
	size := 0
	for {
		kind, payload, err := r.readOwned()
		if err != nil {
			return err
		}
		f, err := parseFrame(kind, payload)
		if err != nil {
			return err
		}
		r.frames = append(r.frames, f)
		size += len(payload)
		if size >= feedGroup || len(r.frames) >= feedFrames || !r.hasFrame() {
			return nil
		}
	}
}

// hasFrame reports whether a whole frame can be read without waiting.
func (r *sessionReceiver) hasFrame() bool {
	n := r.reader.Buffered()
	if n < frame.HeadSize {
		return false
	}
	head, err := r.reader.Peek(4)
	return err == nil && uint64(n) >= 4+uint64(binary.BigEndian.Uint32(head))
}

// readOwned reads a frame into memory that it does not share.
func (r *sessionReceiver) readOwned() (frame.Kind, []byte, error) {
	head, err := r.reader.Peek(frame.HeadSize)
	if err != nil {
		return 0, nil, err
	}
	n := int(binary.BigEndian.Uint32(head))
	if n < 1 || n > frame.PartSize/4 {
		kind, payload, _, err := frame.Read(r.reader, nil)
		return kind, payload, err
	}
	kind := frame.Kind(head[4])
	_, _ = r.reader.Discard(frame.HeadSize)
	if n--; len(r.arena) < n {
		r.arena = make([]byte, frame.PartSize)
	}
	payload := r.arena[:n:n]
	r.arena = r.arena[n:]
	_, err = io.ReadFull(r.reader, payload)
	return kind, payload, err
}

// applyGroup applies the frames that were read.
func (r *sessionReceiver) applyGroup(w *ackWriter) error {
	at := 0
	for at < len(r.frames) {
		w.hold()
		n, err := r.applyChanges(w, at)
		w.flush()
		if err != nil {
			return err
		}
		at += n
		if at == len(r.frames) {
			return nil
		}
		// Control frames are applied one at a time.
		if err := r.applyControl(w, r.frames[at]); err != nil {
			return err
		}
		at++
	}
	return nil
}

// applyChanges applies batches and heartbeats up to the first frame of another kind. n is their
// number.
func (r *sessionReceiver) applyChanges(w *ackWriter, at int) (n int, err error) {
	fo := r.feed
	fo.mu.Lock()
	defer fo.mu.Unlock()
	if st := fo.hub.cfg.Table.State(); st != fo.seenState {
		if fo.seenState = st; fo.state.applyTable(st) {
			fo.updateRanges()
		}
	}
	r.bodies = r.bodies[:0]
	for _, f := range r.frames[at:] {
		if f.kind != kindBatch && f.kind != kindHeartbeat {
			break
		}
		if err := fo.state.acceptFrame(f); err != nil {
			fo.incomplete = fo.incomplete || len(r.bodies) > 0
			return 0, err
		}
		if f.kind == kindBatch {
			r.bodies = append(r.bodies, f.body)
		}
		n++
	}
	if n == 0 {
		return 0, nil
	}
	done := fo.acks.add(r.frames[at+n-1].seq)
	if len(r.bodies) == 0 {
		done(nil)
		return n, nil
	}
	if err := fo.in.Apply(r.bodies, done); err != nil {
		done(err)
		fo.incomplete = true
		return 0, fmt.Errorf("%w: %w", ErrNotFollowed, err)
	}
	fo.hub.reached(step.WriteTaken)
	return n, nil
}

// joinTimeout bounds the wait for this node's table to give a row to another primary.
const joinTimeout = 500 * time.Millisecond

// applyControl applies a join, a catch-up or a question.
func (r *sessionReceiver) applyControl(w *ackWriter, f *feedFrame) error {
	fo := r.feed
	var answer []byte
	switch f.kind {
	case kindJoin, kindCatchUp:
		if err := r.waitForVerdict(f.rows); err != nil {
			return err
		}
		fo.hub.primary.dropLearnedRows(f.rows)
	case kindQuestion:
		var err error
		if answer, err = fo.hub.answerQuestion(r.ctx, f.body); err != nil {
			return err
		}
	}
	fo.mu.Lock()
	err := fo.state.acceptFrame(f)
	if err == nil && f.kind != kindQuestion {
		fo.state.join(f.rows, f.kind == kindJoin)
		fo.updateRanges()
	}
	if err == nil {
		if answer != nil {
			w.queueFrame(frame.Append(nil, kindAnswer, frame.Sequence(f.seq), answer))
		}
		fo.acks.add(f.seq)(nil)
	}
	fo.mu.Unlock()
	return err
}

// waitForVerdict waits until each row may be joined, for joinTimeout at most.
func (r *sessionReceiver) waitForVerdict(rows []joinRow) error {
	e := r.feed.hub
	changes, cancel := e.cfg.Table.Changes()
	defer cancel()
	late := time.NewTimer(joinTimeout)
	defer late.Stop()
	for {
		st := e.cfg.Table.State()
		worst := accepted
		var which *joinRow
		r.feed.mu.Lock()
		for i := range rows {
			if v := r.feed.state.checkJoin(st, e.cfg.Self, &rows[i]); v != accepted {
				worst, which = v, &rows[i]
			}
			if worst == refused {
				break
			}
		}
		r.feed.mu.Unlock()
		if worst == accepted {
			// The state that allows the join also ends this node's own term there.
			e.primary.update()
			return nil
		}
		if worst == refused {
			return fmt.Errorf("%w: %v, epoch %d", ErrNotFollowed, which.Range, which.Epoch)
		}
		select {
		case <-changes:
		case <-late.C:
			return fmt.Errorf("%w: %v is this node's own", ErrNotFollowed, which.Range)
		case <-r.ctx.Done():
			return r.ctx.Err()
		}
	}
}

// answerQuestion reports what is known of rows of other primaries.
func (h *Feed) answerQuestion(ctx context.Context, text []byte) ([]byte, error) {
	var q question
	if err := json.Unmarshal(text, &q); err != nil {
		return nil, fmt.Errorf("%w: a question: %w", frame.ErrMalformed, err)
	}
	var r report
	for i := range q.Origins {
		o := &q.Origins[i]
		if o.Node == h.cfg.Self && o.Incarnation == h.cfg.Incarnation {
			// These rows were this node's own. It gave them away by a cutover, when all members had
			// all changes.
			own := originReport{Last: ^uint64(0), Rows: make([]bool, len(o.Rows))}
			for j := range own.Rows {
				own.Rows[j] = true
			}
			r.Origins = append(r.Origins, own)
			continue
		}
		fo := h.backups.get(o.Node, o.Incarnation)
		if fo == nil {
			return nil, ErrSession
		}
		one, err := fo.report(ctx, o)
		if err != nil {
			return nil, err
		}
		r.Origins = append(r.Origins, one)
	}
	return json.Marshal(&r)
}
