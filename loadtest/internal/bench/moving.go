package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

type movingOptions struct {
	nodes
	keys     int
	size     int
	count    int // of nodes
	fillers  int
	clients  int
	pipeline int
	warm     time.Duration
	missed   float64
}

func movingFlags(f *flag.FlagSet) func(context.Context) error {
	o := movingOptions{nodes: buckets()}
	o.Flags(f)
	o.ProfileFlag(f, "over the first 3 s of the last move")
	f.IntVar(&o.keys, "keys", 2_000_000, "keys that the first node holds")
	f.IntVar(&o.size, "size", 1024, "bytes of a value")
	f.IntVar(&o.count, "nodes", 2, "nodes in the end; they join one after the other")
	f.IntVar(&o.fillers, "fillers", 8, "connections that write the keys at first")
	f.IntVar(&o.clients, "clients", 0, "clients that write while the last node joins, or comes back")
	f.IntVar(&o.pipeline, "pipeline", 1, "requests that a client sends at a time")
	f.DurationVar(&o.warm, "warm", 8*time.Second, "how long clients write before that")
	f.Float64Var(&o.missed, "missed", 0, "percentage of the keys that change while the last node is away, which then comes back; needs backups")
	return func(ctx context.Context) error {
		if o.missed < 0 || o.missed > 100 {
			return fmt.Errorf("%g is not a percentage", o.missed)
		}
		if o.count < 2 || o.keys < 1 || o.size < 1 || o.fillers < 1 || o.clients < 0 || o.pipeline < 1 {
			return errors.New("at least two nodes, a key, a byte and a request at a time are needed")
		}
		return o.run(ctx, "moving", 1, func() error { return o.measure(ctx) })
	}
}

func (o *movingOptions) measure(ctx context.Context) error {
	if err := o.fill(ctx); err != nil {
		return err
	}
	for i := 2; i <= o.count; i++ {
		var l *load
		if i == o.count && o.missed == 0 {
			var err error
			l, err = o.startLoad(ctx)
			defer l.stop()
			if err != nil {
				return err
			}
		}
		n, err := o.Start(ctx, fmt.Sprint("n", i), o.crew)
		if err != nil {
			return err
		}
		o.crew = append(o.crew, n)
		if err := o.watchMove(ctx, l); err != nil {
			return err
		}
	}
	if o.missed > 0 {
		return o.resync(ctx)
	}
	return nil
}

func (o *movingOptions) fill(ctx context.Context) error {
	began := time.Now()
	if err := cluster.FillKeys(ctx, []string{o.crew[0].Addr}, o.keys, o.size, o.fillers); err != nil {
		return err
	}
	fmt.Printf("%d keys with values of %d bytes were written in %v\n", o.keys, o.size, time.Since(began).Round(time.Millisecond))
	return cluster.Sleep(ctx, 3*time.Second) // for compactions
}

// startLoad starts the clients, if there are any, and lets them write for a while.
func (o *movingOptions) startLoad(ctx context.Context) (*load, error) {
	l := &load{nodes: o.crew[:1], clients: o.clients, pipeline: o.pipeline, size: o.size,
		key: func(_ int, rnd *rand.Rand) []byte { return cluster.FillKey(rnd.IntN(o.keys)) }}
	if o.clients == 0 {
		return l, nil
	}
	l.start()
	return l, cluster.Sleep(ctx, o.warm)
}

// report stops the clients, if there are any, and prints how a move affected them. Their first seconds do not count.
func (o *movingOptions) report(l *load, began, ended time.Time) error {
	if l == nil || l.clients == 0 {
		return nil
	}
	failed := l.stop()
	show := func(name string, from, to time.Time) float64 {
		rate, took := l.between(from, to)
		if len(took) == 0 {
			fmt.Printf("  %s: nothing\n", name)
			return 0
		}
		at := func(share float64) time.Duration { return took.quantile(share).Round(10 * time.Microsecond) }
		fmt.Printf("  %s: %8.0f SET/s, latency p50 %v, p99 %v, p99.9 %v, p99.99 %v, most %v\n",
			name, rate, at(0.5), at(0.99), at(0.999), at(0.9999), at(1))
		return rate
	}
	before := show("before", l.began.Add(o.warm/4), began)
	during := show("during", began, ended)
	// Some of the requests are forwarded to another node by then, which has its own price.
	show("after ", ended, ended.Add(moveQuiet))
	fmt.Printf("  clients keep %.0f %% of their throughput; failed requests: %v\n", 100*during/before, failed)
	return failed
}

// moveQuiet is how long nothing has moved when a move is over.
const moveQuiet = 3 * time.Second

// watchMove waits until the newest of the nodes has its share, and prints how fast it came.
func (o *movingOptions) watchMove(ctx context.Context, l *load) (err error) {
	crew := o.crew
	newest := crew[len(crew)-1]
	var began, changed time.Time
	spent := make([]time.Duration, len(crew))
	used := make([]time.Duration, len(crew))
	primaries, moved, all := "", int64(0), int64(0)
	for began.IsZero() || time.Since(changed) <= moveQuiet {
		now := time.Now()
		state, pending, own, total := "", int64(0), int64(0), int64(0)
		served := false // by the newest node
		for _, n := range crew {
			info, err := n.Info()
			if err != nil {
				return fmt.Errorf("%s: RING INFO: %w", n.ID, err)
			}
			state += fmt.Sprint(info["primaries"], " ")
			pending += info["pending"]
			own = info["own_bytes_estimate"]
			total += own
			served = info["primaries"] > 0
		}
		if began.IsZero() && (pending > 0 || served) {
			began = now
			for i, n := range crew {
				used[i] = n.CPU()
			}
			if len(crew) == o.count {
				profiled := o.startProfiles("", 3)
				defer func() { err = errors.Join(err, profiled()) }()
			}
		}
		if state != primaries || pending > 0 || !served {
			primaries, changed, moved, all = state, now, own, total
			for i, n := range crew {
				spent[i] = n.CPU() - used[i]
			}
		}
		if err := cluster.Sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	took := changed.Sub(began)
	fmt.Printf("%s: %s ranges, %.1f MB in %v: %.1f MB/s\n", newest.ID, primaries,
		float64(moved)/1e6, took.Round(time.Millisecond), float64(moved)/1e6/took.Seconds())
	least := float64(all) / float64(len(crew))
	fmt.Printf("  that is %+.2f %% of the least that gives every node its share\n", 100*(float64(moved)/least-1))
	fmt.Printf("  processor time of each node: %v\n", spent)
	return o.report(l, began, changed)
}
