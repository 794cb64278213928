package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"slices"
	"sync"
	"time"
)

// PeerConfig says how a Peer is reached.
type PeerConfig struct {
	// Dial makes a connection whose other end runs ServeForward. It is called from
	// any goroutine, must heed its context, and may take DialTimeout. The connection may
	// have a method PeerIncarnation() uint64, which numbers the starts of the node: see
	// [Peer.Abandon], and PeerVersion() uint16, the version of the protocol between nodes.
	Dial func(ctx context.Context) (net.Conn, error)
	// Conns is how many connections share the load; default 2.
	Conns int
	// MaxFrame bounds the length of a frame in either direction, in bytes; default
	// 513 MiB. Both ends should agree.
	MaxFrame int
	// MaxInFlight bounds the bytes of requests on one connection that are not
	// answered; default 16 MiB. What is beyond waits in its caller's memory, and
	// one call always fits.
	MaxInFlight int
	// DialTimeout bounds one attempt to connect; default 5 s.
	DialTimeout time.Duration
	// WriteTimeout is how long the peer may take nothing of what is sent before the
	// connection is given up; default 10 s.
	WriteTimeout time.Duration
	// MinBackoff and MaxBackoff bound the pause between attempts to connect, which
	// doubles from one to the next; default 10 ms and 1 s. While calls are sent, and fail,
	// it stays short.
	MinBackoff, MaxBackoff time.Duration
	// Clock is this side's clock, on which the deadlines of calls are told to the peer. It must
	// never go back, nor jump ahead, and should go on while the machine is suspended: see
	// [ServeConfig]. It is called from any goroutine, once for each write and read. The default is
	// the monotonic clock of the process.
	Clock func() time.Duration
	// Logger hears when the peer is lost and found; nil discards.
	Logger *slog.Logger
}

// EnsureDefaults fills in what is not set.
func (c *PeerConfig) EnsureDefaults() {
	setDefault(&c.Conns, 2)
	setDefault(&c.MaxFrame, defaultMaxFrame)
	setDefault(&c.MaxInFlight, 16<<20)
	setDefault(&c.DialTimeout, 5*time.Second)
	setDefault(&c.WriteTimeout, 10*time.Second)
	setDefault(&c.MinBackoff, 10*time.Millisecond)
	setDefault(&c.MaxBackoff, max(time.Second, c.MinBackoff))
	if c.Clock == nil {
		c.Clock = monotonic
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
}

func setDefault[T int | int64 | time.Duration](at *T, value T) {
	if *at == 0 {
		*at = value
	}
}

// Validate reports every fault at once.
func (c *PeerConfig) Validate() error {
	var errs []error
	if c.Dial == nil {
		errs = append(errs, errors.New("client: no way to dial the peer"))
	}
	if c.Conns < 1 || c.Conns > 1024 {
		errs = append(errs, fmt.Errorf("client: %d connections are not between 1 and 1024", c.Conns))
	}
	errs = append(errs, validMaxFrame(c.MaxFrame))
	if c.MaxInFlight < 1 {
		errs = append(errs, fmt.Errorf("client: %d bytes in flight are fewer than 1", c.MaxInFlight))
	}
	if c.DialTimeout < 0 || c.WriteTimeout < 0 {
		errs = append(errs, errors.New("client: a time-out is negative"))
	}
	if c.MinBackoff < 0 || c.MaxBackoff < c.MinBackoff {
		errs = append(errs, fmt.Errorf("client: pauses from %s to %s between attempts to connect", c.MinBackoff, c.MaxBackoff))
	}
	return errors.Join(errs...)
}

func validMaxFrame(n int) error {
	if n < 64 || n > math.MaxInt32 {
		return fmt.Errorf("client: frames of at most %d bytes are not between 64 B and 2 GiB", n)
	}
	return nil
}

// Peer sends calls to one remote node over few connections. Its methods may be
// called from any number of goroutines. It connects when it is first used, and
// again, with growing pauses, when a connection breaks.
type Peer struct {
	cfg     PeerConfig
	links   []*link
	ctx     context.Context // done once the peer closes
	cancel  context.CancelFunc
	alarm   chan struct{} // an earlier deadline than the clock knows of
	running sync.WaitGroup
}

// NewPeer returns a Peer. Close must be called. The error lists every fault of the
// PeerConfig.
func NewPeer(cfg PeerConfig) (*Peer, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	p := &Peer{cfg: cfg, alarm: make(chan struct{}, 1)}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	for range cfg.Conns {
		l := newLink(p)
		p.links = append(p.links, l)
		p.running.Go(l.run)
	}
	p.running.Go(p.watchDeadlines)
	return p, nil
}

// Send puts a call on its way and does not wait for the network. The call's
// buffers must stay as they are until Wait has returned. An error of Send, which
// Wait repeats, matches ErrNotSent: the peer has seen nothing of the call. Calls
// wait for the outcome of the first attempt to connect, at the beginning and after a
// connection broke; once that has failed, they fail at once until another succeeds.
func (p *Peer) Send(c *Call) error {
	if err := c.prepare(p.cfg.MaxFrame); err != nil {
		return err
	}
	l := p.links[int(c.Lane%uint32(len(p.links)))]
	return l.send(c)
}

// Redial has connections that are down try again at once: the remote node seems to be back.
func (p *Peer) Redial() {
	for _, l := range p.links {
		l.redial()
	}
}

// Close ends all connections and waits until nothing of the Peer runs. Calls on
// their way fail with ErrClosed.
func (p *Peer) Close() {
	p.cancel()
	p.running.Wait()
}

// CloseIdle begins to close the Peer if no call is on its way, and reports whether it has. Calls that are sent from then
// on fail with ErrNotSent, so none ends with an unknown outcome for it. It does not wait; Close does, and must be called.
func (p *Peer) CloseIdle() bool {
	for _, l := range p.links {
		l.mu.Lock()
	}
	idle := !slices.ContainsFunc(p.links, func(l *link) bool { return l.inFlight > 0 || l.queue.first != nil || l.writing })
	if idle {
		for _, l := range p.links {
			l.state, l.refusal = muxClosed, notSent(ErrClosed)
		}
		p.cancel() // before a link can have a new connection
	}
	for _, l := range p.links {
		l.mu.Unlock()
	}
	return idle
}

// watchDeadlines ends calls whose time is over.
func (p *Peer) watchDeadlines() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-p.alarm:
		case <-p.ctx.Done():
			return
		}
		t := now()
		next := int64(math.MaxInt64)
		for _, l := range p.links {
			next = min(next, l.expire(t))
		}
		if next == math.MaxInt64 {
			timer.Stop()
			continue
		}
		// Deadlines closer than this share a look at all calls.
		const least = int64(time.Millisecond)
		timer.Reset(time.Duration(max(next-t, least)))
	}
}
