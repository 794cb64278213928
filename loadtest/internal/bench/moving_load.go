package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

// A moveLoad is clients that write without a pause.
type moveLoad struct {
	o      *movingOptions
	ending atomic.Bool
	done   sync.WaitGroup
	start  time.Time

	mu     sync.Mutex
	rounds []roundTrip
	failed error
}

// A roundTrip is a client's pipeline, from the sending to the last reply.
type roundTrip struct {
	began time.Time
	took  time.Duration
}

func startMoveLoad(addr string, o *movingOptions) *moveLoad {
	l := &moveLoad{o: o, start: time.Now()}
	for i := range o.clients {
		l.done.Go(func() {
			if err := l.client(addr, uint64(i)); err != nil {
				l.mu.Lock()
				l.failed = errors.Join(l.failed, err)
				l.mu.Unlock()
			}
		})
	}
	return l
}

func (l *moveLoad) client(addr string, seed uint64) error {
	c, err := cluster.Dial(addr)
	if err != nil {
		return err
	}
	defer c.Close()
	rnd := rand.New(rand.NewPCG(seed, 3))
	b := make([]byte, l.o.size)
	cluster.FillValue(rnd, b)
	var rounds []roundTrip
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.rounds = append(l.rounds, rounds...)
	}()
	for !l.ending.Load() {
		start := time.Now()
		for range l.o.pipeline {
			cluster.FillValue(rnd, b[:min(len(b), 16)])
			c.Add([]byte("SET"), cluster.FillKey(rnd.IntN(l.o.keys)), b)
		}
		if err := c.Flush(); err != nil {
			return err
		}
		for range l.o.pipeline {
			if _, err := c.Reply(); err != nil {
				return fmt.Errorf("SET: %w", err)
			}
		}
		rounds = append(rounds, roundTrip{start, time.Since(start)})
	}
	return nil
}

// stop ends the clients; it may be called again.
func (l *moveLoad) stop() {
	l.ending.Store(true)
	l.done.Wait()
}

// report stops the clients and prints what they noticed of a move. What they did in their
// first seconds does not count.
func (l *moveLoad) report(began, ended time.Time) error {
	l.stop()
	from := l.start.Add(l.o.warm / 4)
	before := l.print("before", from, began)
	during := l.print("during", began, ended)
	// By then a part of the requests goes on to another node, which has its own price.
	l.print("after ", ended, ended.Add(moveQuiet))
	fmt.Printf("  clients keep %.0f %% of their throughput; failed requests: %v\n", 100*during/before, l.failed)
	return l.failed
}

// print returns the requests in a second.
func (l *moveLoad) print(name string, from, to time.Time) float64 {
	var took []time.Duration
	for _, r := range l.rounds {
		if r.began.After(from) && r.began.Before(to) {
			took = append(took, r.took)
		}
	}
	if len(took) == 0 {
		fmt.Printf("  %s: nothing\n", name)
		return 0
	}
	slices.Sort(took)
	rate := float64(len(took)*l.o.pipeline) / to.Sub(from).Seconds()
	at := func(share float64) time.Duration {
		return took[min(len(took)-1, int(share*float64(len(took))))].Round(10 * time.Microsecond)
	}
	fmt.Printf("  %s: %8.0f SET/s, latency p50 %v, p99 %v, p99.9 %v, p99.99 %v, most %v\n",
		name, rate, at(0.5), at(0.99), at(0.999), at(0.9999), at(1))
	return rate
}
