package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

// A duel measures one pairing.
type duel struct {
	pairing
	opt      options
	driver   driver
	dir      string
	ringside string // binary
	redis    string // binary; empty: Ringside is alone
	progress *progress
	rows     io.Writer
}

// run writes a row for each workload as soon as it is measured. With an error it
// returns what was measured until then.
func (d *duel) run(ctx context.Context) (result pairingResult, err error) {
	result.Title = d.title
	dir, err := os.MkdirTemp(d.dir, "data-")
	if err != nil {
		return result, err
	}
	// The data of the pairings together could fill a disk.
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	servers, err := d.start(ctx, dir)
	defer func() {
		d.progress.show("stopping")
		for _, s := range servers {
			s.stop()
		}
	}()
	if err != nil {
		return result, err
	}
	if d.fill {
		for _, s := range servers {
			d.progress.show("%s: filling %s with %d keys", d.title, s.name, d.opt.keys)
			ctx, cancel := s.guard(ctx, timeLimit(2*d.opt.keys))
			err := fill(ctx, s.addr, d.opt.keys, d.valueSize)
			cancel()
			if err != nil {
				return result, fmt.Errorf("%s: %w", s.name, err)
			}
			settle(ctx, s, d.settleLimit())
		}
	}
	for _, w := range d.workloads {
		r, err := d.measure(ctx, w, servers)
		if err != nil {
			return result, fmt.Errorf("%s: %w", w.name, err)
		}
		result.Workloads = append(result.Workloads, r)
		d.progress.clear()
		printRow(d.rows, r)
	}
	result.Memory = memoryOf(servers, d.cache)
	// One may have died while the other was measured.
	for _, s := range servers {
		if err := s.died(); err != nil {
			return result, err
		}
	}
	return result, nil
}

// start returns those that run also with an error.
func (d *duel) start(ctx context.Context, dir string) ([]*server, error) {
	launches := []launch{ringsideLaunch(d.ringside, filepath.Join(dir, "ringside"), d.pairing.ringside)}
	if d.redis != "" {
		redisDir := filepath.Join(dir, "redis") // redis-server does not make it
		if err := os.Mkdir(redisDir, 0o700); err != nil {
			return nil, err
		}
		launches = append(launches, redisLaunch(d.redis, redisDir, d.pairing.redis))
	}
	var servers []*server
	for _, l := range launches {
		d.progress.show("%s: starting %s", d.title, l.name)
		s, err := startServer(ctx, l)
		if err != nil {
			return servers, err
		}
		servers = append(servers, s)
	}
	return servers, nil
}

// measure alternates between the servers, and who comes first.
func (d *duel) measure(ctx context.Context, w workload, servers []*server) (workloadResult, error) {
	r := newWorkloadResult(w)
	samples := make([][]sample, 2) // Ringside's, Redis'
	for round := range d.opt.rounds {
		for turn := range servers {
			side := (turn + round) % len(servers)
			d.progress.show("%s: %s, round %d of %d", w.name, servers[side].name, round+1, d.opt.rounds)
			s, err := d.sample(ctx, w, servers[side])
			if err != nil {
				return r, fmt.Errorf("%s: %w", servers[side].name, err)
			}
			samples[side] = append(samples[side], s)
		}
	}
	r.Ringside, r.Redis = samples[0], samples[1]
	r.summarize()
	return r, nil
}

func (d *duel) sample(ctx context.Context, w workload, s *server) (sample, error) {
	l := load{addr: s.addr, command: w.command, valueSize: d.valueSize,
		pipeline: w.pipeline, requests: w.requests, clients: d.opt.clients, keys: d.opt.keys}
	limited, cancel := s.guard(ctx, 2*timeLimit(w.requests))
	defer cancel()
	recipe := recipeFor(w.command)
	if recipe != nil && recipe.key != "" {
		if err := recipe.prepare(limited, l); err != nil {
			return sample{}, err
		}
		settle(ctx, s, d.settleLimit())
	}
	_, before, known := cluster.CPUTime(s.PID())
	f, err := d.drive(limited, recipe, l)
	if err != nil {
		return sample{}, err
	}
	settle(ctx, s, d.settleLimit())
	if err := s.died(); err != nil {
		return sample{}, err
	}
	result := sample{figures: f}
	if _, after, ok := cluster.CPUTime(s.PID()); ok && known {
		perMillion := (after - before).Seconds() * 1e6 / float64(w.requests)
		result.CPU = &perMillion
	}
	return result, nil
}

// drive fails if not all commands did what they were given for.
func (d *duel) drive(ctx context.Context, r *recipe, l load) (figures, error) {
	if r == nil {
		return d.driver.drive(ctx, l)
	}
	if r.audience == 0 {
		f, err := d.driver.drive(ctx, l)
		if err != nil {
			return f, err
		}
		return f, r.check(ctx, l.addr)
	}
	a, err := gather(ctx, l.addr, newsTopic, string(valuePool[:l.valueSize]), r.audience)
	defer a.dismiss()
	if err != nil {
		return figures{}, err
	}
	f, err := d.driver.drive(ctx, l)
	if err != nil {
		return f, err
	}
	return f, a.await(ctx, l.requests)
}

func (d *duel) settleLimit() time.Duration {
	if d.opt.quick {
		return 2 * time.Second
	}
	return settleMost
}

// timeLimit is when a measurement is given up: at two thousand commands a
// second, a slow disk's pace when each pipeline waits for it, and a minute.
func timeLimit(requests int) time.Duration {
	return time.Minute + time.Duration(requests)*500*time.Microsecond
}
