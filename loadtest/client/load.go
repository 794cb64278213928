package client

import (
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/loadtest/check"
	"github.com/ringside-kv/ringside/loadtest/result"
)

// Label and LabelValue mark the goroutines of a load in profiles, those of the clients that
// they share too: what they take can be told from what servers in the same process do.
const (
	Label      = "ringside"
	LabelValue = "generator"
)

// A Load is the clients of one run. One goroutine fills, starts and stops it, once, in this
// order; [Load.Phase] and [Load.Now] may be called from any.
type Load struct {
	cfg    Config
	base   time.Time
	began  time.Duration // after base: when clients began
	series *result.Series
	kinds  []check.Kind // of the mix's commands
	shared shared

	ctx    context.Context // connections of clients end with it
	cancel context.CancelFunc
	asking context.Context // ends when clients begin nothing any more
	stop   context.CancelFunc
	alarm  *alarm
	strain strain
	cpu    time.Duration // when clients began

	patience  time.Duration // of sweeps
	links     []link
	fillers   []filler
	filled    atomic.Int64
	connected atomic.Int64
	broken    atomic.Int64
	why       atomic.Pointer[error] // the last connection broke
	// withoutNotices has the addresses of servers that close connections on which a client asks for notices.
	withoutNotices sync.Map

	started, stopped bool
	running          sync.WaitGroup // clients, and what watches the strain
}

// Open connects all clients. The error lists every fault of the Config, or what became of
// clients that could not connect. Close must be called.
func Open(ctx context.Context, cfg Config) (*Load, error) {
	cfg.EnsureDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	l := &Load{cfg: cfg, base: time.Now(), patience: max(sweepPatience, 2*cfg.Timeout)}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.asking, l.stop = context.WithCancel(l.ctx)
	var commands []string
	for i := range cfg.Workload.Mix.Commands {
		c := &l.cfg.Workload.Mix.Commands[i]
		commands = append(commands, c.String())
		l.kinds = append(l.kinds, check.KindOf(c))
	}
	var err error
	l.series, err = result.NewSeries(result.SeriesConfig{
		Window: cfg.Window, Commands: commands, Open: cfg.Workload.Rate.Open(), Name: l.keyName,
	}, "run")
	if err == nil {
		l.alarm, err = newAlarm(l.now)
	}
	if err != nil {
		l.cancel()
		return nil, err
	}
	l.labelled(ctx, func(ctx context.Context) { err = l.connect(ctx) })
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (l *Load) keyName(key int64) string { return string(l.cfg.Workload.AppendKey(nil, key)) }

// labelled runs f so that it, and what it starts, can be found in profiles.
func (l *Load) labelled(ctx context.Context, f func(context.Context)) {
	pprof.Do(ctx, pprof.Labels(Label, LabelValue), f)
}

// now is the time since the load was opened.
func (l *Load) now() time.Duration { return time.Since(l.base) }

// lost notes that a connection broke, or came to nothing.
func (l *Load) lost(err error) {
	l.broken.Add(1)
	l.why.Store(&err)
}

// connect has all clients connect, a few at a time.
func (l *Load) connect(ctx context.Context) error {
	if err := l.share(ctx); err != nil {
		return err
	}
	for i := range l.cfg.Workload.Clients {
		l.links = append(l.links, l.newLink(l.ctx, l.asking, i))
	}
	const atATime = 32
	var wg sync.WaitGroup
	faults := make([]error, atATime)
	for part := range min(atATime, len(l.links)) {
		wg.Go(func() {
			for i := part; i < len(l.links) && faults[part] == nil && ctx.Err() == nil; i += atATime {
				if d, ok := l.links[i].(*direct); ok {
					faults[part] = l.first(d)
				}
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	return distinct(faults)
}

// distinct joins the faults of clients that could not connect, each text once.
func distinct(faults []error) error {
	var all []error
	seen := make(map[string]bool)
	for _, err := range faults {
		if err != nil && !seen[err.Error()] {
			seen[err.Error()] = true
			all = append(all, fmt.Errorf("connect: %w", err))
		}
	}
	return errors.Join(all...)
}

// first connects a client to its target, or to another.
func (l *Load) first(d *direct) error {
	var faults []error
	for tries := 1; tries == 1 || tries <= len(d.targets); tries++ {
		err := d.connect()
		if err == nil {
			return nil
		}
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

func (l *Load) newLink(life, until context.Context, number int) link {
	if l.shared.newBatch != nil {
		return &sharedLink{l: l, life: life, until: until, batch: l.shared.newBatch()}
	}
	return &direct{l: l, life: life, until: until, number: number}
}

// Start lets the clients begin.
func (l *Load) Start() {
	if l.started {
		return
	}
	l.started = true
	l.began, l.cpu = l.now(), processTime()
	l.labelled(l.ctx, func(context.Context) {
		for i, k := range l.links {
			w := l.newWorker(k)
			w.rec = l.series.Recorder(i)
			if l.cfg.Check != nil {
				w.chk = l.cfg.Check.Client(i)
			}
			l.running.Go(func() { w.run(i) })
		}
		l.running.Go(func() { l.strain.watch(l.asking.Done()) })
	})
}

// run is what client i does until the load is stopped.
func (w *worker) run(i int) {
	l := w.l
	c := l.cfg.Workload.Client(i)
	d, direct := w.link.(*direct)
	switch {
	case !l.cfg.Workload.Rate.Open():
		w.closed(c)
	case direct:
		w.openDirect(d, c)
	default:
		w.open(c)
	}
}

// Phase has what ends from now on count as another phase. The first begins with Start, and
// gets the name that it was given before.
func (l *Load) Phase(name string) {
	at := time.Duration(0)
	if l.started {
		at = l.now() - l.began
	}
	l.series.Phase(name, at)
}

// Now is how it goes.
func (l *Load) Now() Live {
	return Live{Live: l.series.Live(l.now() - l.began), Connected: int(l.connected.Load())}
}

// Stop lets clients end what they are at, and returns what they saw. If ctx ends before,
// they are cut off, and what was on its way has failed; the error says so.
func (l *Load) Stop(ctx context.Context) (Result, error) {
	if !l.started || l.stopped {
		return Result{}, errors.New("client: stopped without having been started, or twice")
	}
	l.stopped = true
	r := Result{Series: l.series}
	l.stop()
	l.alarm.end()
	isInTime := context.AfterFunc(ctx, l.cancel)
	l.running.Wait()
	var err error
	if !isInTime() {
		err = fmt.Errorf("client: clients were cut off: %w", context.Cause(ctx))
	}
	r.Took = l.now() - l.began
	l.series.End(r.Took)
	r.Saturated = l.strain.share()
	r.Cores = float64(processTime()-l.cpu) / float64(r.Took)
	r.Broken = l.broken.Load()
	if why := l.why.Load(); why != nil {
		r.Why = *why
	}
	return r, err
}

// Close ends all connections.
func (l *Load) Close() error {
	if l.started && !l.stopped {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		_, _ = l.Stop(ended)
	}
	for _, k := range l.links {
		k.close()
	}
	l.links = nil
	l.cancel()
	if l.shared.close != nil {
		l.shared.close()
	}
	l.alarm.close()
	return nil
}

// sleep returns false if it was ended.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
