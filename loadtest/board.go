package loadtest

import (
	"slices"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/loadtest/client"
	"github.com/ringside-kv/ringside/loadtest/report"
	"github.com/ringside-kv/ringside/loadtest/result"
)

// showEvery is how often it is told how it goes.
const showEvery = 250 * time.Millisecond

// A board is what is told while it goes on.
type board struct {
	show func([]report.State) // nil: to nobody
	mu   sync.Mutex
	all  []report.State
	at   int                // whose clients run, or fill
	live func() client.Live // what they do; nil: none run
	ends time.Time          // about when they will have run
	fill *filling           // nil: none fill

	stop    chan struct{}
	showing sync.WaitGroup
}

func newBoard(cfg *Config) *board {
	b := &board{show: cfg.Progress, stop: make(chan struct{})}
	for _, one := range cfg.Contestants {
		b.all = append(b.all, report.State{Contestant: one.Name})
	}
	if b.show != nil {
		b.showing.Go(b.keep)
	}
	return b
}

func (b *board) keep() {
	tick := time.NewTicker(showEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			b.tell()
		case <-b.stop:
			b.tell()
			return
		}
	}
}

func (b *board) tell() {
	b.mu.Lock()
	s := &b.all[b.at]
	switch {
	case b.live != nil:
		live := b.live()
		s.PerSecond, s.P99, s.Failed = live.PerSecond, live.P99, live.Failed
		s.Left = max(time.Until(b.ends), 0)
	case b.fill != nil:
		s.PerSecond, s.Left = b.fill.pace(time.Now())
	}
	all := slices.Clone(b.all)
	b.mu.Unlock()
	b.show(all)
}

// A filling is a load of keys while it goes on.
type filling struct {
	keys  int64
	began time.Time
	done  func() int64 // keys written so far
}

// pace is how many keys a second are written, and about how long the rest takes; 0: unknown.
func (f *filling) pace(now time.Time) (perSecond float64, left time.Duration) {
	done := f.done()
	if done <= 0 || !now.After(f.began) {
		return 0, 0
	}
	perSecond = float64(done) / now.Sub(f.began).Seconds()
	return perSecond, time.Duration(float64(f.keys-done) / perSecond * float64(time.Second))
}

// close tells for the last time.
func (b *board) close() {
	close(b.stop)
	b.showing.Wait()
}

// A line is a contestant's.
type line struct {
	b *board
	i int
}

// of begins a contestant's round.
func (b *board) of(i, round int) *line {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all[i] = report.State{Contestant: b.all[i].Contestant, Round: round}
	return &line{b, i}
}

func (l *line) change(f func(*report.State)) {
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	f(&l.b.all[l.i])
}

func (l *line) phase(name string) { l.change(func(s *report.State) { s.Phase = name }) }

// sample takes in what nodes tell.
func (l *line) sample(now result.Sample) {
	l.change(func(s *report.State) { s.Handoffs = now.Handoffs })
}

// runs tells that clients run, for so long at least.
func (l *line) runs(load *client.Load, takes time.Duration) {
	l.change(func(*report.State) { l.b.live, l.b.at, l.b.ends = load.Now, l.i, time.Now().Add(takes) })
}

// fills tells that so many keys are written.
func (l *line) fills(load *client.Load, keys int64) {
	before := load.Filled()
	fill := &filling{keys: keys, began: time.Now(), done: func() int64 { return load.Filled() - before }}
	l.change(func(*report.State) { l.b.at, l.b.fill = l.i, fill })
}

// rests tells that clients have ended what they were at.
func (l *line) rests() {
	l.change(func(s *report.State) {
		l.b.live, l.b.fill = nil, nil
		s.PerSecond, s.P99, s.Left = 0, 0, 0
	})
}

func (l *line) done(failure string) {
	l.change(func(s *report.State) { s.Done, s.Failure = true, failure })
}
