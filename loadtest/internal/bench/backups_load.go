package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

// What one measurement finds.
type measured struct {
	rate     float64 // requests a second
	requests int
	p50      time.Duration
	spent    [3]time.Duration // processor time of each node, and of the clients, for a request
}

// spend notes what each has spent between two moments.
func (m *measured) spend(before, after [3]time.Duration) {
	for i := range m.spent {
		m.spent[i] = ((after[i] - before[i]) / time.Duration(m.requests)).Round(10 * time.Nanosecond)
	}
}

// measureLoad has clients write keys for a while; without keys they PING.
func measureLoad(ctx context.Context, o *backupsOptions, addr string, keys []string, clients, pipeline int) (measured, error) {
	return measureLoadBeside(ctx, o, addr, keys, clients, pipeline, nil)
}

// measureLoadBeside is load with a floor that goes along, or nil.
func measureLoadBeside(ctx context.Context, o *backupsOptions, addr string, keys []string, clients, pipeline int, beside *floor) (measured, error) {
	ctx, cancel := context.WithTimeout(ctx, o.duration)
	defer cancel()
	var all sync.WaitGroup
	var mu sync.Mutex
	var took []time.Duration
	var failed error
	requests := 0
	began := time.Now()
	for seed := range clients {
		all.Go(func() {
			c := &setClient{keys: keys, pipeline: pipeline, beside: beside, value: make([]byte, o.size), rnd: rand.New(rand.NewPCG(uint64(seed), 1))}
			err := c.run(ctx, addr)
			mu.Lock()
			defer mu.Unlock()
			failed = errors.Join(failed, err)
			took = append(took, c.took...)
			requests += len(c.took) * pipeline
		})
	}
	all.Wait()
	d := time.Since(began)
	if failed == nil && len(took) == 0 {
		failed = errors.New("nothing was answered in time")
	}
	if failed != nil {
		return measured{}, failed
	}
	slices.Sort(took)
	return measured{rate: float64(requests) / d.Seconds(), requests: requests, p50: took[len(took)/2].Round(time.Microsecond)}, nil
}

// A setClient writes without a pause.
type setClient struct {
	keys     []string
	pipeline int
	value    []byte
	rnd      *rand.Rand
	took     []time.Duration // by round trips
	beside   *floor          // or nil
}

func (c *setClient) run(ctx context.Context, addr string) error {
	conn, err := cluster.Dial(addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	for i := range c.value {
		c.value[i] = byte('a' + c.rnd.IntN(26))
	}
	for ctx.Err() == nil {
		for range c.pipeline {
			if len(c.keys) == 0 {
				conn.Add([]byte("PING"))
				continue
			}
			key := c.keys[c.rnd.IntN(len(c.keys))]
			c.value[c.rnd.IntN(len(c.value))] = byte('a' + c.rnd.IntN(26))
			conn.Add([]byte("SET"), []byte(key), c.value)
		}
		began := time.Now()
		if err := conn.Flush(); err != nil {
			return err
		}
		for range c.pipeline {
			if _, err := conn.Reply(); err != nil {
				return err
			}
		}
		c.took = append(c.took, time.Since(began))
		if c.beside != nil {
			if err := c.beside.add(c.pipeline); err != nil {
				return err
			}
		}
	}
	return nil
}
