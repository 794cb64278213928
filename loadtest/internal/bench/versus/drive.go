package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// ownDriver is a closed loop: each client sends a pipeline and waits for all its
// replies before the next.
type ownDriver struct{}

func (ownDriver) name() string { return "own driver" }

// A histogram counts microseconds up to a minute with three digits.
func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, int64(time.Minute/time.Microsecond), 3)
}

// drive measures latency from sending a pipeline to having read the last reply
// of it, and counts it for each of its commands.
func (ownDriver) drive(ctx context.Context, l load) (figures, error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	clients := make([]*loader, l.clients)
	defer func() {
		for _, c := range clients {
			if c != nil {
				c.conn.Close()
			}
		}
	}()
	for i := range clients {
		c, err := newLoader(ctx, l, uint64(i))
		if err != nil {
			return figures{}, err
		}
		clients[i] = c
	}

	var left atomic.Int64
	left.Store(int64(l.requests))
	start := time.Now()
	var all sync.WaitGroup
	for _, c := range clients {
		all.Go(func() {
			if err := c.loop(ctx, l, &left); err != nil {
				fail(err)
			}
		})
	}
	all.Wait()
	took := time.Since(start)
	if ctx.Err() != nil {
		return figures{}, context.Cause(ctx)
	}

	sum := newHistogram()
	for _, c := range clients {
		sum.Merge(c.latency)
	}
	const perMs = 1000
	return figures{
		OpsPerSec: float64(sum.TotalCount()) / took.Seconds(),
		P50:       float64(sum.ValueAtQuantile(50)) / perMs,
		P99:       float64(sum.ValueAtQuantile(99)) / perMs,
	}, nil
}

type loader struct {
	conn    *conn
	batch   *batch
	rng     *rand.Rand
	latency *hdrhistogram.Histogram
}

func newLoader(ctx context.Context, l load, seed uint64) (*loader, error) {
	b, err := newBatch(l.command, l.pipeline, l.valueSize)
	if err != nil {
		return nil, err
	}
	c, err := dial(ctx, l.addr)
	if err != nil {
		return nil, err
	}
	return &loader{c, b, rand.New(rand.NewPCG(seed, uint64(time.Now().UnixNano()))), newHistogram()}, nil
}

// loop sends pipelines as long as requests are left. It closes the connection
// early when ctx ends.
func (c *loader) loop(ctx context.Context, l load, left *atomic.Int64) error {
	defer context.AfterFunc(ctx, func() { c.conn.Close() })()
	for left.Add(-int64(l.pipeline)) > -int64(l.pipeline) {
		for i := range c.batch.keys {
			c.batch.setKey(i, c.rng.IntN(l.keys))
		}
		c.batch.setValues(c.rng)
		sent := time.Now()
		if _, err := c.conn.Write(c.batch.wire); err != nil {
			return fmt.Errorf("%s: %w", l.command, err)
		}
		for range l.pipeline {
			reply, err := c.conn.reply()
			if err != nil {
				return fmt.Errorf("%s: %w", l.command, err)
			}
			if l.command == "GET" && len(reply.Text) != l.valueSize {
				return errUnexpectedValue
			}
		}
		micros := max(time.Since(sent).Microseconds(), 1)
		if err := c.latency.RecordValues(min(micros, c.latency.HighestTrackableValue()), int64(l.pipeline)); err != nil {
			return err
		}
	}
	return nil
}

// errUnexpectedValue means that the server does not have what it was given.
var errUnexpectedValue = errors.New("GET: a value is missing or has another length")
