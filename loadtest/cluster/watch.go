package cluster

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sort"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/loadtest/result"
)

// A WatchConfig says what to watch, and how.
type WatchConfig struct {
	// Addrs are the clients' addresses of some nodes; the others are asked for. Those of a
	// [Cluster] are known, as are Username, Password and TLS, which nodes want of clients.
	Addrs              []string
	Username, Password string
	TLS                *tls.Config // nil: without
	// Began is when the run began, in whose times samples are; default: now.
	Began time.Time
	// Every is how much time lies between two samples; default 500 ms, at least 50 ms.
	Every time.Duration
	// Profile tells of nodes that run in this process how much of its processors each takes.
	// Nobody else can make a processor profile of it meanwhile.
	Profile bool
	// Sample, if set, is given each sample as it is taken, by one goroutine at a time, and
	// must not block.
	Sample func(result.Sample)
}

// EnsureDefaults fills in what is not set.
func (c *WatchConfig) EnsureDefaults() {
	c.Every = cmp.Or(c.Every, 500*time.Millisecond)
	c.Began = cmp.Or(c.Began, time.Now())
}

// Validate reports every fault at once.
func (c *WatchConfig) Validate() error {
	var faults []error
	if c.Every < 50*time.Millisecond {
		faults = append(faults, fmt.Errorf("cluster: watch: %v between two samples is below 50 ms", c.Every))
	}
	if c.Password == "" && c.Username != "" {
		faults = append(faults, errors.New("cluster: watch: a user without a password"))
	}
	return errors.Join(faults...)
}

// ErrNotRingside says that a node that answers is none of Ringside.
var ErrNotRingside = errors.New("not a node of Ringside")

// A Watch takes samples of a cluster until it is stopped. Its methods may be called from any
// goroutine.
type Watch struct {
	cfg    WatchConfig
	access access
	find   func(context.Context) ([]Node, error)
	procs  *processors // nil: nothing is known of them

	ctx    context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup
	over   chan struct{} // closed by Stop
	stop   sync.Once

	looking sync.Mutex // held by who asks nodes; guards what follows
	nodes   map[string]*watched
	order   []string // of all nodes ever met, as they came
	began   time.Time
	sum     counts // since then
	told    counts // of that, in samples
	charted charted

	mu      sync.Mutex // guards what was found; may be taken with looking held
	samples []result.Sample
	layouts []result.Layout
}

// StartWatch watches a cluster that runs somewhere. It fails if no node of it answers; with
// [ErrNotRingside] if one does, and is something else.
func StartWatch(ctx context.Context, cfg WatchConfig) (*Watch, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if len(cfg.Addrs) == 0 {
		return nil, errors.New("cluster: watch: no address of a node")
	}
	d := &directory{access: access{cfg.Username, cfg.Password, cfg.TLS}, addrs: cfg.Addrs}
	return newWatch(cfg, d.access, d.find).start(ctx)
}

// Watch watches the fleet, until the watch is stopped or the fleet closed.
func (f *Cluster) Watch(ctx context.Context, cfg WatchConfig) (*Watch, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	w := newWatch(cfg, f.access(), func(context.Context) ([]Node, error) { return f.Nodes(), nil })
	if cfg.Profile && !f.cfg.Processes {
		w.procs = startProcessors()
	}
	w, err := w.start(ctx)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	closed := f.ctx.Err() != nil
	if !closed {
		f.watches = append(f.watches, w)
	}
	f.mu.Unlock()
	if closed {
		w.Stop()
		return nil, ErrClosed
	}
	return w, nil
}

func newWatch(cfg WatchConfig, a access, find func(context.Context) ([]Node, error)) *Watch {
	w := &Watch{cfg: cfg, access: a, find: find, nodes: make(map[string]*watched), began: time.Now(), over: make(chan struct{})}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w
}

// start takes a first look, and ends the watch if no node answers.
func (w *Watch) start(ctx context.Context) (*Watch, error) {
	if err := w.look(ctx); err != nil {
		w.end()
		return nil, fmt.Errorf("cluster: watch: %w", err)
	}
	w.done.Go(w.run)
	return w, nil
}

// run takes samples, and a last one when it is over.
func (w *Watch) run() {
	tick := time.NewTicker(w.cfg.Every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			w.sample()
		case <-w.over:
			w.sample()
			return
		}
	}
}

// sample takes one.
func (w *Watch) sample() {
	_ = w.look(w.ctx) // what is not there is missing in the sample
	w.looking.Lock()
	s := w.tell()
	w.looking.Unlock()
	w.mu.Lock()
	w.samples = append(w.samples, s)
	w.mu.Unlock()
	if w.cfg.Sample != nil {
		w.cfg.Sample(s)
	}
}

// Stop takes a last sample, ends the watch and returns all samples and layouts. Calls after
// the first return the same. It must not be called by [WatchConfig.Sample].
func (w *Watch) Stop() ([]result.Sample, []result.Layout) {
	w.stop.Do(func() {
		close(w.over)
		w.done.Wait()
		w.end()
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.samples, w.layouts
}

// end lets go of everything.
func (w *Watch) end() {
	w.cancel()
	if w.procs != nil {
		w.procs.stop()
	}
	w.looking.Lock()
	defer w.looking.Unlock()
	for _, n := range w.nodes {
		n.hangUp()
	}
}

// Moved is what has moved since the watch began. It asks the nodes that are up; what those
// that died had moved is in it as of the last look before.
func (w *Watch) Moved(ctx context.Context) (Moved, error) {
	err := w.look(ctx)
	w.looking.Lock()
	defer w.looking.Unlock()
	return w.sum.moved, err
}

// Holdings are what the nodes have that are up, of ranges that are in sync, as they are now. A
// node that is up and does not answer, even when asked again, counts by what it told last: a
// node without its share would make the rest seem to be all there is.
func (w *Watch) Holdings(ctx context.Context) (Holdings, error) {
	err := w.look(ctx)
	for range asksAgain {
		if err == nil && !w.missedLook() {
			break
		}
		err = w.look(ctx)
	}
	w.looking.Lock()
	defer w.looking.Unlock()
	h := Holdings{Nodes: make(map[string]Holding)}
	for _, n := range w.nodes {
		if n.there && n.figures != nil {
			h.Nodes[n.ID] = n.figures.all()
			h.Total.Keys += n.figures.own().Keys
			h.Total.Bytes += n.figures.own().Bytes
		}
	}
	return h, err
}

// asksAgain is how often Holdings asks again while a node does not answer.
const asksAgain = 2

// missedLook reports whether a node that is up did not answer at the last look.
func (w *Watch) missedLook() bool {
	w.looking.Lock()
	defer w.looking.Unlock()
	for _, n := range w.nodes {
		if n.there && n.fault != nil {
			return true
		}
	}
	return false
}

// Balance is how even keys and bytes lay over the nodes at the last sample of a time, in
// milliseconds since the run began, and the requests of all that time; nil if there was no
// sample in it.
func (w *Watch) Balance(fromMS, untilMS float64) *result.Balance {
	w.mu.Lock()
	defer w.mu.Unlock()
	samples := w.samples
	from := sort.Search(len(samples), func(i int) bool { return samples[i].AtMS >= fromMS })
	until := sort.Search(len(samples), func(i int) bool { return samples[i].AtMS >= untilMS })
	return balance(samples[from:max(from, until)])
}
