package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/ring"
)

// A Ring is a client of a cluster: it knows which node serves which keys and sends each
// command straight there, over few connections that all callers share. Its methods may be
// called from any number of goroutines.
//
// What it does when a command fails on its way is the same for all of them. A command
// that was certainly not executed is tried again, elsewhere if need be, for RetryFor and
// as long as its context lasts. One that only reads is, too. A write that may have been
// executed never is: its error matches [ErrUnknownOutcome].
//
// Commands that need a connection of their own (subscriptions, transactions, CLIENT TRACKING
// and others that change their connection, commands that wait for others' writes) are refused
// with [ErrUnshared].
type Ring struct {
	cfg     Config
	metrics *metrics
	ctx     context.Context // done once the Ring closes
	cancel  context.CancelFunc
	running sync.WaitGroup
	again   chan struct{} // capacity 1: the placement is to be fetched anew

	owners   atomic.Pointer[owners]
	commands atomic.Pointer[commands]
	ops      ops

	mu      sync.Mutex // for changes of owners, too
	remotes map[string]*remote
	used    map[string]bool // addresses that the placement and the Config name
	closed  bool
}

// Open connects to one of the Config's addresses and learns from it what there is to
// know. It fails if none answers, or if the password is wrong. Close must be called. The
// error lists every fault of the Config, or what each address has come to.
func Open(ctx context.Context, cfg Config) (*Ring, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	r := &Ring{
		cfg: cfg, metrics: newMetrics(cfg.Metrics), again: make(chan struct{}, 1),
		remotes: make(map[string]*remote),
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	own := commands{}
	own.add(builtin)
	r.commands.Store(&own)
	s, err := r.meetAny(ctx, cfg.Addrs)
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("client: %w", err)
	}
	r.publish(s)
	r.running.Go(func() { r.follow(s) })
	r.running.Go(r.watch)
	return r, nil
}

// Close ends all connections and waits until nothing of the Ring runs. Commands on their
// way fail with [ErrClosed].
func (r *Ring) Close() {
	r.cancel()
	r.mu.Lock()
	r.closed = true
	all := r.remotes
	r.remotes = nil
	r.mu.Unlock()
	for _, to := range all {
		to.close()
		to.running.Wait()
	}
	r.running.Wait()
}

// remote is the node at an address.
func (r *Ring) remote(addr string) *remote {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.remoteLocked(addr)
}

func (r *Ring) remoteLocked(addr string) *remote {
	if r.closed {
		return closedRemote(addr)
	}
	to := r.remotes[addr]
	if to == nil {
		to = newRemote(r.ctx, &r.cfg, r.metrics, addr)
		r.remotes[addr] = to
	}
	return to
}

// publish makes owners of what is known of the placement; of a node alone if that is
// nothing. The node that tells it comes first among all.
func (r *Ring) publish(s *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	used := make(map[string]bool)
	at := func(addr string) *remote {
		used[addr] = true
		return r.remoteLocked(addr)
	}
	all := []*remote{at(s.home)}
	w := &owners{}
	if d := s.known; d != nil {
		for _, addr := range slices.Concat(d.sorted(), r.cfg.Addrs) {
			if to := at(addr); !slices.Contains(all, to) {
				all = append(all, to)
			}
		}
		w = d.owners(at)
	}
	w.all, w.next = all, make(chan struct{})
	r.used = used
	if old := r.owners.Swap(w); old != nil {
		close(old.next)
	}
	r.metrics.nodes.Update(float64(len(used)))
	r.metrics.ranges.Update(float64(max(1, len(w.by))))
}

// learn takes in what a node has said in a redirect.
func (r *Ring) learn(t ring.Token, to *remote) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.owners.Store(r.owners.Load().redirected(t, to))
}

// refresh has the placement fetched anew, soon.
func (r *Ring) refresh() {
	select {
	case r.again <- struct{}{}:
	default:
	}
}

// watch ends connections that are silent, and closes nodes that nobody needs any more.
func (r *Ring) watch() {
	ticker := time.NewTicker(r.cfg.Timeout / watchesInTimeout)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-r.ctx.Done():
			return
		}
		var over []*remote
		r.mu.Lock()
		for addr, to := range r.remotes {
			to.watch()
			if r.used[addr] || to.busy() {
				to.unused = 0
			} else if to.unused++; to.unused > watchesInTimeout {
				over = append(over, to)
				delete(r.remotes, addr)
			}
		}
		r.mu.Unlock()
		for _, to := range over {
			to.close()
			to.running.Wait()
		}
	}
}

// Do sends a command and waits for its reply. Arguments may be of any bytes.
func (r *Ring) Do(ctx context.Context, args ...string) Reply { return do(ctx, r, args) }

// DoBytes is Do for arguments that are byte slices. They may be used again afterwards.
func (r *Ring) DoBytes(ctx context.Context, args ...[]byte) Reply { return do(ctx, r, args) }

func do[T ~string | ~[]byte](ctx context.Context, r *Ring, args []T) Reply {
	if ctx.Err() != nil {
		return failed(notSent(context.Cause(ctx)))
	}
	r.metrics.commands.Inc(1)
	o := r.ops.take()
	o.body, o.marks = encode(o.body, o.marks, 0, args)
	o.n = 1
	l := line{o.body, o.marks}
	cmd, err := r.commands.Load().admit(&l)
	if err != nil {
		r.ops.giveBack(o)
		return failed(err)
	}
	w := r.owners.Load()
	if w.splits(&l, cmd) {
		l = line{slices.Clone(o.body), slices.Clone(o.marks)}
		r.ops.giveBack(o)
		parts := w.parts(&l, cmd)
		r.rounds(ctx, w, parts, nil)
		return r.counted(merge(cmd, l.keyCount(cmd), parts))
	}
	to, token, keyed := w.route(&l, cmd)
	g := group{to: to, op: o, reads: cmd.reads}
	g.send()
	outcome := failed(nil)
	if g.err = o.wait(ctx, g.lane); g.err == nil {
		if outcome = o.replies[0]; outcome.final() {
			r.ops.giveBack(o)
			return outcome
		}
	}
	p := part{cmd: cmd, body: slices.Clone(o.body)}
	if keyed {
		p.tokens = []ring.Token{token}
	}
	parts := []part{p}
	g.parts = []*part{&parts[0]}
	r.rounds(ctx, w, parts, []group{g})
	return r.counted(parts[0].reply)
}

// counted counts what a caller does not know the outcome of.
func (r *Ring) counted(reply Reply) Reply {
	if reply.kind <= Error && errors.Is(reply.Err(), ErrUnknownOutcome) {
		r.metrics.unknown.Inc(1)
	}
	return reply
}
