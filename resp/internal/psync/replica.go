package psync

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/resp/wire"
)

// A Link is the connection of a replica.
type Link struct {
	Conn net.Conn
	// Rest is what has come and was not read yet.
	Rest []byte
	Conf *Conf
	// Close ends the connection, from any goroutine.
	Close func()
	// Sent is told of bytes that were sent, and Heard of bytes that have come.
	Sent, Heard func(n int)
}

// A state is how far a replica has come.
type state int

const (
	stateNone   state = iota // it is no replica of the history in question
	stateWaits               // for the moment
	stateLoads               // the file
	stateOnline              // it reads the stream
)

// String returns the state as INFO shows it.
func (s state) String() string {
	switch s {
	case stateLoads:
		return "send_bulk"
	case stateOnline:
		return "online"
	}
	return "wait_bgsave"
}

// A replica is one that is being served.
type replica struct {
	s     *Server
	link  *Link
	acked chan struct{} // gets a value when the replica has acknowledged something, if it is empty

	writing sync.Mutex // serializes what is sent

	mu       sync.Mutex
	state    state
	history  *history
	cursor   *cursor
	offset   int64     // acknowledged
	heard    time.Time // when something came last
	tooMuch  time.Time // since when more waits than the soft limit; zero: it does not
	deadline time.Duration
}

// Serve answers PSYNC with a replication id and the offset behind what the replica has, or SYNC if the id is empty, and
// serves the replica until its connection ends. If it refuses the replica, it returns an error reply, and nothing was sent.
func (s *Server) Serve(link *Link, id string, offset int64) (refusal string) {
	if _, _, eof := link.Conf.get(); !eof {
		return "ERR the replica cannot read a file of unknown length: it has not sent REPLCONF capa eof, as Redis does since 2.8.18"
	}
	settings := s.cfg.Settings()
	now := time.Now()
	r := &replica{s: s, link: link, acked: make(chan struct{}, 1), heard: now, state: stateWaits, deadline: settings.Timeout}
	ctx, cancel := context.WithCancelCause(s.ctx)
	s.add(r)
	var reading sync.WaitGroup
	reading.Go(func() {
		err := r.read()
		cancel(err)
		link.Close()
	})
	stop := context.AfterFunc(ctx, link.Close)
	err := r.serve(ctx, id, offset)
	stop()
	cancel(err)
	link.Close()
	reading.Wait()
	r.leave()
	s.remove(r)
	s.cfg.Logger.Info("a replica has gone", "addr", r.addr(), "err", context.Cause(ctx))
	return ""
}

// serve returns when the connection or the history has ended.
func (r *replica) serve(ctx context.Context, id string, offset int64) error {
	if !r.resumes(id, offset) {
		if id != "" && id != "?" {
			r.s.partialErrors.Add(1)
		}
		if err := r.synchronize(ctx, id != ""); err != nil {
			return err
		}
	} else if err := r.send([]byte("+CONTINUE " + id + "\r\n")); err != nil {
		return err
	}
	r.s.cfg.Logger.Info("a replica follows", "addr", r.addr())
	h, c := r.history, r.cursor
	for {
		data, more := h.stream.next(c)
		if data == nil {
			select {
			case <-more:
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-h.ctx.Done():
				return context.Cause(h.ctx)
			}
			continue
		}
		if h.ctx.Err() != nil {
			return context.Cause(h.ctx)
		}
		if err := r.send(data); err != nil {
			return err
		}
		h.stream.advance(c, len(data))
	}
}

// resumes attaches a replica to the present history if the stream has what follows its offset.
func (r *replica) resumes(id string, offset int64) bool {
	r.s.mu.Lock()
	h := r.s.history
	r.s.mu.Unlock()
	if h == nil || h.id != id || h.ctx.Err() != nil {
		return false
	}
	c := h.stream.reopen(offset - 1) // a replica names the first byte that it wants, counted from 1
	if c == nil {
		return false
	}
	r.attach(h, c, stateLoads)
	r.goOnline()
	r.s.partial.Add(1)
	return true
}

func (r *replica) attach(h *history, c *cursor, state state) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history, r.cursor, r.state, r.heard = h, c, state, time.Now()
}

// goOnline has the stream go on for the replica.
func (r *replica) goOnline() {
	r.mu.Lock()
	r.state, r.heard = stateOnline, time.Now()
	r.mu.Unlock()
	r.history.setOnline(1)
}

// leave detaches the replica from its history.
func (r *replica) leave() {
	r.mu.Lock()
	h, c, was := r.history, r.cursor, r.state
	r.mu.Unlock()
	if h == nil {
		return
	}
	h.stream.close(c)
	if was == stateOnline {
		h.setOnline(-1)
	}
}

// synchronize sends the replica all keys, behind the name of the history if that is said, and returns when it has loaded
// them.
func (r *replica) synchronize(ctx context.Context, named bool) error {
	want := r.link.Conf.content()
	snap, err := r.await(ctx, want.FileOnly)
	if err != nil {
		return err
	}
	id, offset := newID(), int64(0)
	if snap.h != nil {
		id, offset = snap.h.id, snap.cursor.at
		r.attach(snap.h, snap.cursor, stateLoads)
	}
	r.s.full.Add(1)
	select {
	case <-r.acked: // what it has said before means nothing
	default:
	}
	if named {
		err = r.send(fmt.Appendf(nil, "+FULLRESYNC %s %d\r\n", id, offset))
	}
	if err == nil {
		err = snap.write(ctx, replicaWriter{r}, want, r.link.Conf.readsAny())
	}
	snap.moment.Close()
	if err != nil {
		return err
	}
	if want.FileOnly {
		return r.awaitEnd(ctx)
	}
	// A replica finds the end of the file by what it has read last, so nothing may follow before it says that it has it.
	select {
	case <-r.acked:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-snap.h.ctx.Done():
		return context.Cause(snap.h.ctx)
	}
	r.goOnline()
	return nil
}

// awaitEnd has a client that wanted the file alone close the connection, since it may not have read all yet.
func (r *replica) awaitEnd(ctx context.Context) error {
	timeout := time.NewTimer(r.deadline)
	defer timeout.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timeout.C:
		return errors.New("it has the file, and wanted no more")
	}
}

// await takes a moment, while the replica hears that it is being served.
func (r *replica) await(ctx context.Context, fileOnly bool) (snap *snapshot, err error) {
	ended := make(chan struct{})
	var alive sync.WaitGroup
	alive.Go(func() {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				_ = r.send([]byte("\n")) // the reader notices a broken connection
			case <-ended:
				return
			}
		}
	})
	snap, err = r.s.snapshot(ctx, fileOnly)
	close(ended)
	alive.Wait()
	return snap, err
}

// send sends b as a whole, or fails when the replica has taken nothing for long.
func (r *replica) send(b []byte) error {
	r.writing.Lock()
	defer r.writing.Unlock()
	if err := r.link.Conn.SetWriteDeadline(time.Now().Add(r.deadline)); err != nil {
		return err
	}
	n, err := r.link.Conn.Write(b)
	r.link.Sent(n)
	return err
}

// A replicaWriter is a replica as a writer.
type replicaWriter struct{ *replica }

// Write implements io.Writer.
func (w replicaWriter) Write(b []byte) (n int, err error) {
	for rest := b; len(rest) > 0; {
		part := rest[:min(len(rest), maxWrite)]
		if err := w.send(part); err != nil {
			return n, err
		}
		n, rest = n+len(part), rest[len(part):]
	}
	return n, nil
}

// Bounds of what a replica says.
var replicaLimits = wire.Limits{Args: 64, Bulk: 64 << 10, Authed: true}

// read takes in what the replica says until the connection ends.
func (r *replica) read() error {
	buf, guard := append([]byte(nil), r.link.Rest...), wire.NewGuard()
	chunk := make([]byte, 4<<10)
	var args [][]byte
	for {
		for len(buf) > 0 {
			n, words, err := guard.Next(buf, &replicaLimits, args[:0])
			if err != nil {
				return err
			}
			if n == 0 {
				break
			}
			r.hear(words)
			args, buf = words, buf[n:]
		}
		n, err := r.link.Conn.Read(chunk)
		r.link.Heard(n)
		buf = append(buf, chunk[:n]...)
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			return errGone
		default:
			return err
		}
	}
}

var errGone = errors.New("the replica has closed the connection")

// hear takes in a command of the replica, without words if that is an empty line.
func (r *replica) hear(words [][]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heard = time.Now()
	if len(words) < 3 || !wire.EqualFold(words[0], "replconf") || !wire.EqualFold(words[1], "ack") {
		return
	}
	offset, err := strconv.ParseInt(string(words[2]), 10, 64)
	if err != nil {
		return
	}
	r.offset = offset
	select {
	case r.acked <- struct{}{}:
	default:
	}
}

// check returns how far a replica of a history has come, and an error if it must be closed.
func (r *replica) check(h *history, now time.Time, settings *Settings) (state, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.history != h {
		return stateNone, nil
	}
	// While a replica loads, writes to it fail if it takes nothing.
	if silent := now.Sub(r.heard); r.state == stateOnline && settings.Timeout > 0 && silent > settings.Timeout {
		return r.state, fmt.Errorf("nothing has come for %v", silent)
	}
	behind := h.stream.lag(r.cursor)
	if settings.SoftLimit <= 0 || behind <= settings.SoftLimit {
		r.tooMuch = time.Time{}
	} else if r.tooMuch.IsZero() {
		r.tooMuch = now
	}
	if settings.Limit > 0 && behind > settings.Limit || !r.tooMuch.IsZero() && now.Sub(r.tooMuch) > settings.SoftTime {
		return r.state, fmt.Errorf("%d bytes wait for it, more than client-output-buffer-limit allows", behind)
	}
	return r.state, nil
}

func (r *replica) close() { r.link.Close() }

func (r *replica) addr() string { return r.link.Conn.RemoteAddr().String() }

func (r *replica) status() Status {
	host, port, _ := r.link.Conf.get()
	if host == "" {
		host, _, _ = net.SplitHostPort(r.addr())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	st := Status{Host: host, Port: port, State: r.state.String(), Offset: r.offset, Lag: time.Since(r.heard)}
	if r.history != nil {
		st.Behind = r.history.stream.lag(r.cursor)
	}
	return st
}
