package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

// A load is clients that SET without a pause, from start to stop.
type load struct {
	addr     string
	clients  int
	pipeline int                         // requests that a client sends at a time
	size     int                         // bytes of a value
	key      func(rnd *rand.Rand) []byte // nil: the clients PING
	sent     func(requests int) error    // called after each pipeline; may be nil

	began  time.Time
	ending atomic.Bool
	done   sync.WaitGroup
	mu     sync.Mutex
	spans  []span // of pipelines
	failed error
}

// A span is the time from sending something to its last reply, with all repetitions.
type span struct{ began, ended time.Time }

func (s span) took() time.Duration { return s.ended.Sub(s.began) }

func (l *load) start() {
	l.began = time.Now()
	for i := range l.clients {
		l.done.Go(func() {
			spans, err := l.client(rand.New(rand.NewPCG(uint64(i), 3)))
			l.mu.Lock()
			defer l.mu.Unlock()
			l.spans = append(l.spans, spans...)
			l.failed = errors.Join(l.failed, err)
		})
	}
}

func (l *load) client(rnd *rand.Rand) (spans []span, err error) {
	c, err := cluster.Dial(l.addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	value := cluster.FillValue(rnd, make([]byte, l.size))
	for !l.ending.Load() {
		s := span{began: time.Now()}
		for range l.pipeline {
			if l.key == nil {
				c.Add([]byte("PING"))
				continue
			}
			cluster.FillValue(rnd, value[:min(len(value), 16)])
			c.Add([]byte("SET"), l.key(rnd), value)
		}
		if err := c.Flush(); err != nil {
			return spans, err
		}
		for range l.pipeline {
			if _, err := c.Reply(); err != nil {
				return spans, fmt.Errorf("SET: %w", err)
			}
		}
		s.ended = time.Now()
		spans = append(spans, s)
		if l.sent != nil {
			if err := l.sent(l.pipeline); err != nil {
				return spans, err
			}
		}
	}
	return spans, nil
}

// stop ends the clients. It may be called again.
func (l *load) stop() error {
	l.ending.Store(true)
	l.done.Wait()
	return l.failed
}

// between returns the requests in a second and the latencies of the pipelines that were sent between
// two moments. The load must have stopped.
func (l *load) between(from, to time.Time) (rate float64, took latencies) {
	for _, s := range l.spans {
		if !s.began.Before(from) && s.began.Before(to) {
			took = append(took, s.took())
		}
	}
	slices.Sort(took)
	return float64(len(took)*l.pipeline) / to.Sub(from).Seconds(), took
}

// latencies are sorted.
type latencies []time.Duration

// quantile is 0 of no latencies.
func (l latencies) quantile(share float64) time.Duration {
	if len(l) == 0 {
		return 0
	}
	return l[min(len(l)-1, int(share*float64(len(l))))]
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// startProfiles has nodes write profiles to files that are named after them. The channel yields one result.
func startProfiles(o *cluster.ProcessOptions, crew []*cluster.Process, suffix string, seconds int) <-chan error {
	done := make(chan error, 1)
	go func() {
		var all sync.WaitGroup
		faults := make([]error, len(crew))
		for i, n := range crew {
			all.Go(func() { faults[i] = n.Profile(filepath.Join(o.Profile, n.ID+suffix+".pprof"), seconds) })
		}
		all.Wait()
		done <- errors.Join(faults...)
	}()
	return done
}
