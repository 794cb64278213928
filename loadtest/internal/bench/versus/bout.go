package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// A session is what all measurements of a run share.
type session struct {
	opt      options
	driver   driver
	dir      string
	ringside string // binary
	redis    string // binary; empty: not installed
	progress progress
	out      io.Writer
}

// A bout measures one pairing.
type bout struct {
	*session
	pairing
}

// run writes the rows of each workload as soon as it is measured. With an error it returns what was
// measured until then.
func (b *bout) run(ctx context.Context) (result pairingResult, err error) {
	result.Title = b.Title
	if b.Mode == forwardMode {
		result.Backends = b.opt.backends
	}
	fmt.Fprintf(b.out, "\n%s\n", b.Title)
	dir, err := os.MkdirTemp(b.dir, "data-")
	if err != nil {
		return result, err
	}
	// The data of the pairings together could fill a disk.
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var sides []*side
	defer func() {
		b.progress.show("stopping")
		for _, one := range sides {
			one.stop()
		}
		b.progress.clear()
	}()
	for _, c := range b.contenders() {
		one := newSide(ctx, c.name)
		sides = append(sides, one)
		err := b.start(c, one, filepath.Join(dir, c.name))
		b.progress.clear()
		if errors.Is(err, errLeftOut) {
			fmt.Fprintf(b.out, "%s is left out: %v\n", c.name, err)
			sides = sides[:len(sides)-1]
		} else if err != nil {
			return result, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	t := tableOf(b.Mode)
	t.row(b.out, t.head...)
	for _, w := range b.Workloads {
		r, err := b.measure(w, sides)
		b.progress.clear()
		if err != nil {
			return result, fmt.Errorf("%s: %w", w.name, err)
		}
		result.Workloads = append(result.Workloads, r)
		t.printRows(b.out, &r)
	}
	if b.Mode != forwardMode && b.Mode != coresMode {
		result.Memory = memoryOf(sides, b.Uncached)
	}
	if result.Memory != nil {
		result.Memory.print(b.out)
	}
	// One may have died while another was measured.
	for _, one := range sides {
		err = errors.Join(err, context.Cause(one.alive))
	}
	return result, err
}

// start starts and fills a side.
func (b *bout) start(c contender, one *side, dir string) error {
	b.progress.show("%s: starting %s", b.Title, c.name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if err := c.start(one, dir); err != nil || !b.Fill {
		return err
	}
	b.progress.show("%s: filling %s with %d keys", b.Title, c.name, b.opt.keys)
	limited, cancel := one.within(timeLimit(2 * b.opt.keys))
	defer cancel()
	if err := fill(limited, one.front().addr, b.opt.keys, b.ValueSize); err != nil {
		return err
	}
	one.settle(b.opt.settleLimit())
	return nil
}

// measure lets the sides take turns, in each round another one first.
func (b *bout) measure(w workload, sides []*side) (r workloadResult, err error) {
	results := make([]sideResult, len(sides))
	for round := range b.opt.rounds {
		for turn := range sides {
			i := (turn + round) % len(sides)
			b.progress.show("%s: %s, round %d of %d", w.name, sides[i].name, round+1, b.opt.rounds)
			s, err := b.sample(w, sides[i])
			if err != nil {
				return r, fmt.Errorf("%s: %w", sides[i].name, err)
			}
			results[i].Name, results[i].Samples = sides[i].name, append(results[i].Samples, s)
		}
	}
	return newResult(w, results), nil
}

// sample measures one side once. The processor time includes what is left for the background.
func (b *bout) sample(w workload, one *side) (s sample, err error) {
	l := load{workload: w, addr: one.front().addr, clients: b.opt.clients, keys: b.opt.keys}
	limited, cancel := one.within(2 * timeLimit(w.requests))
	defer cancel()
	if w.do.Key != "" {
		if err := l.prepare(limited); err != nil {
			return s, err
		}
		one.settle(b.opt.settleLimit())
	}
	before, known := one.cpu()
	if s.figures, err = b.driver.driveAll(limited, l); err != nil {
		return s, err
	}
	one.settle(b.opt.settleLimit())
	if err := context.Cause(one.alive); err != nil {
		return s, err
	}
	after, knownAfter := one.cpu()
	if !known || !knownAfter {
		return s, nil
	}
	var front, all float64 // seconds for a million commands
	for i := range after {
		front = (after[i] - before[i]).Seconds() * 1e6 / float64(w.requests)
		all += front
	}
	if b.Mode == forwardMode {
		s.FrontCPU, s.AllCPU = &front, &all
	} else {
		s.CPU = &all
	}
	return s, nil
}

// driveAll applies a load and fails if not all commands did their work.
func (d driver) driveAll(ctx context.Context, l load) (figures, error) {
	a := new(audience)
	defer a.dismiss()
	if err := a.gather(ctx, &l); err != nil {
		return figures{}, err
	}
	f, err := d.drive(ctx, l)
	if err != nil {
		return f, err
	}
	return f, errors.Join(a.await(), l.check(ctx))
}

// timeLimit is when a measurement is given up: at two thousand commands a second, a slow disk's pace
// when each pipeline waits for it, and a minute.
func timeLimit(requests int) time.Duration {
	return time.Minute + time.Duration(requests)*500*time.Microsecond
}
