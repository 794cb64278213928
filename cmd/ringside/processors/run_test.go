package processors

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
)

// spin has so many goroutines run until the function is called that it returns.
func spin(n int) (end func()) {
	var stop atomic.Bool
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for !stop.Load() {
			}
		})
	}
	return func() { stop.Store(true); all.Wait() }
}

// threads has Go run so many threads at a time until the test ends.
func threads(t *testing.T, n int) {
	t.Cleanup(runtime.SetDefaultGOMAXPROCS)
	runtime.GOMAXPROCS(n)
}

func TestReadings(t *testing.T) {
	first, err := here{}.all()
	if err != nil {
		t.Skip(err)
	}
	threads(t, runtime.NumCPU()+2)
	defer spin(runtime.NumCPU() + 2)()
	for last := first; ; {
		time.Sleep(time.Millisecond)
		r, err := here{}.all()
		if err != nil {
			t.Fatal(err)
		}
		if r.at < last.at || r.ran < last.ran {
			t.Fatalf("%+v after %+v", r, last)
		}
		last = r
		w := between(first, r)
		if limit := float64(runtime.NumCPU()) + 0.5; r.at-first.at > time.Second && (w.ran > limit || w.idle > limit) {
			t.Fatalf("%+v on %d processors", w, runtime.NumCPU())
		}
		if r.ran-first.ran > 20*time.Millisecond && r.waited-first.waited > 20*time.Millisecond {
			return
		}
	}
}

// A play is a system of two processors that shows windows, one after the other.
type play struct {
	next    func(threads int) window
	now     atomic.Int64
	r       reading
	looked  atomic.Int64 // how often at everything
	failing atomic.Bool  // it does not know at the moment
}

func (p *play) soonest() (at, ran time.Duration) {
	w := p.next(p.threads())
	p.r.at += interval
	p.r.ran += time.Duration(w.ran * float64(interval))
	p.r.waited += time.Duration(w.waited * float64(interval))
	p.r.idle += time.Duration(w.idle * float64(interval))
	return p.r.at, p.r.ran
}

func (p *play) all() (reading, error) {
	p.looked.Add(1)
	if p.threads() < 2 { // nobody has asked for what is known soonest
		p.soonest()
	}
	if p.failing.Load() {
		return reading{}, errors.New("not now")
	}
	return p.r, nil
}

func (p *play) threads() int { return int(p.now.Load()) }
func (p *play) limit(n int)  { p.now.Store(int64(n)) }
func (p *play) lift()        { p.now.Store(2) }

func TestRun(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		var busy atomic.Bool
		sys := &play{next: func(threads int) window {
			switch {
			case !busy.Load():
				return still
			case threads == 1:
				return sadd1
			}
			return sadd2
		}}
		sys.lift()
		pass := func(windows, want int) {
			t.Helper()
			time.Sleep(time.Duration(windows) * interval)
			synctest.Wait()
			if sys.threads() != want {
				t.Errorf("%d threads at a time, want %d", sys.threads(), want)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { run(ctx, slog.New(slog.DiscardHandler), sys); close(ended) }()
		time.Sleep(interval / 2)
		pass(10, 2)
		if n := sys.looked.Load(); n != 1 {
			t.Errorf("the threads of a process at rest were looked at %d times", n)
		}
		busy.Store(true)
		pass(2, 2) // the first window shows that it is busy, the second one what it waits for
		pass(1, 1)
		pass(100, 1)
		sys.failing.Store(true)
		pass(10, 1)
		sys.failing.Store(false)
		busy.Store(false)
		pass(2, 2)
		busy.Store(true)
		pass(3, 1)
		cancel()
		<-ended
		if n := sys.threads(); n != 2 {
			t.Errorf("%d threads at a time are left", n)
		}
	})
}

func TestRuntimeIsLimited(t *testing.T) {
	threads(t, 3)
	here{}.limit(2)
	if n := runtime.GOMAXPROCS(0); n != 2 || (here{}).threads() != n {
		t.Errorf("%d threads at a time, want 2", n)
	}
	here{}.lift()
	if n := (here{}).threads(); n != runtime.NumCPU() {
		t.Errorf("%d threads at a time on %d processors", n, runtime.NumCPU())
	}
}
