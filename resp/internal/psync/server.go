package psync

import (
	"context"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/resp/client"
)

// A Server serves the replicas of one node. Its methods may be called from any goroutine.
type Server struct {
	cfg    Config
	ctx    context.Context
	cancel context.CancelCauseFunc
	pool   *client.Pool

	mu       sync.Mutex
	history  *history      // nil: there is none
	changing chan struct{} // closed when a history that begins has begun; nil: none does
	replicas []*replica    // in the order in which they came
	ended    bool
	warned   time.Time
	running  sync.WaitGroup

	skipped       atomic.Int64
	modules       atomic.Int64
	closed        atomic.Int64
	full, partial atomic.Int64
	partialErrors atomic.Int64
}

// New returns a Server, which the caller closes.
func New(cfg Config) *Server {
	s := &Server{cfg: cfg}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.pool = client.NewPool(func(context.Context) (net.Conn, error) { return cfg.Dial() })
	return s
}

// End ends all replicas and the history, and waits for nothing. No other begins.
func (s *Server) End() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.cancel(errClosed)
	_ = s.pool.Close()
}

// Close is End, and waits. Connections of [Server.Serve] must have ended, or be about to.
func (s *Server) Close() {
	s.End()
	s.running.Wait()
}

// current returns the present history, which it begins if there is none.
//
// Invariant: one history follows the changes at a time. The next one begins when the last one has been cleaned up.
func (s *Server) current(ctx context.Context) (*history, error) {
	for {
		s.mu.Lock()
		h, wait := s.history, s.changing
		if s.ended {
			s.mu.Unlock()
			return nil, errClosed
		}
		if wait == nil && h == nil {
			wait = make(chan struct{})
			s.changing = wait
			s.mu.Unlock()
			s.begin(wait)
			continue
		}
		s.mu.Unlock()
		if wait == nil && h.ctx.Err() == nil {
			return h, nil
		}
		if wait == nil {
			wait = h.done
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// begin begins a history and has it cleaned up once it ends.
func (s *Server) begin(begun chan struct{}) {
	h := newHistory(s)
	s.mu.Lock()
	s.history, s.changing = h, nil
	s.running.Add(1)
	s.mu.Unlock()
	close(begun)
	go func() {
		defer s.running.Done()
		<-h.ctx.Done()
		s.cfg.Logger.Info("a replication history has ended: replicas need a full synchronization", "err", context.Cause(h.ctx))
		h.close()
		s.mu.Lock()
		s.history = nil
		s.mu.Unlock()
		close(h.done)
	}()
}

// warn logs a failure that may repeat, at most once in a while.
func (s *Server) warn(what string, err error) {
	const every = 10 * time.Second
	s.mu.Lock()
	now := time.Now()
	again := !s.warned.IsZero() && now.Sub(s.warned) < every
	if !again {
		s.warned = now
	}
	s.mu.Unlock()
	if !again && s.ctx.Err() == nil {
		s.cfg.Logger.Warn(what, "err", err)
	}
}

func (s *Server) add(r *replica) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replicas = append(s.replicas, r)
}

func (s *Server) remove(r *replica) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replicas = slices.DeleteFunc(s.replicas, func(other *replica) bool { return other == r })
}

// check closes the replicas of a history that are silent or too slow, and returns how many there are and how many of
// them read the stream.
func (s *Server) check(h *history, now time.Time, settings *Settings) (replicas, online int) {
	s.mu.Lock()
	all := slices.Clone(s.replicas)
	s.mu.Unlock()
	for _, r := range all {
		state, since := r.check(h, now, settings)
		switch {
		case since == nil && state == stateNone:
			continue
		case since != nil:
			s.cfg.Logger.Warn("closing a replica", "addr", r.addr(), "err", since)
			s.closed.Add(1)
			r.close()
			continue
		}
		replicas++
		if state == stateOnline {
			online++
		}
	}
	return replicas, online
}

// A Status is what INFO and ROLE tell of one replica.
type Status struct {
	Host   string
	Port   int
	State  string // as INFO calls it
	Offset int64  // that it has acknowledged
	Lag    time.Duration
	Behind int64 // bytes that it was not sent yet
}

// An Overview is what INFO and metrics tell of all replicas.
type Overview struct {
	Replicas []Status
	// ID is empty without a history; then the numbers of the stream mean nothing.
	ID         string
	Start, End int64
	Backlog    int64
	// Pending is how many changed keys wait to be sent.
	Pending int
	// Full and Partial are how many synchronizations there have been, PartialErrors how many replicas asked for a
	// partial one and got a full one, Skipped how many values replicas could not get, Modules how many values of modules
	// were sent, which a replica without the module does not have, and Closed how many replicas were closed for being
	// silent or slow.
	Full, Partial, PartialErrors, Skipped, Modules, Closed int64
}

// Behind is how many bytes the slowest replica was not sent yet.
func (o *Overview) Behind() (bytes int64) {
	for _, r := range o.Replicas {
		bytes = max(bytes, r.Behind)
	}
	return bytes
}

// Overview returns what there is.
func (s *Server) Overview() (o Overview) {
	s.mu.Lock()
	all, h := slices.Clone(s.replicas), s.history
	s.mu.Unlock()
	for _, r := range all {
		o.Replicas = append(o.Replicas, r.status())
	}
	if h != nil && h.ctx.Err() == nil {
		o.ID, o.Pending = h.id, h.pending.count()
		o.Start, o.End = h.stream.span()
	}
	o.Backlog = s.cfg.Settings().Backlog
	o.Full, o.Partial, o.PartialErrors = s.full.Load(), s.partial.Load(), s.partialErrors.Load()
	o.Skipped, o.Modules, o.Closed = s.skipped.Load(), s.modules.Load(), s.closed.Load()
	return o
}
