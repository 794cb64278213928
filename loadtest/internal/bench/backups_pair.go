package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

// A pair is two nodes with the same share each.
type pair struct{ first, second *cluster.Process }

func startPair(ctx context.Context, o *backupsOptions) (p pair, err error) {
	crew, err := o.StartAll(ctx, 2)
	if len(crew) > 0 {
		p.first = crew[0]
	}
	if err != nil {
		return p, err
	}
	p.second = crew[1]
	return p, p.second.Until(ctx, "has its share", func(info map[string]int64) bool { return info["primaries"] == 128 })
}

func (p pair) both() []*cluster.Process { return []*cluster.Process{p.first, p.second} }

func (p pair) stop() (err error) {
	for _, n := range []*cluster.Process{p.second, p.first} {
		if n != nil {
			err = errors.Join(err, n.Stop())
		}
	}
	return err
}

// backups changes how many copies there are, and waits until it is so.
func (p pair) backups(ctx context.Context, copies int) error {
	c, err := cluster.Dial(p.first.Addr)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.Do("RING", "BACKUPS", strconv.Itoa(copies)); err != nil {
		return err
	}
	for _, n := range p.both() {
		err := n.Until(ctx, "has its backups", func(info map[string]int64) bool {
			return info["primaries"] == 128 && info["backups"] == int64(128*copies)
		})
		if err != nil {
			return err
		}
	}
	time.Sleep(time.Second) // for what that has left to do
	return nil
}

// keys finds keys that a node serves.
func (p pair) keys(of *cluster.Process, n int) (keys []string, err error) {
	c, err := cluster.Dial(p.first.Addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	const some = 1000
	for i := 0; len(keys) < n; i += some {
		var ask []string
		for j := range some {
			ask = append(ask, fmt.Sprintf("key:%08d", i+j))
		}
		places, err := c.Locate(ask)
		if err != nil {
			return nil, err
		}
		for j, place := range places {
			if place.Primary == of.ID {
				keys = append(keys, ask[j])
			}
		}
	}
	return keys[:n], nil
}

// measure has the clients of the many write, and finds what that takes of both nodes.
func (p pair) measure(ctx context.Context, o *backupsOptions, keys []string, copies int) (m measured, err error) {
	used := func() [3]time.Duration {
		return [3]time.Duration{p.first.CPU(), p.second.CPU(), cluster.ProcessCPU(os.Getpid())}
	}
	before := used()
	profiled := p.profile(o, copies)
	m, err = measureLoad(ctx, o, p.first.Addr, keys, o.clients, o.pipeline)
	if err = errors.Join(err, <-profiled); err != nil {
		return m, err
	}
	m.spend(before, used())
	return m, nil
}

// profile has both nodes write what they spend their time on, if that is wanted: a file for
// each node and number of copies, of the newest turn.
func (p pair) profile(o *backupsOptions, copies int) <-chan error {
	done := make(chan error, 1)
	if o.Profile == "" {
		done <- nil
		return done
	}
	go func() {
		results := make(chan error, 2)
		for _, n := range p.both() {
			name := filepath.Join(o.Profile, fmt.Sprintf("%s-%d.pprof", n.ID, copies))
			go func() { results <- n.Profile(name, max(1, int(o.duration.Seconds())-1)) }()
		}
		done <- errors.Join(<-results, <-results)
	}()
	return done
}
