package processors

import (
	"context"
	"log/slog"
	"time"
)

const (
	interval = 50 * time.Millisecond
	busy     = 0.3 // processors; a process that uses less has its threads not looked at
)

// A reading is what has been since some time ago. It only grows, but for waited: a thread that
// has ended counts no longer.
type reading struct {
	at, ran, waited, idle time.Duration
}

// A system is what the process runs on: it says what is known of the process and its
// processors, and on how many of them to run at a time.
type system interface {
	// soonest is what is known soonest: the time, and the processor time of the process.
	soonest() (at, ran time.Duration)
	all() (reading, error)
	// threads is on how many processors the process runs at a time.
	threads() int
	// limit has it run on n.
	limit(n int)
	// lift has it run on as many as there are.
	lift()
}

// Run sets GOMAXPROCS, which nothing else may set meanwhile, until the context ends; then it is
// what it would be without. Where the kernel does not say how long threads wait, it returns at
// once. It logs changes for debugging.
func Run(ctx context.Context, log *slog.Logger) { run(ctx, log, here{}) }

func run(ctx context.Context, log *slog.Logger, sys system) {
	most := sys.threads()
	last, err := sys.all()
	if most == 1 || err != nil {
		return
	}
	g := newGovernor(most)
	defer func() {
		if g.now < g.most {
			sys.lift()
		}
	}()
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	known := true // last is whole
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		if g.now == g.most {
			if at, ran := sys.soonest(); float64(ran-last.ran) < busy*float64(at-last.at) {
				last, known = reading{at: at, ran: ran}, false
				continue
			}
		}
		r, err := sys.all()
		if err != nil {
			continue
		}
		if known {
			before := g.now
			if n := g.see(between(last, r)); n != before {
				set(sys, g, n)
				log.Debug("changed the number of threads", "now", g.now, "before", before)
			}
		}
		last, known = r, true
	}
}

// set has the process run on as many processors as a governor says. All of them are as many as
// there are now.
func set(sys system, g *governor, n int) {
	if n < g.most {
		sys.limit(n)
		return
	}
	sys.lift()
	g.most = sys.threads()
	g.now = g.most
}

func between(a, b reading) window {
	span := max(float64(b.at-a.at), 1)
	return window{
		ran:    float64(b.ran-a.ran) / span,
		waited: max(0, float64(b.waited-a.waited)/span),
		idle:   float64(b.idle-a.idle) / span,
	}
}
