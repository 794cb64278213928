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

// A load is clients that SET, from start to stop.
type load struct {
	nodes    []*cluster.Process // which the clients take in turn
	clients  int
	pipeline int                                     // requests that a client sends at a time
	size     int                                     // bytes of a value
	key      func(client int, rnd *rand.Rand) []byte // nil: the clients PING
	sent     func(requests int) error                // called after each pipeline; may be nil
	rest     time.Duration                           // between pipelines
	insist   bool                                    // repeat a pipeline until it succeeds; otherwise a failure ends the client

	began  time.Time
	ending atomic.Bool
	done   sync.WaitGroup
	// Of each client, to be read once the load has stopped.
	spans  [][]span
	failed []error // the last failure
}

// A span is the time from the first sending of a pipeline to its last reply.
type span struct{ began, ended time.Time }

// again is how long a client waits before it repeats what has failed.
const again = 2 * time.Millisecond

func (l *load) start() {
	l.began = time.Now()
	l.spans, l.failed = make([][]span, l.clients), make([]error, l.clients)
	for i := range l.clients {
		l.done.Go(func() { l.client(i) })
	}
}

func (l *load) client(i int) {
	var c *cluster.Conn
	rnd := rand.New(rand.NewPCG(uint64(i), 3))
	value := cluster.FillValue(rnd, make([]byte, l.size))
	for !l.ending.Load() {
		s := span{began: time.Now()}
		for {
			var err error
			if c == nil {
				c, err = cluster.Dial(l.nodes[i%len(l.nodes)].Addr)
			}
			if err == nil {
				err = l.exchange(c, i, rnd, value)
			}
			if err == nil {
				break
			}
			l.failed[i] = err
			if c != nil {
				c.Close()
				c = nil
			}
			if !l.insist {
				return
			}
			if l.ending.Load() {
				break // counts as unavailable until now
			}
			time.Sleep(again)
		}
		s.ended = time.Now()
		l.spans[i] = append(l.spans[i], s)
		time.Sleep(l.rest)
	}
	if c != nil {
		c.Close()
	}
}

// exchange sends one pipeline and reads the replies.
func (l *load) exchange(c *cluster.Conn, client int, rnd *rand.Rand, value []byte) error {
	for range l.pipeline {
		if l.key == nil {
			c.Add([]byte("PING"))
			continue
		}
		cluster.FillValue(rnd, value[:min(len(value), 16)])
		c.Add([]byte("SET"), l.key(client, rnd), value)
	}
	if err := c.Exchange(l.pipeline); err != nil {
		return err
	}
	if l.sent != nil {
		return l.sent(l.pipeline)
	}
	return nil
}

// stop ends the clients. It may be called again.
func (l *load) stop() error {
	l.ending.Store(true)
	l.done.Wait()
	return errors.Join(l.failed...)
}

// between returns the requests in a second and the sorted latencies of the pipelines that were sent between
// two moments. The load must have stopped.
func (l *load) between(from, to time.Time) (rate float64, took latencies) {
	for _, s := range slices.Concat(l.spans...) {
		if !s.began.Before(from) && s.began.Before(to) {
			took = append(took, s.ended.Sub(s.began))
		}
	}
	slices.Sort(took)
	return float64(len(took)*l.pipeline) / to.Sub(from).Seconds(), took
}

// longest returns the longest of those spans of a client that hold.
func (l *load) longest(client int, holds func(span) bool) (longest time.Duration) {
	for _, s := range l.spans[client] {
		if holds(s) {
			longest = max(longest, s.ended.Sub(s.began))
		}
	}
	return longest
}

func (s span) overlaps(from, to time.Time) bool { return s.ended.After(from) && s.began.Before(to) }

// latencies are some times between a request and its reply.
type latencies []time.Duration

// String is the least, the median, the 99th percentile and the most, in milliseconds.
func (l latencies) String() string {
	if len(l) == 0 {
		return "nothing"
	}
	sorted := latencies(slices.Sorted(slices.Values(l)))
	at := func(share float64) string { return fmt.Sprintf("%.1f", sorted.quantile(share).Seconds()*1000) }
	return fmt.Sprintf("%9s %9s %9s %9s", at(0), at(0.5), at(0.99), at(1))
}

// quantile is that of sorted latencies; 0 of none.
func (l latencies) quantile(share float64) time.Duration {
	if len(l) == 0 {
		return 0
	}
	return l[min(len(l)-1, int(share*float64(len(l))))]
}
