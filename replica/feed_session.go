package replica

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

	"github.com/ringside-kv/ringside/replica/socket"
)

// follow takes in one connection's frames.
func (e *Engine) follow(ctx context.Context, from string, own net.Conn) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = own.Close() })
	defer stop()
	conn, _ := socket.Of(own)
	defer func() { _ = conn.Close() }()
	r := bufio.NewReaderSize(conn, 256<<10)
	kind, payload, _, err := readFrame(r, nil)
	if err != nil {
		return err
	}
	var g greeting
	if kind != frameOpen || json.Unmarshal(payload, &g) != nil || g.From != from {
		return fmt.Errorf("%w: no greeting of %s", ErrFrame, from)
	}
	refuse := func(err error) error {
		_, _ = conn.Write(appendFrame(nil, frameFail, []byte(err.Error())))
		return err
	}
	if g.To != e.cfg.Incarnation {
		return refuse(fmt.Errorf("%w: it is for start %d", ErrSession, g.To))
	}
	if n, ok := e.cfg.Table.State().Node(from); ok && n.Incarnation > g.Incarnation {
		return refuse(fmt.Errorf("%w: %s was started again", ErrSession, from))
	}
	fo := e.followers.of(from, g.Incarnation)
	if fo == nil {
		return nil
	}
	fo.take(cancel)
	defer fo.serving.Unlock()
	if err := fo.groups.wait(ctx); err != nil {
		return err
	}
	fo.mu.Lock()
	anew := g.Session > fo.s.session
	if !anew {
		// What did not become durable is not here, though it was taken in.
		if err := fo.groups.failed(false); err != nil {
			fo.torn = true
			fo.s.end(err)
		}
	}
	have, err := fo.s.hello(g.Session)
	if err == nil && anew {
		_ = fo.groups.failed(true)
		// What failed once takes nothing more.
		fo.in.Close()
		fo.in = e.cfg.Store.TakeFeed()
		fo.torn = false
	}
	fo.mu.Unlock()
	if err != nil {
		return refuse(err)
	}
	m := &feedSession{fo: fo, ctx: ctx, r: r, conn: conn}
	return m.run(have)
}

// A feedSession is one connection's part of a session. It belongs to one goroutine.
type feedSession struct {
	fo    *follower
	ctx   context.Context
	r     *bufio.Reader
	conn  net.Conn
	arena []byte

	frames []*feedFrame
	bodies [][]byte
}

const (
	// feedGroup is about how many bytes are taken in at a time.
	feedGroup = 1 << 20
	// feedFrames bounds the frames of that.
	feedFrames = 1024
)

func (m *feedSession) run(have uint64) error {
	w := m.fo.groups.begin(m.conn, have, m.fo.e.reached)
	var err error
	for err == nil {
		if err = m.gather(); err == nil {
			err = m.process(w)
		}
	}
	// What breaks a connection does not end the session.
	var gone net.Error
	if m.ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, io.ErrClosedPipe) || errors.As(err, &gone) {
		w.end(nil)
		return nil
	}
	m.fo.mu.Lock()
	m.fo.s.end(err)
	m.fo.mu.Unlock()
	w.end(err)
	return err
}

// gather reads a frame, and those that have come with it.
func (m *feedSession) gather() error {
	m.frames = m.frames[:0]
	size := 0
	for {
		kind, payload, err := m.read()
		if err != nil {
			return err
		}
		f, err := parseFeed(kind, payload)
		if err != nil {
			return err
		}
		m.frames = append(m.frames, f)
		size += len(payload)
		if size >= feedGroup || len(m.frames) >= feedFrames || !m.ready() {
			return nil
		}
	}
}

// ready tells whether a whole frame can be read without waiting.
func (m *feedSession) ready() bool {
	n := m.r.Buffered()
	if n < frameHead {
		return false
	}
	head, err := m.r.Peek(4)
	return err == nil && uint64(n) >= 4+uint64(binary.BigEndian.Uint32(head))
}

// read reads a frame into memory that is its own.
func (m *feedSession) read() (frameKind, []byte, error) {
	head, err := m.r.Peek(frameHead)
	if err != nil {
		return 0, nil, err
	}
	n := int(binary.BigEndian.Uint32(head))
	if n < 1 || n > outboxPart/4 {
		kind, payload, _, err := readFrame(m.r, nil)
		return kind, payload, err
	}
	kind := frameKind(head[4])
	_, _ = m.r.Discard(frameHead)
	if n--; len(m.arena) < n {
		m.arena = make([]byte, outboxPart)
	}
	payload := m.arena[:n:n]
	m.arena = m.arena[n:]
	_, err = io.ReadFull(m.r, payload)
	return kind, payload, err
}

// process takes in what was gathered.
func (m *feedSession) process(w *ackWriter) error {
	at := 0
	for at < len(m.frames) {
		w.hold()
		n, err := m.some(w, at)
		w.flush()
		if err != nil {
			return err
		}
		at += n
		if at == len(m.frames) {
			return nil
		}
		// One that is not taken in along with others.
		if err := m.one(w, m.frames[at]); err != nil {
			return err
		}
		at++
	}
	return nil
}

// some takes in batches and beats, until another kind comes.
func (m *feedSession) some(w *ackWriter, at int) (n int, err error) {
	fo := m.fo
	fo.mu.Lock()
	defer fo.mu.Unlock()
	if st := fo.e.cfg.Table.State(); st != fo.seen {
		if fo.seen = st; fo.s.look(st) {
			fo.bounds()
		}
	}
	m.bodies = m.bodies[:0]
	for _, f := range m.frames[at:] {
		if f.kind != feedBatch && f.kind != feedBeat {
			break
		}
		if err := fo.s.frame(f); err != nil {
			fo.torn = fo.torn || len(m.bodies) > 0
			return 0, err
		}
		if f.kind == feedBatch {
			m.bodies = append(m.bodies, f.body)
		}
		n++
	}
	if n == 0 {
		return 0, nil
	}
	done := fo.groups.add(m.frames[at+n-1].k)
	if len(m.bodies) == 0 {
		done(nil)
		return n, nil
	}
	if err := fo.in.Apply(m.bodies, done); err != nil {
		done(err)
		fo.torn = true
		return 0, fmt.Errorf("%w: %w", ErrLostRow, err)
	}
	fo.e.reached(WriteTaken)
	return n, nil
}

// joinPatience is how long a member waits to learn that a row is not its own any more.
const joinPatience = 500 * time.Millisecond

// one takes in a frame that is no change.
func (m *feedSession) one(w *ackWriter, f *feedFrame) error {
	fo := m.fo
	var answer []byte
	switch f.kind {
	case feedJoin, feedBring:
		if err := m.judged(f.rows); err != nil {
			return err
		}
		fo.e.feeds.follows(f.rows)
	case feedAsk:
		var err error
		if answer, err = fo.e.answer(m.ctx, f.body); err != nil {
			return err
		}
	}
	fo.mu.Lock()
	err := fo.s.frame(f)
	if err == nil && f.kind != feedAsk {
		fo.s.join(f.rows, f.kind == feedJoin)
		fo.bounds()
	}
	if err == nil {
		if answer != nil {
			w.say(appendFrame(nil, feedAnswer, sequence(f.k), answer))
		}
		fo.groups.add(f.k)(nil)
	}
	fo.mu.Unlock()
	return err
}

// judged waits until each row may be followed, for a while.
func (m *feedSession) judged(rows []joinRow) error {
	e := m.fo.e
	changes, cancel := e.cfg.Table.Changes()
	defer cancel()
	late := time.NewTimer(joinPatience)
	defer late.Stop()
	for {
		st := e.cfg.Table.State()
		worst := accepted
		var which *joinRow
		m.fo.mu.Lock()
		for i := range rows {
			if v := m.fo.s.judge(st, e.cfg.Self, &rows[i]); v != accepted {
				worst, which = v, &rows[i]
			}
			if worst == refused {
				break
			}
		}
		m.fo.mu.Unlock()
		if worst == accepted {
			// Whatever this node did there as the primary has ended by the same state.
			e.feeds.turn()
			return nil
		}
		if worst == refused {
			return fmt.Errorf("%w: %v, epoch %d", ErrLostRow, which.Range, which.Epoch)
		}
		select {
		case <-changes:
		case <-late.C:
			return fmt.Errorf("%w: %v is this node's own", ErrLostRow, which.Range)
		case <-m.ctx.Done():
			return m.ctx.Err()
		}
	}
}

// answer says what is known of other primaries' rows.
func (e *Engine) answer(ctx context.Context, text []byte) ([]byte, error) {
	var q question
	if err := json.Unmarshal(text, &q); err != nil {
		return nil, fmt.Errorf("%w: a question: %w", ErrFrame, err)
	}
	var r report
	for i := range q.Origins {
		o := &q.Origins[i]
		if o.Node == e.cfg.Self && o.Incarnation == e.cfg.Incarnation {
			// Its own rows, which it gave away: after a cutover everybody has everything.
			own := originReport{Last: ^uint64(0), Rows: make([]bool, len(o.Rows))}
			for j := range own.Rows {
				own.Rows[j] = true
			}
			r.Origins = append(r.Origins, own)
			continue
		}
		fo := e.followers.of(o.Node, o.Incarnation)
		if fo == nil {
			return nil, ErrSession
		}
		one, err := fo.tells(ctx, o)
		if err != nil {
			return nil, err
		}
		r.Origins = append(r.Origins, one)
	}
	return json.Marshal(&r)
}
