package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

// A load is what a server is given to do in one measurement.
type load struct {
	workload
	addr    string
	clients int
	keys    int
	inOrder bool // take each number of the keyspace once, not at random; the own driver only
}

// figures are what a driver has seen.
type figures struct {
	OpsPerSec float64 `json:"ops_per_sec"`
	P50       float64 `json:"p50_ms"`
	P99       float64 `json:"p99_ms"`
}

// A driver applies loads. drive returns when all requests are answered, at the first error, or when
// the context ends.
type driver struct {
	name  string
	drive func(ctx context.Context, l load) (figures, error)
}

func chooseDriver(opt options) driver {
	if opt.load != loadOwn {
		if path, err := exec.LookPath(loadRedisBenchmark); err == nil {
			return driver{loadRedisBenchmark, redisBenchmark{path}.drive}
		}
	}
	return driver{"own driver", driveOwn}
}

// newHistogram counts microseconds up to a minute with three digits.
func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, int64(time.Minute/time.Microsecond), 3)
}

// record adds the time since start, n times.
func record(h *hdrhistogram.Histogram, start time.Time, n int) error {
	return h.RecordValues(min(max(time.Since(start).Microseconds(), 1), h.HighestTrackableValue()), int64(n))
}

// driveOwn is a closed loop: each client sends a pipeline and waits for all its replies before the
// next. It measures the latency from sending a pipeline to having read its last reply, and counts
// that for each of its commands.
func driveOwn(ctx context.Context, l load) (figures, error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	clients := make([]*loader, l.clients)
	for i := range clients {
		c, err := cluster.DialContext(ctx, l.addr)
		if err != nil {
			return figures{}, err
		}
		defer c.Close()
		clients[i] = &loader{&l, c, newBatch(&l.workload), rand.New(rand.NewPCG(uint64(i), rand.Uint64())), newHistogram()}
	}
	var sent atomic.Int64
	start := time.Now()
	var all sync.WaitGroup
	for _, c := range clients {
		all.Go(func() {
			if err := c.loop(&sent); err != nil {
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
	f := figuresOf(sum)
	f.OpsPerSec = float64(sum.TotalCount()) / took.Seconds()
	return f, nil
}

// figuresOf returns the latencies, and the throughput of one client that sends one request at a time.
func figuresOf(h *hdrhistogram.Histogram) figures {
	const perMs = 1000
	f := figures{P50: float64(h.ValueAtQuantile(50)) / perMs, P99: float64(h.ValueAtQuantile(99)) / perMs}
	if mean := h.Mean(); mean > 0 {
		f.OpsPerSec = 1e6 / mean
	}
	return f
}

type loader struct {
	load    *load
	conn    *cluster.Conn
	batch   *batch
	rng     *rand.Rand
	latency *hdrhistogram.Histogram
}

// errUnexpectedValue means that the server does not have what it was given.
var errUnexpectedValue = errors.New("GET: a value is missing or has another length")

// loop sends pipelines until the clients together have sent all requests.
func (c *loader) loop(sent *atomic.Int64) error {
	l := c.load
	for {
		from := int(sent.Add(int64(l.Pipeline))) - l.Pipeline
		if from >= l.requests {
			return nil
		}
		for i := range c.batch.numbers {
			n := (from + i) % l.keys
			if !l.inOrder {
				n = c.rng.IntN(l.keys)
			}
			c.batch.setNumber(i, n)
		}
		c.batch.setValues(c.rng)
		start := time.Now()
		if _, err := c.conn.Write(c.batch.wire); err != nil {
			return fmt.Errorf("%s: %w", l.Command, err)
		}
		for range l.Pipeline {
			reply, err := c.conn.Reply()
			if err != nil {
				return fmt.Errorf("%s: %w", l.Command, err)
			}
			if l.Command == "GET" && len(reply) != l.valueSize {
				return errUnexpectedValue
			}
		}
		if err := record(c.latency, start, l.Pipeline); err != nil {
			return err
		}
	}
}

// fill writes every key of the keyspace once and reads it again. That proves that all are there, and
// lets a cache take in what it holds.
func fill(ctx context.Context, addr string, keys, valueSize int) error {
	for _, command := range []string{"SET", "GET"} {
		w := workload{Command: command, do: rows.Commands[command], Pipeline: fillPipeline, requests: keys, valueSize: valueSize}
		if _, err := driveOwn(ctx, load{workload: w, addr: addr, clients: 4, keys: keys, inOrder: true}); err != nil {
			return fmt.Errorf("fill: %w", err)
		}
	}
	return nil
}
